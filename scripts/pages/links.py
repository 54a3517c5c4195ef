#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the pages (*.md) point to. Run by scripts/dist, scripts/python/make_wheel.py and tests.

links.py list              prints the files that a copy of README.md needs so that all its links, and theirs, work
links.py copy FOLDER       copies these files to FOLDER, under their own paths
links.py check FOLDER      names each relative link of FOLDER's pages that leads to no file or heading; ends with 1 if there is one
links.py paths FOLDER      names each file of the sources that FOLDER's pages mention in `backquotes`, and each //folder:target of the
                           build, that is not there; likewise
All but `check` and `paths` are about the current folder, the root of a checkout.
"""

import fnmatch
import os
import re
import shutil
import sys

FENCED = re.compile(r"^( *)```.*?^ *```", re.S | re.M)
LINK = re.compile(r"\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`\s]+)`")
ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:")
LABEL = re.compile(r"//([\w/]+):([\w.]*\w)")
SOURCE = re.compile(r".*\.(c|h|cc|cu|S|def|py|sh|bzl|md)$")
ROOMS = ("interpose/", "analysis/", "tests/", "scripts/", "docs/", ".ci/")
NOT_OURS = ("/", "-", "$", "~", "=")  # paths of a machine, options, settings
SKIPPED = ("bazel-", ".git", ".tools", ".cuda", ".cache", "dist")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def prose(text):
    """A page without its blocks of code."""
    return FENCED.sub("", text)


def files_below(folder):
    """All files of the sources below the folder, as paths relative to it."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name == ".github" or not name.startswith(SKIPPED)]
        for name in names:
            yield os.path.relpath(os.path.join(place, name), folder)


def relative_links(text):
    return [link for link in LINK.findall(prose(text)) if not ABSOLUTE.match(link)]


def target(page, link):
    """The path that the link of a page names, without its heading."""
    path = link.partition("#")[0]
    return os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page


def closure(first="README.md"):
    """The page, what its links lead to, what theirs lead to, and so on."""
    found, waiting = set(), [first]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        if path.endswith(".md"):
            waiting += [target(path, link) for link in relative_links(read(path))]
    return sorted(found)


def headings(text):
    """What `#...` may name in a page."""
    lines = re.findall(r"^#+ +(.*?) *$", prose(text), re.M)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def wrong_link(folder, page, link):
    """Why the link leads nowhere, or None."""
    path, heading = os.path.join(folder, target(page, link)), link.partition("#")[2]
    if target(page, link).startswith(".."):
        return "leaves the folder"
    if not os.path.isfile(path):
        return "no such file"
    if heading and path.endswith(".md") and heading not in headings(read(path)):
        return "no such heading"
    return None


def check(folder):
    """One line for each link that leads nowhere."""
    for page in sorted(path for path in files_below(folder) if path.endswith(".md")):
        for link in relative_links(read(os.path.join(folder, page))):
            why = wrong_link(folder, page, link)
            if why:
                yield "%s: %s: %s" % (page, link, why)


def mentions(text):
    """The words in backquotes that are files or folders of the sources; NAME and <name> stand for any name."""
    for word in QUOTED.findall(prose(text)):
        if word.startswith(NOT_OURS) or not (SOURCE.match(word) or word.startswith(ROOMS)):
            continue
        word = re.sub(r"<[a-z]+>|(?<![A-Za-z])[A-Z]{4,}(?![A-Za-z]|\.md)", "*", word)
        match = re.match(r"(.*)\{(.*)\}(.*)", word)
        yield from [match[1] + part + match[3] for part in match[2].split(",")] if match else [word]


def has_target(folder, package, name):
    """Whether the package has it, by name, or as a test of a list of names or of a file of that name."""
    build = os.path.join(folder, package, "BUILD")
    if not os.path.isfile(build):
        return False
    source = os.path.join(folder, package, name + ".cc")
    return any('"%s"' % word in read(build) for word in (name, re.sub("_test$", "", name))) or os.path.isfile(source)


def paths(folder):
    """One line for each mention of a file that is nowhere (at its path, or at the end of some path), or of no target."""
    there = list(files_below(folder))
    there += sorted({path[:end + 1] for path in there for end in range(len(path)) if path[end] == "/"})
    there += [path[:-1] for path in there if path.endswith("/")]
    for page in sorted(path for path in there if path.endswith(".md") and os.path.basename(path) != "CHANGELOG.md"):
        text = read(os.path.join(folder, page))
        for package, name in LABEL.findall(text):
            if not has_target(folder, package, name) and name != "all":
                yield "%s: //%s:%s is no target" % (page, package, name)
        for word in mentions(text):
            if word.startswith("../"):
                word = target(page, word)
            if not fnmatch.filter(there, word) and not fnmatch.filter(there, "*/" + word):
                yield "%s: `%s` is nowhere" % (page, word)


def copy(folder):
    for path in closure():
        os.makedirs(os.path.dirname(os.path.join(folder, path)) or ".", exist_ok=True)
        shutil.copyfile(path, os.path.join(folder, path))
        os.chmod(os.path.join(folder, path), 0o644)


def main(verb, folder="."):
    if verb == "list":
        print("\n".join(closure()))
    elif verb == "copy":
        copy(folder)
    else:
        wrong = list({"check": check, "paths": paths}[verb](folder))
        print("\n".join(wrong), end="\n" if wrong else "")
        return 1 if wrong else 0
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
