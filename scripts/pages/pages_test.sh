#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pages_test.sh PAGES: the checked-in pages are what the tables make. Run by Bazel.
set -euo pipefail
status=0
for page in api=interpose/api/API.md env=interpose/env/ENV.md format=interpose/trace/FORMAT.md policies=interpose/policy/POLICIES.md; do
    if ! diff -u "${page#*=}" <("$1" "${page%%=*}"); then
        echo "${page#*=} is not what the tables make: run scripts/pages/update" >&2
        status=1
    fi
done
exit $status
