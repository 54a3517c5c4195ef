#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# enable_test.sh COMMAND SHIM CUPTI AUDITOR: makes the wheel, installs it into an environment, and runs enable_test.py there: under the
# system's Python, and under the oldest and the newest other one from 3.8 on that is here. Run by Bazel.
set -euo pipefail
files=("${@/#/$PWD/}")
source=$PWD work=$TEST_TMPDIR status=0 tried=0
export LD_LIBRARY_PATH=$PWD/tests/sim HOME=$work PIP_DISABLE_PIP_VERSION_CHECK=1
unset LD_PRELOAD "${!PTDS_@}"

checkout=$(dirname "$(realpath README.md)")
mkdir "$work/wheel"
wheel=$(cd "$checkout" && /usr/bin/python3 scripts/python/make_wheel.py "$work/wheel" 1.2.3 "${files[@]}")
# shellcheck source=tests/device/where.sh
source tests/device/where.sh
if is_sanitized "${files[1]}"; then
    echo "SKIPPED enable: a shim with a sanitizer cannot be preloaded into Python"
    exit 0
fi

pythons() {
    local found others=()
    for found in "$(getent passwd "$(id -u)" | cut -d: -f6)"/.pyenv/versions/3.{8,9,1[0-9]}*/bin/python3 /usr/local/bin/python3.1[0-9]{,t}; do
        [[ ! -x $found ]] || others+=("$found")
    done
    echo /usr/bin/python3
    [[ ${#others[@]} == 0 ]] || printf '%s\n' "${others[0]}" "${others[-1]}" | uniq
}

for python in $(pythons); do
    environment=$work/environment-$((tried++))
    if ! "$python" -m venv "$environment" >"$work/venv.log" 2>&1; then
        echo "SKIPPED $python: it makes no environment: $(tail -1 "$work/venv.log")"
        continue
    fi
    "$environment/bin/python" -m pip install --quiet --no-index "$wheel"
    mkdir "$work/$tried"
    (cd "$work/$tried" && "$environment/bin/python" -V && /usr/bin/python3 "$source/tests/wheel/enable_test.py" \
        "$environment" "$source/tests/wheel/script.py") || status=1
done
exit $status
