#!/usr/bin/env python3
"""`carve report --format=html` in a real browser: report_page_test.py CARVE [unittest options].

Exits with 77 where there is no browser; with CARVE_REQUIRE_BROWSER=1 that is a failure. CARVE_AXE
names the script of axe-core (https://github.com/dequelabs/axe-core), for the rules of accessibility
beyond those that are checked here.
"""

import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import sample_reports
from browser import Browser, find_browser

CARVE = ""


def run_carve(*arguments, **options):
    return subprocess.run([CARVE, "report", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, **options)


class CommandTest(unittest.TestCase):
    """The command line, as far as it needs a terminal."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="carve-report-")
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "r.json"
        self.file.write_text(json.dumps(sample_reports.report()))

    def test_a_page_is_not_for_a_terminal(self):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        ended = subprocess.run([CARVE, "report", f"--report={self.file}", "--format=html"],
                               stdout=follower, stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(follower)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stderr, "carve: error: carve report: --format=html: standard output "
                         "is a terminal, expected -o FILE\n")


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="carve-report-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.pages = {}
        for name, make in sample_reports.ALL.items():
            report = pathlib.Path(cls.folder.name) / f"{name}.json"
            report.write_text(json.dumps(make()), encoding="utf-8")
            cls.pages[name] = report.with_suffix(".html")
            ended = run_carve(f"--report={report}", "--format=html", "-o", cls.pages[name])
            assert ended.returncode == 0 and not ended.stdout, ended.stderr
        cls.browser = cls.enterClassContext(Browser(find_browser()))

    def open(self, name="report", **options):
        return self.enterContext(self.browser.open(self.pages[name], **options))

    def test_xml_parsers_read_it(self):
        for name, path in self.pages.items():
            with self.subTest(name):
                xml.etree.ElementTree.parse(path)

    def test_asks_for_nothing_and_complains_of_nothing(self):
        for name in self.pages:
            with self.subTest(name):
                page = self.open(name)
                complaints, requests = page.complaints_and_requests()
                self.assertEqual(complaints, [])
                itself = self.pages[name].resolve().as_uri()
                self.assertEqual([r for r in requests if r != itself and r != "data:,"], [])

    def test_bars_have_one_scale(self):
        for width in (360, 1280):
            page = self.open(width=width)
            bars = page.evaluate("[...document.querySelectorAll('.bars svg')].map(s => "
                                 "[s.clientWidth, s.querySelector('rect').getBoundingClientRect().width])")
            (place, before), (other_place, after) = bars
            self.assertEqual(place, other_place)
            self.assertAlmostEqual(after / before, 0.9, delta=0.01)

    def test_the_policy_forbids_requests(self):
        page = self.open()
        outcome = page.evaluate("fetch('http://localhost:9/x').then(() => 'sent', e => 'refused')")
        self.assertEqual(outcome, "refused")
        complaints, requests = page.complaints_and_requests()
        self.assertTrue(any("Content Security Policy" in c for c in complaints), complaints)
        self.assertFalse(any("localhost" in r for r in requests), requests)

    def column(self, page, index, table="kernels"):
        return page.evaluate(f"[...document.querySelectorAll('#{table} tbody tr')]"
                             f".map(r => Number(r.cells[{index}].dataset.v))")

    def test_sorts_by_click(self):
        page = self.open()
        self.assertEqual(page.evaluate("document.querySelectorAll('#kernels th[aria-sort=none]').length"), 8)
        speedup = "#kernels thead th:nth-child(3)"
        page.click(speedup + " button")
        self.assertEqual(page.evaluate(f"document.querySelector('{speedup}').ariaSort"), "descending")
        self.assertEqual(self.column(page, 2), sorted(self.column(page, 2), reverse=True))
        page.click(speedup + " button")
        self.assertEqual(page.evaluate(f"document.querySelector('{speedup}').ariaSort"), "ascending")
        self.assertEqual(self.column(page, 2), sorted(self.column(page, 2)))
        page.click("#kernels thead th:nth-child(1) button")
        names = page.evaluate("[...document.querySelectorAll('#kernels tbody .base')].map(e => e.textContent)")
        self.assertEqual(names, sorted(names, key=str.lower))
        self.assertEqual(page.evaluate(f"document.querySelector('{speedup}').ariaSort"), "none")

    def test_sorts_by_keyboard(self):
        page = self.open()
        page.evaluate("document.querySelector('#kernels').closest('.scroller').focus()")
        for _ in range(5):  # The table itself is a stop, then a button for each column.
            page.press("Tab")
        self.assertEqual(page.evaluate("document.activeElement.textContent"), "Registers")
        for key, order in (("Enter", "descending"), (" ", "ascending")):
            page.press(key)
            self.assertEqual(page.evaluate("document.activeElement.closest('th').ariaSort"), order)
            self.assertEqual(self.column(page, 4),
                             sorted(self.column(page, 4), reverse=order == "descending"))

    def test_variants_are_sorted_with_what_was_not_timed_last(self):
        page = self.open()
        page.evaluate("document.querySelector('#k0 details').open = true")
        for reverse in (False, True):
            page.click("#k0 .variants thead th:nth-child(2) button")
            times = page.evaluate("[...document.querySelectorAll('#k0 .variants tbody tr')]"
                                  ".map(r => r.cells[1].dataset.v)")
            self.assertEqual(times[-4:], ["unknown"] * 4)
            known = [float(t) for t in times[:-4]]
            self.assertEqual(known, sorted(known, reverse=reverse))
            self.assertEqual(len(known), 9)

    def test_filters(self):
        page = self.open()
        visible = ("[...document.querySelectorAll('#kernels tbody tr')].filter(r => r.offsetHeight)"
                   ".map(r => r.querySelector('.base').textContent)")
        self.assertEqual(len(page.evaluate(visible)), 7)
        page.click("#filter")
        page.type("ATTER")
        self.assertEqual(page.evaluate(visible), ["scatter"])
        self.assertEqual(page.evaluate("document.querySelector('.count').textContent"), "1 of 7 kernels")
        self.assertEqual(page.evaluate("[...document.querySelectorAll('section.kernel')]"
                                       ".filter(s => s.offsetHeight).map(s => s.id)"), ["k2"])
        page.evaluate("filter.value = ''; filter.dispatchEvent(new Event('input'))")
        page.click("#only-tuned")
        self.assertEqual(page.evaluate(visible), ["stencil", "scatter", "collide"])

    TIP = "document.querySelector('.tooltip')?.textContent"

    def test_marks_speak_by_pointer(self):
        page = self.open()
        self.assertIsNone(page.evaluate(self.TIP))
        page.move_to("#k0-time .carved .hit")
        self.assertIn("carved away: no better in any metric", page.evaluate(self.TIP))
        page.press("Escape")
        self.assertIsNone(page.evaluate(self.TIP))

    def test_marks_speak_by_keyboard(self):
        page = self.open()
        page.evaluate("document.querySelector('#k0-time .chosen').focus()")
        self.assertIn("r64-f56", page.evaluate(self.TIP))
        self.assertIn("chosen", page.evaluate(self.TIP))
        active = "document.activeElement.getAttribute('aria-label')"
        names = set()
        page.press("Home")
        for _ in range(30):
            names.add(page.evaluate(active).split(":")[0])
            self.assertIn(page.evaluate(active).split(":")[0], page.evaluate(self.TIP))
            before = page.evaluate(active)
            page.press("ArrowRight")
            if page.evaluate(active) == before:
                break
        rows = page.evaluate("[...document.querySelectorAll('#k0 .variants tbody th')].map(e => e.textContent)")
        self.assertEqual(names - {"critical point"}, set(rows))
        self.assertIn("critical point", names)
        # A picture is one stop of the tabulator key.
        self.assertEqual(page.evaluate("document.querySelectorAll('#k0-time [tabindex=\"0\"]').length"), 1)
        page.press("Escape")
        self.assertIsNone(page.evaluate(self.TIP))
        page.press("Tab")
        self.assertTrue(page.evaluate("!document.activeElement.closest('#k0-time')"))

    def test_tooltips_stay_in_the_window(self):
        for width in (360, 1280):
            page = self.open("hard-names", width=width)
            outside = page.evaluate(
                "[...document.querySelectorAll('#k0 .mark[tabindex]')].filter(m => { m.focus();"
                "const r = document.querySelector('.tooltip').getBoundingClientRect();"
                "return r.left < 0 || r.right > innerWidth; }).length")
            self.assertEqual(outside, 0)

    # Elements that stand out of the window, but for what scrolls within its own place.
    OVERFLOW = """(() => {
      const root = document.documentElement;
      const out = [...document.querySelectorAll('body *')].filter(e => {
        if (e.closest('.scroller > *, .skip, .definitions') || !e.getClientRects().length) return false;
        const r = e.getBoundingClientRect();
        return r.width > 1 && (r.left < -0.5 || r.right > root.clientWidth + 0.5);
      }).map(e => e.outerHTML.slice(0, 160));
      return [root.scrollWidth - root.clientWidth, out.slice(0, 5)];
    })()"""

    def test_nothing_is_wider_than_the_window(self):
        for name in set(self.pages) - {"many"}:
            page = self.open(name, width=320)
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            for width in (320, 360, 768, 1280):
                with self.subTest(name, width=width):
                    page.resize(width)
                    self.assertEqual(page.evaluate("innerWidth"), width)
                    self.assertEqual(page.evaluate(self.OVERFLOW), [0, []])

    def test_text_of_pictures_is_legible_on_a_telephone(self):
        page = self.open(width=360)
        least = page.evaluate("Math.min(...[...document.querySelectorAll('.plot text')]"
                              ".filter(t => t.getClientRects().length)"
                              ".map(t => t.getBoundingClientRect().height))")
        self.assertGreaterEqual(least, 11)
        # Numbers of an axis do not run into each other.
        crowded = page.evaluate("""[...document.querySelectorAll('.plot')].map(plot => {
          const ticks = [...plot.querySelectorAll('.tick.middle')].map(t => t.getBoundingClientRect())
            .filter(r => r.width).sort((a, b) => a.left - b.left);
          return ticks.filter((r, i) => i && r.left < ticks[i - 1].right + 2).length; })""")
        self.assertEqual(sum(crowded), 0, crowded)

    # Least contrast of the colours in use, text against 4.5 and marks against 3 (WCAG 2.2, 1.4.3, 1.4.11).
    CONTRAST = """(() => {
      const probe = document.body.appendChild(document.createElement('i'));
      const style = getComputedStyle(document.documentElement);
      const colour = name => { probe.style.color = `var(--${name})`;
        return getComputedStyle(probe).color.match(/[0-9.]+/g).slice(0, 3).map(Number); };
      const light = rgb => rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
      const ratio = (a, b) => { const [x, y] = [light(colour(a)), light(colour(b))].sort((p, q) => q - p);
        return (x + 0.05) / (y + 0.05); };
      const low = [];
      for (const [names, grounds, least] of [
        [['ink', 'muted', 'accent', 'out'], ['paper'], 4.5],
        [['ink', 'muted'], ['step', 'accent-paper'], 4.5],
        [['cap', 'smem', 'cg', 'both', 'out', 'carved'], ['paper', 'step'], 3],
        [['paper'], ['accent'], 4.5]])
        for (const name of names) for (const ground of grounds)
          if (ratio(name, ground) < least) low.push([name, ground, ratio(name, ground)]);
      probe.remove();
      return low;
    })()"""

    def test_light_and_dark_have_contrast(self):
        grounds = set()
        for scheme in ("light", "dark"):
            with self.subTest(scheme):
                page = self.open(features={"prefers-color-scheme": scheme})
                self.assertEqual(page.evaluate(self.CONTRAST), [])
                grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(grounds, {"rgb(255, 255, 255)", "rgb(15, 20, 26)"})

    def test_nothing_moves_where_motion_is_not_wanted(self):
        page = self.open(features={"prefers-reduced-motion": "reduce"})
        self.assertEqual(page.evaluate("getComputedStyle(document.documentElement).scrollBehavior"), "auto")

    def test_paper_shows_all(self):
        for script in (True, False):
            for name in ("report", "hard-names"):
                with self.subTest(name, script=script):
                    page = self.open(name, width=700, media="print", script=script,
                                     features={"prefers-color-scheme": "dark"})
                    folded = page.evaluate("[...document.querySelectorAll('details > :not(summary)')]"
                                           ".filter(e => !e.checkVisibility({contentVisibilityAuto: true})"
                                           " || !e.getBoundingClientRect().height)"
                                           ".map(e => e.outerHTML.slice(0, 80))")
                    self.assertEqual(folded, [])
                    cut = page.evaluate("[...document.querySelectorAll('.scroller')]"
                                        ".filter(e => e.scrollWidth > e.clientWidth + 1).length")
                    self.assertEqual(cut, 0)
                    self.assertEqual(page.evaluate(self.OVERFLOW), [0, []])
                    self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"),
                                     "rgb(255, 255, 255)")

    def test_printing_opens_and_closes_what_is_folded(self):
        page = self.open()
        folded = "document.querySelectorAll('details:not([open])').length"
        before = page.evaluate(folded)
        self.assertGreaterEqual(before, 4)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(page.evaluate(folded), 0)
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(page.evaluate(folded), before)
        self.assertGreater(len(page.call("Page.printToPDF")["data"]), 10000)

    def test_says_all_without_its_script(self):
        page = self.open(script=False)
        self.assertEqual(page.evaluate("document.querySelectorAll('button, input').length"), 0)
        self.assertEqual(page.evaluate("document.querySelectorAll('#kernels tbody tr').length"), 7)
        self.assertEqual(page.evaluate("document.querySelectorAll('#k0-time .mark[tabindex] > title').length"), 17)

    def test_links_lead_to_kernels(self):
        page = self.open(features={"prefers-reduced-motion": "reduce"})
        page.click("#kernels tbody tr:nth-child(3) a")
        self.assertLess(abs(page.evaluate("document.getElementById('k2').getBoundingClientRect().top")), 5)

    def test_hundreds_of_kernels_open_at_once(self):
        page = self.open("many")
        self.assertEqual(page.evaluate("document.querySelectorAll('section.kernel').length"), 300)
        page.click("#filter")
        page.type("step29")
        self.assertEqual(page.evaluate("document.querySelector('.count').textContent"), "11 of 300 kernels")

    def test_accessible_by_axe(self):
        script = os.environ.get("CARVE_AXE")
        if not script or not os.path.exists(script):
            self.skipTest("no axe-core here: CARVE_AXE names none")
        axe = pathlib.Path(script).read_text(encoding="utf-8")
        for name, width, scheme in (("report", 1280, "light"), ("report", 360, "dark"),
                                    ("not-tuned", 1280, "dark"), ("hard-names", 360, "light"),
                                    ("little-known", 360, "dark")):
            with self.subTest(name, width=width, scheme=scheme):
                page = self.open(name, width=width, features={"prefers-color-scheme": scheme})
                page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
                page.evaluate(axe + "; 0")
                found = page.evaluate("axe.run(document, {preload: false}).then(r => r.violations.map("
                                      "v => [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200))]))")
                self.assertEqual(found, [])


def main():
    global CARVE
    if len(sys.argv) < 2:
        sys.exit("usage: report_page_test.py CARVE [unittest options]")
    CARVE = sys.argv.pop(1)
    if not find_browser():
        if os.environ.get("CARVE_REQUIRE_BROWSER") == "1":
            sys.exit("no browser found, expected chromium-headless-shell or CARVE_BROWSER")
        print("skipped: no browser here, expected chromium-headless-shell or CARVE_BROWSER")
        sys.exit(77)
    unittest.main()


if __name__ == "__main__":
    main()
