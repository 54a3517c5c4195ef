#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What ptds says of programs against what is true of them: oracle.py. ORACLE_SEEDS=10000 for a long run, ORACLE_FIRST_SEED for
# others than CI's (`bazel test --test_env=ORACLE_SEEDS=10000 --test_timeout=7200 //tests/oracle:oracle_test`). Run by Bazel.
set -euo pipefail
exec python3 tests/oracle/oracle.py --runner tests/oracle/oracle_runner --shim interpose/libptds.so --ptds analysis/ptds \
    --driver tests/sim "$@" tests/oracle/found/*.txt
