#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_wheel.py FOLDER VERSION COMMAND LIBRARY...: writes the wheel of this version into FOLDER and prints its path.

Run by scripts/wheel and a test, from the root of the checkout. The same files give the same bytes, whoever makes it, and when.
"""

import base64
import glob
import hashlib
import os
import sys
import zipfile

TAG = "py3-none-manylinux_2_17_x86_64"
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # what a zip file can say at the earliest

METADATA = """Metadata-Version: 2.1
Name: ptds
Version: %s
Summary: Moves the default-stream work of unmodified CUDA programs to streams of their own, and reports what waits for whom
License: Apache-2.0
Requires-Python: >=3.6
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


def contents(version, command, libraries):
    """(path in the wheel, bytes, whether it is a program)."""
    for path in sorted(glob.glob("scripts/python/ptds/*.py")):
        yield "ptds/" + os.path.basename(path), read(path), False
    yield "ptds/bin/ptds", read(command), True
    for library in libraries:
        yield "ptds/lib/" + os.path.basename(library), read(library), True
    info = "ptds-%s.dist-info/" % version
    yield info + "LICENSE", read("LICENSE"), False
    yield info + "METADATA", (METADATA % version).encode() + read("README.md"), False
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
