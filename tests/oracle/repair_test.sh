#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The waits that ptds names as a program's repair, put into random programs: repair_test.py. REPAIR_SEEDS=2000 for a long run,
# REPAIR_FIRST_SEED for others than CI's. Run by Bazel.
set -euo pipefail
exec python3 tests/oracle/repair_test.py tests/oracle/oracle_runner interpose/libptds.so tests/sim tests/analysis/repair_waits "$@"
