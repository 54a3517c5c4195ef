#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The checker's own cases; run by Bazel.
set -euo pipefail
exec python3 tests/kit/check_test.py -v
