#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# wheel_test.sh COMMAND SHIM CUPTI AUDITOR: the wheel is the same each time it is made, installs without a network, and `python -m ptds` runs
# a script of this Python under the shim, on the simulated driver. Run by Bazel.
set -euo pipefail
command=$1 shim=$2 cupti=$3 auditor=$4
source=$PWD work=$TEST_TMPDIR
export LD_LIBRARY_PATH=$PWD/tests/sim HOME=$work PIP_DISABLE_PIP_VERSION_CHECK=1
status=0
wrong() {
    echo "$*"
    status=1
}

# In the checkout itself: which pages go in, their links say (scripts/pages/links.py), and no build target.
checkout=$(dirname "$(realpath README.md)")
make_wheel() { # FOLDER COMMAND LIBRARY...
    mkdir -p "$1" && (cd "$checkout" && /usr/bin/python3 scripts/python/make_wheel.py "$1" 1.2.3 "${@:2}")
}
wheel=$(make_wheel "$work/one" "$PWD/$command" "$PWD/$shim" "$PWD/$cupti" "$PWD/$auditor")
# Of other dates and modes:
again=$(umask 077 && cp -L "$shim" "$work/libptds.so" && cp -L "$cupti" "$work/libptds_cupti.so" && cp -L "$auditor" "$work/libptds_audit.so" &&
    make_wheel "$work/two" "$PWD/$command" "$work"/libptds{,_cupti,_audit}.so)
[[ $(basename "$wheel") == ptds-1.2.3-py3-none-manylinux_2_17_x86_64.whl ]] || wrong "its name is $wheel"
cmp "$wheel" "$again" || wrong "two wheels of the same files differ"

# Every file is in RECORD as it is.
/usr/bin/python3 - "$wheel" <<'PYTHON' || wrong "RECORD"
import base64, csv, hashlib, io, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
rows = list(csv.reader(io.StringIO(wheel.read("ptds-1.2.3.dist-info/RECORD").decode())))
assert sorted(row[0] for row in rows) == sorted(wheel.namelist()), rows
for path, digest, size in rows[:-1]:
    data = wheel.read(path)
    made = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert (digest, int(size)) == ("sha256=" + made, len(data)), path
PYTHON

# shellcheck source=tests/device/where.sh
source tests/device/where.sh
/usr/bin/python3 -m venv "$work/env" >"$work/venv.log" 2>&1 || { cat "$work/venv.log"; exit 1; }
python=$work/env/bin/python
"$python" -m pip install --quiet --no-index "$wheel"
[[ $("$python" -m ptds --version) == $("$source/$command" --version) ]] || wrong "python -m ptds --version"
[[ $("$work/env/bin/ptds" --version) == $("$source/$command" --version) ]] || wrong "the console's ptds --version"
if is_sanitized "$shim"; then # it cannot be preloaded into Python
    exit $status
fi

# runs WHAT EXPECTED COMMAND...: the script runs as under a plain Python, and the shim with it.
runs() {
    local what=$1 expected=$2 ended=0
    shift 2
    "$@" >"$work/out" 2>"$work/err" || ended=$?
    [[ $ended == 7 ]] || wrong "$what: ended with $ended: $(<"$work/err")"
    [[ $(<"$work/out") == "$expected" ]] || wrong "$what: printed $(<"$work/out"), not $expected"
    grep -q '^ptds: 10 default-stream operations moved' "$work/err" || wrong "$what: no summary: $(<"$work/err")"
}
mkdir "$work/scripts" && cp -L "$source/tests/wheel/script.py" "$work/scripts/"
cd "$work"
export PTDS_PYTHON_FRAMES=on # in its second thread, too
bare=$("$python" -O scripts/script.py --steps 3) || true
expected="copied __main__ ['scripts/script.py', '--steps', '3'] scripts 1 False"
[[ $bare == "$expected" ]] || wrong "bare: $bare"
runs "run -- script" "$expected" "$python" -O -m ptds run --trace run.ptds -- scripts/script.py --steps 3
runs "run script" "${expected/ 1 / 0 }" "$python" -m ptds run scripts/script.py --steps 3
runs "run -- -m" "copied __main__ ['$work/scripts/script.py'] scripts 0 False" \
    env PYTHONPATH="$work/scripts" "$python" -m ptds run -- -c "import os, runpy, sys; os.chdir('scripts'); sys.path[0] = os.getcwd()
runpy.run_module('script', run_name='__main__', alter_sys=True)"
runs "the console's" "$expected" "$work/env/bin/ptds" run -- "$python" -O scripts/script.py --steps 3
if [[ $(getconf GNU_LIBC_VERSION) > "glibc 2.34" ]]; then
    runs "run --audit" "$expected" "$python" -O -m ptds run --audit -- scripts/script.py --steps 3
fi
"$python" -m ptds report run.ptds >report.txt
grep -q 'python' report.txt && grep -q 'Right' report.txt || wrong "report: $(<report.txt)"
"$python" -m ptds run -- /bin/echo not a script | grep -qx 'not a script' || wrong "run -- program"
"$python" -m ptds run --policy nonsense -- scripts/script.py >out 2>&1 && wrong "a wrong policy runs"
grep -q nonsense out || wrong "of a wrong policy: $(<out)"

# Frames of Python functions, where a Python has them.
newer_python() {
    local found
    for found in /usr/bin/python3.1[2-9] /usr/local/bin/python3.1[2-9] "$(getent passwd "$(id -u)" | cut -d: -f6)"/.pyenv/versions/3.1[2-9]*/bin/python3; do
        [[ ! -x $found ]] || { echo "$found"; return 0; }
    done
    return 1
}
frames() {
    "$python" -m ptds export "$1" --to sqlite -o "$1.db" >export.log 2>&1
    /usr/bin/python3 -c 'import sqlite3, sys
for (name,) in sqlite3.connect(sys.argv[1]).execute("SELECT DISTINCT symbol FROM PTDS_FRAME WHERE symbol LIKE \"%script.py%\""):
    print(name)' "$1.db"
}
has_frames() { # TRACE HOW: each function that calls has one
    local function
    for function in take_memory copy_back_and_forth clear_first clear_second; do
        grep -q "$function (script.py$2" <<<"$(frames "$1")" || wrong "$1: $function has no frame: $(frames "$1")"
    done
}
case $("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') in
    3.1[2-4]) has_frames run.ptds ":[1-9]" ;; # by themselves
    *) [[ -z $(frames run.ptds) ]] || wrong "frames of a Python that is not read: $(frames run.ptds)" ;;
esac
if newest=$(newer_python); then
    "$python" -m pip install --quiet --no-index --target newer "$wheel"
    PYTHONPATH=$PWD/newer "$newest" -m ptds run --python-frames --trace frames.ptds -- scripts/script.py >out 2>&1 || true
    grep -q "scripts 0 True" out || wrong "with --python-frames: $(<out)"
    has_frames frames.ptds ")"
    PYTHONPATH=$PWD/newer "$newest" -m ptds run --trace plain.ptds -- scripts/script.py >out 2>&1 || true
    [[ $newest != *3.1[2-4]* ]] || has_frames plain.ptds ":[1-9]"
else
    echo "SKIPPED frames of Python functions: no Python 3.12 or later here"
fi
exit $status
