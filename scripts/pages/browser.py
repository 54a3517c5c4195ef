#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser.py PAGE.html PICTURE.png WIDTHxHEIGHT [option ...]: a picture of a page, by headless Chromium (`scripts/setup --browser`).

Options, in the order in which they are done: `dark`, `whole` (the page at its full height), `at=SELECTOR` (scrolled to that
element), `#FRAGMENT` (opened with it), `run=SCRIPT` (run in the page before). Run by scripts/pages/pictures, and by hand
to look at a page. It speaks to the browser by its debugging pipe: JSON messages that end with a zero byte.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    def __init__(self):
        path = next(filter(None, map(shutil.which, NAMES)), None)
        if path is None:
            sys.exit("no browser here: scripts/setup --browser brings one")
        self.home = tempfile.mkdtemp()
        (take, self.out), (self.into, give) = os.pipe(), os.pipe()
        command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--remote-debugging-pipe", "--hide-scrollbars", "--user-data-dir=" + self.home, "about:blank"]

        def descriptors():  # the browser reads from 3 and writes to 4
            kept = os.dup(take), os.dup(give)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=descriptors,
                                        pass_fds=(3, 4), env={**os.environ, "HOME": self.home})
        os.close(take)
        os.close(give)
        self.number, self.session, self.buffer = 0, None, b""
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.into, 65536)
            if not piece:
                sys.exit("the browser ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def run(self, script):
        """The script's value, once a promise is settled."""
        got = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            sys.exit("%s: %s" % (script, got["exceptionDetails"]["exception"]["description"]))
        return got["result"].get("value")

    def open(self, path, fragment):
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        self.run("new Promise((done) => { const look = () => document.readyState === 'complete' && "
                 "('ready' in document.documentElement.dataset || !document.getElementById('data-report')) ? done() : setTimeout(look, 20); look(); })")
        self.settle()

    def settle(self):
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)


def picture(page, to, size, options):
    browser = Browser()
    width, height = map(int, size.split("x"))
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    if "dark" in options:
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.open(page, next((one for one in options if one.startswith("#")), ""))
    whole = "whole" in options
    for option in options:
        name, _, value = option.partition("=")
        if name == "at":
            browser.run("document.querySelector(%s).scrollIntoView()" % json.dumps(value))
        elif name == "run":
            browser.run(value)
    browser.settle()
    clip = {}
    if whole:
        high = browser.run("document.documentElement.scrollHeight")
        clip = {"clip": {"x": 0, "y": 0, "width": width, "height": high, "scale": 1}, "captureBeyondViewport": True}
    shot = browser.call("Page.captureScreenshot", format="png", **clip)
    with open(to, "wb") as file:
        file.write(base64.b64decode(shot["data"]))
    browser.close()


if __name__ == "__main__":
    picture(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
