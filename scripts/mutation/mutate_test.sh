#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The mutation run's own cases; run by Bazel.
set -euo pipefail
exec python3 scripts/mutation/mutate_test.py -v
