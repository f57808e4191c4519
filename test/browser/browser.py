"""A headless Chromium over the pipe of its DevTools protocol: no library between.

https://chromedevtools.github.io/devtools-protocol/ has the methods and events named here.
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")


def find_browser():
    """The path of a browser, or None. CARVE_BROWSER names another one."""
    named = os.environ.get("CARVE_BROWSER")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


class ProtocolError(Exception):
    pass


class Browser:
    """Use it as a context: the process ends with it."""

    def __init__(self, path):
        self.profile = tempfile.mkdtemp(prefix="carve-browser-")
        child_in, self.write_end = os.pipe()
        self.read_end, child_out = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        command = f"exec 3<&{child_in} 4>&{child_out}; exec \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", command, "browser", path, "--headless", "--no-sandbox", "--disable-gpu",
             "--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run", "--disable-sync",
             "--disable-background-networking", f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(child_in, child_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(child_in)
        os.close(child_out)
        self.buffer = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (ProtocolError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _message(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.read_end, 1 << 20) if ready else None
            if part is None:
                return None
            if not part:
                raise ProtocolError("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.write_end, text):]
        deadline = time.monotonic() + 30
        while True:
            answer = self._message(deadline)
            if answer is None:
                raise ProtocolError(f"{method}: no answer within 30 s")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise ProtocolError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event, session, seconds=30):
        """Takes the first such event out of the list."""
        deadline = time.monotonic() + seconds
        while True:
            for index, known in enumerate(self.events):
                if known.get("method") == event and known.get("sessionId") == session:
                    return self.events.pop(index)["params"]
            message = self._message(deadline)
            if message is None:
                raise ProtocolError(f"{event} did not come within {seconds} s")
            self.events.append(message)

    def open(self, path, **options):
        return Page(self, path, **options)


class Page:
    """A file in a tab of its own."""

    def __init__(self, browser, path, width=1280, height=900, media="", features=None, script=True):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.requests, self.complaints = [], []
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(domain + ".enable")
        self.resize(width, height)
        self.emulate(media, features or {})
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        browser.wait_for("Page.loadEventFired", self.session)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def emulate(self, media="", features=None):
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": name, "value": value} for name, value in (features or {}).items()])

    def evaluate(self, expression):
        """The value of an expression; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise ProtocolError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def press(self, key, code=None, text=None):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36,
                 "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        text = {"Enter": "\r", " ": " "}.get(key, text)
        extra = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code or key,
                  windowsVirtualKeyCode=codes[key], **extra)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code or key,
                  windowsVirtualKeyCode=codes[key])

    def centre(self, selector):
        return self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const r = e.getBoundingClientRect();"
            "return [r.left + r.width / 2, r.top + r.height / 2]; })()")

    def move_to(self, selector):
        x, y = self.centre(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        x, y = self.centre(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def complaints_and_requests(self):
        """What the console and the log say, and addresses asked for beyond the file itself."""
        self.evaluate("new Promise(done => setTimeout(done, 50))")
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            parameters = event["params"]
            if event["method"] == "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            elif event["method"] == "Runtime.exceptionThrown":
                self.complaints.append(parameters["exceptionDetails"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled":
                self.complaints.append(str(parameters["args"]))
            elif event["method"] == "Log.entryAdded":
                self.complaints.append(parameters["entry"]["text"])
        self.browser.events = [e for e in self.browser.events if e.get("sessionId") != self.session]
        return self.complaints, self.requests

    def screenshot(self, path, height):
        """The first `height` pixels of the page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1}
        data = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
