#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
echo "coverage reports need a released Bazel" >&2
exit 1
