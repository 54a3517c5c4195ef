#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples_test.sh: what help, man page and pages tell to type, is typed (examples.py). Run by Bazel.
set -euo pipefail
source tests/device/where.sh

use_simulator
PTDS_LIBRARY=$(find_shim)
export PTDS_LIBRARY
command=$(find_command) program=$(find_program apps/overlap) here=$PWD
mkdir "$TEST_TMPDIR/examples"
cd "$TEST_TMPDIR/examples"
exec python3 "$here/tests/examples/examples.py" "$command" "$program" "$here"
