#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# relation_test.sh: the simulated driver keeps just the order that tests/guard/legacy.h has: every program of up to four calls, and longer
# ones by chance. Run by Bazel.
set -euo pipefail
source tests/device/where.sh
use_simulator
"$(find_program guard/relation)" 4 500
