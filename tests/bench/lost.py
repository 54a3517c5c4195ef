# SPDX-License-Identifier: Apache-2.0
"""lost.py REPORT: from `ptds report --format json`, lines `name number`: calls counted, calls in detail, records not kept for
want of room, chunks of the oldest detail that PTDS_TRACE_LIMIT let be overwritten."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
totals, completeness = report["totals"], report["completeness"]
print("calls-counted", totals["calls"])
print("calls-in-detail", totals["recorded"])
print("records-lost", completeness["lost_records"])
print("chunks-overwritten", completeness["recycled_chunks"])
