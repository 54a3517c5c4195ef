#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_wheel.py FOLDER VERSION COMMAND LIBRARY...: writes the wheel of this version into FOLDER and prints its path.

Run by scripts/wheel and tests, from the root of the checkout. The same files give the same bytes, whoever makes it, and when.
Author and address come from scripts/bazel/defs.bzl. The pages lie in the package's folder `doc`, where their links work.
"""

import base64
import glob
import hashlib
import os
import re
import sys
import zipfile

sys.path.insert(0, os.path.abspath("scripts/pages"))
import links  # noqa: E402

TAG = "py3-none-manylinux_2_17_x86_64"
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # what a zip file can say at the earliest

METADATA = """Metadata-Version: 2.1
Name: ptds
Version: %s
Summary: Moves the default-stream work of unmodified CUDA programs to streams of their own, and reports what waits for whom
License: Apache-2.0
Author: %s
%sRequires-Python: >=3.6
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown

"""
WHEEL = """Wheel-Version: 1.0
Generator: libptds
Root-Is-Purelib: false
Tag: %s
""" % TAG
ENTRIES = """[console_scripts]
ptds = ptds.__main__:console
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def project(name):
    """A value of scripts/bazel/defs.bzl, the one place for them."""
    return re.search('^%s = "(.*)"$' % name, read("scripts/bazel/defs.bzl").decode(), re.M)[1]


def description(url, version):
    """README.md for a package index, where no relative link works: they lead to the project's address, or are plain words without one."""
    def absolute(match):
        text, link = match.groups()
        if links.ABSOLUTE.match(link):
            return match[0]
        return "[%s](%s/blob/v%s/%s)" % (text, url, version, link) if url else text

    note = "\nAll pages are in the folder `doc` of the installed package `ptds`.\n"
    text = re.sub(r"!\[[^][]*\]\([^)\s]+\)\n*", "", read("README.md").decode())  # an index shows no picture of a package
    return re.sub(r"\[((?:[^][])*)\]\(([^)\s]+)\)", absolute, text) + note


def metadata(version):
    url = project("PTDS_URL")
    address = "Project-URL: Source, %s\n" % url if url else ""
    return (METADATA % (version, project("PTDS_AUTHOR"), address) + description(url, version)).encode()


def contents(version, command, libraries):
    """(path in the wheel, bytes, whether it is a program)."""
    for path in sorted(glob.glob("scripts/python/ptds/*.py")):
        yield "ptds/" + os.path.basename(path), read(path), False
    yield "ptds/bin/ptds", read(command), True
    for library in libraries:
        yield "ptds/lib/" + os.path.basename(library), read(library), True
    for page in links.closure():
        yield "ptds/doc/" + page, read(page), False
    info = "ptds-%s.dist-info/" % version
    yield info + "LICENSE", read("LICENSE"), False
    yield info + "METADATA", metadata(version), False
    yield info + "WHEEL", WHEEL.encode(), False
    yield info + "entry_points.txt", ENTRIES.encode(), False


def record_line(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d\n" % (path, digest, len(data))


def write(wheel, path, data, is_program):
    entry = zipfile.ZipInfo(path, FIRST_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix: the mode counts
    entry.external_attr = (0o100755 if is_program else 0o100644) << 16
    wheel.writestr(entry, data)


def make(folder, version, command, libraries):
    path = os.path.join(folder, "ptds-%s-%s.whl" % (version, TAG))
    record = "ptds-%s.dist-info/RECORD" % version
    lines = []
    with zipfile.ZipFile(path + ".part", "w") as wheel:
        for name, data, is_program in contents(version, command, libraries):
            write(wheel, name, data, is_program)
            lines.append(record_line(name, data))
        write(wheel, record, ("".join(lines) + record + ",,\n").encode(), False)
    os.replace(path + ".part", path)
    return path


if __name__ == "__main__":
    print(make(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
