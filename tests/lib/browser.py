# SPDX-License-Identifier: MIT
"""Drives a headless Chromium by the WebDriver protocol, with nothing but the standard library."""

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from suite import TIME_SCALE

SCREENSHOTS = os.environ.get("EVIXD_SCREENSHOTS")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One browser; `with Browser() as browser`. Skips, with the reason, where there is none."""

    def __init__(self):
        self.driver_path = shutil.which("chromedriver")
        if not self.driver_path or not (shutil.which("chromium") or shutil.which("google-chrome")):
            raise unittest.SkipTest("no chromium with its chromedriver (Debian: chromium-driver)")
        self.driver = None
        self.session = None

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="evixd-browser-")
        self.driver = subprocess.Popen(
            [self.driver_path, "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.profile),
        )
        try:
            self._start()
        except BaseException:
            self.__exit__(None)
            raise
        return self

    def _start(self):
        for line in self.driver.stdout:
            match = re.search(rb"started successfully on port (\d+)", line)
            if match:
                self.port = int(match[1])
                break
        else:
            raise AssertionError("chromedriver did not start")
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=1000,900", "--user-data-dir=" + self.profile],
        }
        binary = shutil.which("chromium")
        if binary:
            options["binary"] = binary
        self.session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }}})["sessionId"]

    def __exit__(self, *_error):
        try:
            if self.session:
                self._call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            shutil.rmtree(self.profile, ignore_errors=True)

    def _call(self, method, path, body=None):
        if not path.startswith("/session"):
            path = "/session/%s%s" % (self.session, path)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60 * TIME_SCALE)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise AssertionError("%s: %s" % (value["error"], value.get("message")))
        return value

    # What a person does and sees.

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def back(self):
        self._call("POST", "/back", {})

    def click(self, selector, number=0):
        found = self._call("POST", "/elements", {"using": "css selector", "value": selector})
        self._call("POST", "/element/%s/click" % found[number][_ELEMENT], {})

    def script(self, text, *arguments):
        """The value of the function body `text`, run in the page."""
        return self._call("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def texts(self, selector):
        return self.script(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def style(self, selector, name):
        return self.script(
            "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]",
            selector, name)

    @property
    def url(self):
        return self._call("GET", "/url")

    def dark(self, is_dark):
        self._command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def phone(self, width=360):
        self._command("Emulation.setDeviceMetricsOverride", width=width, height=780,
                      deviceScaleFactor=2, mobile=True)

    def desk(self):
        self._command("Emulation.clearDeviceMetricsOverride")

    def _command(self, name, **parameters):
        self._call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def overflow(self):
        """Pixels by which the page is wider than its window."""
        return self.script("let e = document.documentElement; return e.scrollWidth - e.clientWidth")

    def complaints(self):
        """What the browser's console was told since the last look, refused content included."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def keep(self, name):
        """A picture for people, where EVIXD_SCREENSHOTS names a folder."""
        if SCREENSHOTS:
            os.makedirs(SCREENSHOTS, exist_ok=True)
            with open(os.path.join(SCREENSHOTS, name + ".png"), "wb") as file:
                file.write(base64.b64decode(self._call("GET", "/screenshot")))
