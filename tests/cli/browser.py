"""Chromium without a window, driven through its pipe for developers: no other package is needed."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """A browser; `open` gives pages."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        options = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --hide-scrollbars"
        options += " --disable-background-networking --disable-component-update --remote-debugging-pipe"
        # The browser reads from 3 and writes to 4.
        script = f'exec "$0" {options} --user-data-dir="$1" about:blank 3<&{read} 4>&{write}'
        command = ["bash", "-c", script, PROGRAM, self._folder.name]
        nothing = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, pass_fds=(read, write), **nothing)
        os.close(read)
        os.close(write)
        self._rest, self._number, self._answers, self.told = b"", 0, {}, []
        return self

    def __exit__(self, *_):
        self.ask("Browser.close")
        self._process.wait(20)
        os.close(self._read)
        os.close(self._write)
        self._folder.cleanup()

    def ask(self, method, session=None, **parameters):
        """The answer to a command."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 60
        while number not in self._answers:
            assert time.monotonic() < end, f"no answer to {method}"
            self.listen(0.2)
        answer = self._answers.pop(number)
        assert "error" not in answer, answer
        return answer["result"]

    def listen(self, seconds):
        """Take what the browser tells."""
        if not select.select([self._read], [], [], seconds)[0]:
            return
        *messages, self._rest = (self._rest + os.read(self._read, 1 << 20)).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.told.append(message)

    def open(self, address, width=1280, height=900, dark=False):
        """A page of this size, in light or dark colours."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        # All pages are in the foreground.
        page.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        small = width < 600
        page.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=small)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.ask("Emulation.setEmulatedMedia", features=[scheme])
        page.ask("Page.navigate", url=address)
        return page


class Page:
    """A page of a browser."""

    def __init__(self, browser, session):
        self._browser, self._session = browser, session

    def ask(self, method, **parameters):
        return self._browser.ask(method, self._session, **parameters)

    def run(self, code):
        """The value of an expression on the page."""
        answer = self.ask("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, code, seconds=20.0):
        """The value of an expression, once it is true."""
        end = time.monotonic() + seconds
        # While one page follows another, there is neither.
        while not (value := self.run(f"(() => {{ try {{ return {code}; }} catch {{ return false; }} }})()")):
            assert time.monotonic() < end, f"never true: {code}"
            self._browser.listen(0.05)
        return value

    def errors(self):
        """What the console complains of."""
        wrong = []
        for message in self._browser.told:
            if message.get("sessionId") != self._session:
                continue
            method, content = message["method"], message["params"]
            if method == "Runtime.exceptionThrown":
                wrong.append(content["exceptionDetails"]["exception"].get("description"))
            if method == "Log.entryAdded" and content["entry"]["level"] in ("error", "warning"):
                wrong.append(content["entry"]["text"])
            if method == "Runtime.consoleAPICalled" and content["type"] in ("error", "warning"):
                wrong.append(str(content["args"]))
        return wrong

    def addresses(self):
        """All that was asked of the network."""
        found = (m for m in self._browser.told if m.get("sessionId") == self._session)
        return [m["params"]["request"]["url"] for m in found if m["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path, whole=False):
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
