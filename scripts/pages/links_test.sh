#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# links_test.sh: all relative links of all pages lead somewhere, in the repository, in the tarball and in the wheel, and the source files
# that pages name are there. Run by Bazel, on the checkout itself: a renamed file need not be known to any build target.
set -euo pipefail
cd "$(dirname "$(realpath README.md)")"
links() { python3 scripts/pages/links.py "$@"; }
work=$TEST_TMPDIR status=0
wrong() {
    echo "$*"
    status=1
}

links check . || wrong "in the repository"
links paths . || wrong "names of files; where one is no file of the project's, write it without backquotes"

# The tarball: scripts/dist copies the pages by the same command.
grep -q 'scripts/pages/links.py copy' scripts/dist || wrong "scripts/dist copies other pages"
links copy "$work/tarball"
links check "$work/tarball" || wrong "in the tarball"
[[ $(find "$work/tarball" -name '*.md' | wc -l) -ge 24 ]] || wrong "pages are missing in the tarball"

# The wheel: the same pages in a folder of the package, and the text that a package index shows.
mkdir "$work/wheel" && echo >"$work/file"
wheel=$(python3 scripts/python/make_wheel.py "$work/wheel" 1.2.3 "$work/file")
(cd "$work/wheel" && python3 -m zipfile -e "$wheel" .)
links check "$work/wheel" || wrong "in the wheel"
diff -r "$work/tarball" "$work/wheel/ptds/doc" || wrong "the wheel's pages are other ones than the tarball's"
python3 - "$work/wheel/ptds-1.2.3.dist-info/METADATA" <<'PYTHON' || wrong "the wheel's description"
import re, sys
head, _, text = open(sys.argv[1], encoding="utf-8").read().partition("\n\n")
assert "\nAuthor: " in head and "\nSummary: " in head, head
dead = [link for link in re.findall(r"\]\(([^)]*)\)", text) if not re.match(r"https?:", link)]
assert text.startswith("# libptds") and not dead, dead
PYTHON

# It can fail.
mkdir "$work/bad"
printf '# A page\n[a](none.md) [b](page.md#no) [c](page.md#a-page) [d](../out.md)\n`scripts/none` `nothing_%s.c` `page.md` //tests:none\n' xyz >"$work/bad/page.md"
diff <(links check "$work/bad") - <<'EXPECTED' || wrong "links that lead nowhere are not seen"
page.md: none.md: no such file
page.md: page.md#no: no such heading
page.md: ../out.md: leaves the folder
EXPECTED
diff <(links paths "$work/bad") - <<'EXPECTED' || wrong "files that are nowhere are not seen"
page.md: //tests:none is no target
page.md: `scripts/none` is nowhere
page.md: `nothing_xyz.c` is nowhere
EXPECTED
exit $status
