#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The last lines of scripts/test; run by Bazel.
set -euo pipefail
exec python3 scripts/bazel/test_summary_test.py -v
