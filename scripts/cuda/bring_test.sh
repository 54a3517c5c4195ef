#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Packages as NVIDIA's, made here: what scripts/cuda/bring unpacks of them, what it keeps, and what it refuses. Run by Bazel.
set -euo pipefail
work=$TEST_TMPDIR
status=0
wrong() { echo "$*"; status=1; }
unset PIP_FIND_LINKS PIP_INDEX_URL PIP_EXTRA_INDEX_URL

# package NAME VERSION FILE...: a wheel in an index that pip understands, and its pin.
package() {
    mkdir -p "$work/index/$1"
    /usr/bin/python3 - "$work/index/$1" "$@" <<'PYTHON'
import hashlib, sys, zipfile
folder, name, version, *files = sys.argv[1:]
wheel_name = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
path = f"{folder}/{wheel_name}"
with open(f"{folder}/index.html", "w") as page:
    page.write(f"<!DOCTYPE html><html><body><a href='{wheel_name}'>{wheel_name}</a></body></html>")
info = f"{name.replace('-', '_')}-{version}.dist-info"
with zipfile.ZipFile(path, "w") as wheel:
    for file in files:
        wheel.writestr(f"nvidia/cu13/{file}", f"{file} {version}\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/RECORD", "")
with open(path, "rb") as file:
    print(f"{name}=={version} --hash=sha256:{hashlib.sha256(file.read()).hexdigest()}")
PYTHON
}

bring() { scripts/cuda/bring "$work/pins" "$work/cuda" "$work/kept" >"$work/out" 2>&1; }
files() { (cd "$work/cuda" && find . -type f | sort | paste -sd' '); }

{
    package cuda-one 13.5.1 include/cuda.h include/crt/host.h lib/libcudart.so.13 lib/libcudadevrt.a
    package cuda-two 13.5.2 include/cupti.h lib/libcupti.so.13
} >"$work/pins"

# Nothing kept and no way to fetch: nothing is unpacked.
! PIP_NO_INDEX=1 bring || wrong "unpacked what was not there"
[[ ! -e $work/cuda ]] || wrong "left something where nothing was fetched"
grep -q 'No matching distribution' "$work/out" || wrong "did not say why: $(cat "$work/out")"

# Fetched, and kept.
PIP_INDEX_URL=file://$work/index bring || wrong "did not fetch: $(cat "$work/out")"
[[ $(cat "$work/out") == "fetching cuda-one 13.5.1, cuda-two 13.5.2" ]] || wrong "said: $(cat "$work/out")"
all="./include/crt/host.h ./include/cuda.h ./include/cupti.h ./lib/libcudart.so.13 ./requirements.txt"
[[ $(files) == "$all" ]] || wrong "unpacked: $(files)"
[[ $(find "$work/kept" -name '*.whl' | wc -l) == 2 ]] || wrong "kept: $(ls "$work/kept")"

# Nothing to do.
touch "$work/cuda/mine"
[[ $(bring && files) == *mine* ]] || wrong "unpacked again what was there"

# Another checkout, without a network.
rm -rf "$work/cuda"
PIP_NO_INDEX=1 bring || wrong "did not take what was kept: $(cat "$work/out")"
[[ $(files) == "$all" && ! -s $work/out ]] || wrong "from what was kept: $(files) $(cat "$work/out")"

# A package that is not the pinned one, though it has its name.
cp "$work/pins" "$work/old"
package cuda-one 13.5.1 include/other.h >"$work/changed"
cp "$work"/index/cuda-one/*.whl "$work/kept"
rm -rf "$work/cuda"
! PIP_INDEX_URL=file://$work/index bring || wrong "took a package with another digest"
[[ ! -e $work/cuda ]] || wrong "unpacked a package with another digest"

# New pins: what was unpacked by the old goes.
mkdir "$work/cuda"
cp "$work/old" "$work/cuda/requirements.txt"
touch "$work/cuda/stale"
{ cat "$work/changed"; grep cuda-two "$work/old"; } >"$work/pins"
PIP_NO_INDEX=1 bring || wrong "did not take the new ones: $(cat "$work/out")"
[[ $(files) == "./include/cupti.h ./include/other.h ./requirements.txt" ]] || wrong "by new pins: $(files)"
exit $status
