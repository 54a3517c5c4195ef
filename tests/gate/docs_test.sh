#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs_test.sh: every command of these pages has only options that there are, and the workflows are YAML. Run by Bazel.
set -euo pipefail
# shellcheck source=tests/device/where.sh
source "$(dirname "${BASH_SOURCE[0]}")/../device/where.sh"
PTDS=$(find_command)
status=0 commands=0
while read -r command; do
    verb=$(cut -d' ' -f2 <<<"$command")
    help=$("$PTDS" "$verb" --help)
    commands=$((commands + 1))
    # What follows `--` is the program's; a pipe or a redirection ends the command.
    for option in $(sed 's/ -- .*//; s/ >>.*//' <<<"$command" | grep -o -- ' --[a-z-]*' || true); do
        grep -q -- "$option\b" <<<"$help" || { echo "$command: no $option"; status=1; }
    done
done < <(grep -oh 'ptds \(run\|check\|diff\|export\|report\) [^`]*' docs/{ci,launchers,containers}.md |
    sed 's/ --python-frames//') # is of python -m ptds
[[ $commands -ge 24 ]] || { echo "only $commands commands found"; status=1; }
/usr/bin/python3 - docs/ci.md <<'PYTHON' || status=1
import re, sys
try:
    import yaml
except ImportError:
    print("SKIPPED workflows: no YAML reader here (Debian: python3-yaml)")
    sys.exit(0)
blocks = re.findall(r"```yaml\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S)
assert len(blocks) == 2, "one for GitHub, one for GitLab"
github, gitlab = (yaml.safe_load(block) for block in blocks)
steps = github["jobs"]["ptds"]["steps"]
assert any("ptds check" in step.get("run", "") for step in steps), steps
assert gitlab["default-stream"]["artifacts"]["reports"]["junit"] == "check.xml"
PYTHON
exit $status
