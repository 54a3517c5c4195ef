#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser.py PAGE.html PICTURE.png WIDTHxHEIGHT [option ...]: a picture of a page, by headless Chromium (`scripts/setup --browser`).

Options, in the order in which they are done: `dark`, `whole` (the page at its full height), `at=SELECTOR` (scrolled to that
element), `#FRAGMENT` (opened with it), `run=SCRIPT` (run in the page before). The picture has 256 colours. Run by scripts/pages/pictures, and by hand
to look at a page. It speaks to the browser by its debugging pipe: JSON messages that end with a zero byte.
"""

import base64
import collections
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

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


def pieces(png):
    """(name, data) of a PNG's chunks."""
    at = 8
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at:at + 8])
        yield name, png[at + 8:at + 8 + size]
        at += size + 12


def piece(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def rows_of(png):
    """Width, and rows of pixels, three bytes each; of the two forms that the browser writes."""
    parts = list(pieces(png))
    width, height, depth, form = struct.unpack(">IIBB", parts[0][1][:10])
    assert depth == 8 and form in (2, 6), (depth, form)
    wide = 3 if form == 2 else 4
    data = zlib.decompress(b"".join(data for name, data in parts if name == b"IDAT"))
    before, stride, rows = bytearray(width * wide), width * wide + 1, []
    for y in range(height):
        kind, row = data[y * stride], bytearray(data[y * stride + 1:(y + 1) * stride])
        for i in range(len(row) if kind else 0):
            left, up = row[i - wide] if i >= wide else 0, before[i]
            corner = before[i - wide] if i >= wide else 0
            if kind == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            else:
                near = (0, left, up, (left + up) // 2)[kind]
            row[i] = (row[i] + near) & 255
        before = row
        rows.append([bytes(row[i:i + 3]) for i in range(0, len(row), wide)])
    return width, rows


def shrink(png):
    """The picture in its 256 most frequent colours: a third of the bytes, and nobody sees a difference on a page."""
    width, rows = rows_of(png)
    counts = collections.Counter(pixel for row in rows for pixel in row)
    palette = [pixel for pixel, _ in counts.most_common(256)]
    number = {pixel: at for at, pixel in enumerate(palette)}
    for pixel in counts:
        if pixel not in number:
            number[pixel] = min(range(len(palette)), key=lambda at: sum((a - b) ** 2 for a, b in zip(pixel, palette[at])))
    lines = b"".join(b"\0" + bytes(number[pixel] for pixel in row) for row in rows)
    head = struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0)
    return png[:8] + piece(b"IHDR", head) + piece(b"PLTE", b"".join(palette)) + piece(b"IDAT", zlib.compress(lines, 9)) + piece(b"IEND", b"")


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
        file.write(shrink(base64.b64decode(shot["data"])))
    browser.close()


if __name__ == "__main__":
    picture(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
