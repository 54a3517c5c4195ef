#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a report says first of a whole run against what the run read: outcomes.py, a few programs of it. OUTCOMES_SEEDS=200 OUTCOMES_SHAKES=4 for
# a long run, OUTCOMES_FIRST_SEED for others (`bazel test --test_env=OUTCOMES_SEEDS=200 --test_timeout=3600 //tests/oracle:outcomes_test`).
# Run by Bazel.
set -euo pipefail
export OUTCOMES_SEEDS=${OUTCOMES_SEEDS:-12} OUTCOMES_SHAKES=${OUTCOMES_SHAKES:-2}
exec python3 tests/oracle/outcomes.py --runner tests/oracle/oracle_runner --shim interpose/libptds.so --ptds analysis/ptds \
    --driver tests/sim "$@"
