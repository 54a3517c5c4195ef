# SPDX-License-Identifier: Apache-2.0
"""`python -m ptds enable`, `disable` and `status`: the library in every process of this Python, without a word in their command lines.

Called by __main__.py. `enable` writes one file beside the package, of those that a Python reads when it starts; its line runs
at_start.py. The file gets a row among those of the package's RECORD, so that pip removes it with the package.
"""

import glob
import os
import shutil
import site
import sys
import sysconfig

from . import LIBRARY, at_start

FOLDER, NAME = os.path.split(at_start.PTH)
ROW = NAME + ",,\n"
#: What the file's line runs. Where the package is gone, it says so once (some Pythons read the file twice), and nothing else happens.
SCRIPT = """try:
    import ptds.at_start
    ptds.at_start.run()
except Exception as error:
    sys.stderr and not hasattr(sys, "_ptds_said") and sys.stderr.write("ptds: not on in this process, in spite of %%s: %%s\\n" %% (%a, error))
    sys._ptds_said = True
""" % at_start.PTH
#: Python takes a line that does not begin with `import` for a folder.
LINE = "import sys; exec(%a)\n" % SCRIPT


def site_folders():
    """Those whose files this Python reads when it starts."""
    folders = site.getsitepackages() if hasattr(site, "getsitepackages") else [sysconfig.get_path("platlib")]
    return folders + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])


def replace(path, text):
    """Writes a file whole, or not at all."""
    part = path + ".part"
    try:
        with open(part, "w") as file:
            file.write(text)
        if os.path.exists(path):
            shutil.copymode(path, part)
        os.replace(part, path)
    except OSError as error:
        sys.exit("ptds: %s: %s" % (path, error.strerror))


def record():
    """The path and the rows of RECORD, without ours; (None, "") where there is none."""
    paths = glob.glob(os.path.join(glob.escape(FOLDER), "ptds-*.dist-info", "RECORD"))
    if len(paths) != 1:
        return None, ""
    with open(paths[0]) as file:
        return paths[0], "".join(row for row in file if row != ROW)


def enable():
    if sys.version_info < (3, 8):
        sys.exit("ptds: enable needs Python 3.8 or later")
    if not any(os.path.realpath(folder) == os.path.realpath(FOLDER) for folder in site_folders()):
        sys.exit("ptds: %s is no folder that this Python looks into when it starts: install ptds with pip" % FOLDER)
    if " " in LIBRARY or ":" in LIBRARY:
        sys.exit("ptds: %s: LD_PRELOAD cannot hold a path with a space or a colon" % LIBRARY)
    path, rows = record()
    if path is None:
        sys.exit("ptds: %s has no RECORD of ptds, by which pip would remove %s: install ptds with pip" % (FOLDER, NAME))
    replace(path, rows + ROW)
    replace(at_start.PTH, LINE)
    print("enabled by %s: on in every process of this Python that starts from now on" % at_start.PTH)


def disable():
    try:
        os.remove(at_start.PTH)
    except FileNotFoundError:
        print("not enabled: there is no %s" % at_start.PTH)
        return
    except OSError as error:
        sys.exit("ptds: %s: %s" % (at_start.PTH, error.strerror))
    path, rows = record()
    if path is not None:
        replace(path, rows)
    print("disabled: %s is gone; processes that run keep the library" % at_start.PTH)


def status():
    here = os.path.exists(at_start.PTH)
    print("%s, and %s in this process" % ("enabled by " + at_start.PTH if here else "not enabled",
                                          "on" if at_start.is_loaded() else "not on"))


VERBS = {"enable": enable, "disable": disable, "status": status}
