#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nvcc.sh TOOLKIT_FILE arguments...: runs the nvcc of the toolkit that this file belongs to. For the genrules of this folder.
set -euo pipefail

folder=$(dirname "$(readlink -f "$1")")
shift
while [[ $folder != / ]]; do
    if [[ -x $folder/bin/nvcc ]]; then
        exec "$folder/bin/nvcc" "$@"
    fi
    folder=$(dirname "$folder")
done
command -v nvcc >/dev/null || { echo "nvcc.sh: none in the CUDA toolkit's folder and none in PATH" >&2; exit 1; }
exec nvcc "$@"
