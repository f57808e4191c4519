#!/usr/bin/env python3
"""Screenshots of a report's page at two widths: screenshots.py REPORT PREFIX [--sections=N]

REPORT is a page, or a report as JSON where CARVE names the tool. Writes PREFIX-360.png and
PREFIX-1280.png, from the top to the end of the Nth kernel's section (1; 0: the whole page).
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from browser import Browser, find_browser

END = """(() => {{
  const sections = document.querySelectorAll('section.kernel');
  const last = sections[Math.min({0}, sections.length) - 1];
  return last ? Math.ceil(last.getBoundingClientRect().bottom + scrollY) : null;
}})()"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("prefix")
    parser.add_argument("--sections", type=int, default=1)
    options = parser.parse_args()
    path = find_browser()
    if not path:
        sys.exit("screenshots.py: no browser, expected chromium-headless-shell or CARVE_BROWSER")
    with tempfile.TemporaryDirectory(prefix="carve-report-") as folder, Browser(path) as browser:
        page_file = options.report
        if page_file.suffix == ".json":
            page_file = pathlib.Path(folder) / "report.html"
            subprocess.run([os.environ.get("CARVE", "carve"), "report", f"--report={options.report}",
                            "--format=html", "-o", page_file], check=True)
        for width in (360, 1280):
            with browser.open(page_file, width=width) as page:
                height = options.sections and page.evaluate(END.format(options.sections))
                height = height or page.evaluate("document.documentElement.scrollHeight")
                page.resize(width, height)  # What lies beyond the window is not always drawn.
                page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
                page.screenshot(f"{options.prefix}-{width}.png", height)


if __name__ == "__main__":
    main()
