"""Debian's chromium without a window, driven by the DevTools protocol over two pipes: no other package is needed.

Give a Browser the address of a page; `evaluate` runs JavaScript there and returns its value.
"""

import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = "/usr/bin/chromium"
PATIENCE = 60.0
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--remote-debugging-pipe", "--hide-scrollbars")


class Browser:
    """Use as a context manager."""

    def __init__(self, width=1280, height=900, colours="light"):
        self._profile = tempfile.mkdtemp(prefix="urnic-web-browser-")
        # The browser reads commands at descriptor 3 and writes answers to descriptor 4.
        read_commands, self._commands = os.pipe()
        self._answers, write_answers = os.pipe()

        def place():
            # Out of the way first: either pipe may have number 3 or 4 itself.
            first, second = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read_commands, write_answers))
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen([PROGRAM, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"], preexec_fn=place,
                                         close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(read_commands)
        os.close(write_answers)
        self._received = b""
        self._number = 0
        self.errors = []  # what the page's scripts and its security policy complained of
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.colours(colours)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._commands)
        os.close(self._answers)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method, **parameters):
        """A command to the page."""
        return self._call(method, session=self._session, **parameters)

    def _call(self, method, session=None, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._next(deadline, method)
            if answer.get("id") != self._number:
                self._event(answer)
                continue
            if "error" in answer:
                raise AssertionError(f"{method}: {answer['error']}")
            return answer["result"]

    def _next(self, deadline, what):
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._answers], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise AssertionError(f"the browser has not answered {what}")
            part = os.read(self._answers, 1 << 20)
            if not part:
                raise AssertionError("the browser has ended")
            self._received += part
        message, self._received = self._received.split(b"\0", 1)
        return json.loads(message)

    def _event(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])

    def open(self, address):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def colours(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition, what=None, timeout=PATIENCE):
        """Waits until the JavaScript expression is true."""
        deadline = time.monotonic() + timeout
        while True:
            if self.evaluate(f"Boolean(({condition}))"):
                return
            if time.monotonic() > deadline:
                raise AssertionError(f"{what or condition}: not within {timeout} seconds; the page says:\n"
                                     f"{self.evaluate('document.body.innerText')[:3000]}\n{self.errors}")
            time.sleep(0.1)

    def wait_for_text(self, text, timeout=PATIENCE):
        self.wait(f"document.body?.innerText.includes({json.dumps(text)})", f"the text {text}", timeout)

    def text(self, selector="body"):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def click(self, selector):
        found = self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e?.click(); return !!e; }})()")
        if not found:
            raise AssertionError(f"the page has no {selector}")

    def press(self, key):
        code = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Tab": 9}[key]
        for kind in ("keyDown", "keyUp"):
            extra = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **extra)

    def screenshot(self, path, height=None, scale=1.0):
        """Writes a PNG of what is in the window, or of the page's first `height` pixels, made smaller by `scale`."""
        size = {"x": 0, "y": 0, "width": self.evaluate("innerWidth"), "height": height or self.evaluate("innerHeight"), "scale": scale}
        if height:
            self.evaluate("scrollTo(0, 0)")
        else:
            size["y"] = self.evaluate("scrollY")
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=size)
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))
