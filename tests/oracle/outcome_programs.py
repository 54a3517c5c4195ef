# SPDX-License-Identifier: Apache-2.0
"""The programs of outcomes.py: each says what it read, and what it must read.

  lines   a program in the language of programs.py, by seed: every second one of generate.py, every second one of loose.py
  others  programs of tests/apps and tests/kit, which check themselves; they must print what they print without the shim
"""

import os
import subprocess

import generate
import judge
import loose
import programs
from relation import close, default_stream_of, order

HANG_S = 60
OVERTAKES = {"SIM_SMALL_COPIES": "overtake"}
# Without R-c and R-d, which are right where a race ends wrong.
KIT = ("R_a", "R_b", "R_e", "R_f", "R_j", "R_k", "R_l", "R_q", "S1", "S4", "S9", "S19")
KIT_SETTINGS = {"CUDA_DEVICE_MAX_CONNECTIONS": "32", "CUDA_MODULE_LOADING": "EAGER"}


def program_of(seed):
    return generate.program_of(seed) if seed % 2 else loose.program_of(seed // 2)


class Lines:
    """A program of lines; `shorter`: instead of the seed's."""

    def __init__(self, seed, shorter=None):
        self.name, self.program = str(seed), shorter or program_of(seed)
        self.kind = "determined" if seed % 2 else loose.KINDS[seed // 2 % len(loose.KINDS)]
        self.want = programs.expected(self.program)

    def differs(self, tools, folder, settings, trace):
        path = os.path.join(folder, "%s.%s" % (self.name, settings["PTDS_POLICY"]))
        with open(path, "w", encoding="ascii") as file:
            file.write(self.program.text())
        return tools.run(path, {**settings, **OVERTAKES}, trace)[0] != self.want

    def is_ordered(self, policy):
        """Whether no line reads, or has read, what another line writes without an order between them, under the policy."""
        if policy in ("observe", "per-thread") and judge.Truth(self.program).may_overtake(policy):
            return False
        before = close(order(self.program, default_stream_of(policy)))
        for b, op in enumerate(self.program.ops):
            for a, other in enumerate(self.program.ops[:b]):
                if not before[b] >> a & 1 and any(one.writes != two.writes and programs.overlap(one, two)
                                                  for one in other.accesses for two in op.accesses):
                    return False
        return True


class Other:
    """A program of tests/. Legacy order determines what it reads, so policies that keep it must not be called wrong."""

    def __init__(self, tests, kind, *command, **settings):
        self.name, self.kind = " ".join(command), kind
        self.command, self.settings, self.want = [os.path.join(tests, command[0])] + list(command[1:]), settings, None

    def _printed(self, tools, settings):
        environment = dict(os.environ, LD_LIBRARY_PATH=tools.driver, **self.settings, **settings)
        done = subprocess.run(self.command, env=environment, capture_output=True, text=True, timeout=HANG_S, check=False)
        return [line for line in done.stdout.splitlines() if not line.startswith("time_ms")]

    def differs(self, tools, _, settings, trace):
        self.want = self.want or self._printed(tools, {})
        return self._printed(tools, {"LD_PRELOAD": tools.shim, "PTDS_REPORT": "off", "PTDS_TRACE": trace, **settings}) != self.want

    def is_ordered(self, policy):
        return policy != "per-thread"


def others(tests):
    """Programs of `tests`, the folder where they are built."""
    out = [Other(tests, "turns", "apps/random/random_turns", str(seed), "1") for seed in range(1, 21)]
    out += [Other(tests, "pieces", "apps/random_order", str(seed), "1") for seed in range(1, 11)]
    out += [Other(tests, "kit", "kit/kit", case, **KIT_SETTINGS) for case in KIT]
    out += [Other(tests, "lucky", "apps/lucky", how) for how in ("threads", "ordered")]
    return out + [Other(tests, "apps", "apps/" + name) for name in ("mixed_threads", "thread_handover", "own_allocator")]
