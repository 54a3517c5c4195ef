# SPDX-License-Identifier: Apache-2.0
"""whatif_words.py FILE recorded|doubt|error|widths, or FILE holds POLICY OBSERVED_MS... -- MEASURED_MS...: of `ptds report --what-if`.

holds: by the medians of the runs; else within twice the standard error that these have, since runs of one program scatter.
"""

import json
import math
import statistics
import sys

try:
    with open(sys.argv[1], encoding="utf-8") as file:
        found = json.load(file)
except (OSError, ValueError):
    found = {"doubt": "no answer", "recorded_ns": 0}

# A process that the machine holds up for so long, whatever it does; that runs differ by a share is in the prediction.
NOISE_MS = 1.0

if sys.argv[2] == "recorded":
    print(found["recorded_ns"] / 1e6)
elif sys.argv[2] == "doubt":
    print(found["doubt"] or "none")
elif sys.argv[2] == "error":
    print(f"{100 * abs(found['replayed_ns'] / found['recorded_ns'] - 1):.1f}")
elif sys.argv[2] == "widths":
    print(*(f"{policy['most_ns'] / policy['least_ns']:.3f}" for policy in found["policies"].values() if policy["least_ns"]))
else:
    policy, split = sys.argv[3], sys.argv.index("--")
    runs = [[float(ms) for ms in some] for some in (sys.argv[4:split], sys.argv[split + 1:])]
    observed, measured = map(statistics.median, runs)
    # Of a median: 1.25 times that of a mean.
    errors = [1.25 * statistics.stdev(some) / math.sqrt(len(some)) / statistics.median(some) if len(some) > 1 else 0 for some in runs]
    scatter = 1 + 2 * math.hypot(*errors)
    least = found["recorded_ns"] / found["policies"][policy]["most_ns"]
    most = found["recorded_ns"] / found["policies"][policy]["least_ns"]
    gain = observed / measured if measured else 0
    held = least <= gain <= most
    held = held or observed / most - NOISE_MS <= measured <= observed / least + NOISE_MS
    near = least / scatter <= gain <= most * scatter
    print(f"{gain:.2f}x in {least:.2f} to {most:.2f} {'(held)' if held else '(scatters)' if near else '(MISSED)'}")
