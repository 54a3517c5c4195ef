# SPDX-License-Identifier: Apache-2.0
"""Kinds of wrong verdicts that are known and not mended yet. The test fails on any other, and on one here that no longer comes:
so this table only gets shorter. Each is shown by programs in found/."""

SEEDS = 200  # fewer may not show each of them

KINDS = {}
