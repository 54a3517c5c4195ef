#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Traces replayed under other policies, against what is true of their programs: replay_test.py. Run by Bazel.
set -euo pipefail
exec python3 tests/oracle/replay_test.py tests/oracle/oracle_runner interpose/libptds.so tests/sim tests/analysis/replay "$@"
