#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# floor_test.sh SHIM CUPTI AUDITOR COMMAND CHILD PLAIN: what leaves this machine needs no glibc newer than 2.17, exports nothing of the archives
# inside of it, and works here. PLAIN is a program that is not built so: the check must see that. Run by Bazel.
set -euo pipefail
shim=$1 cupti=$2 auditor=$3 command=$4 child=$5 plain=$6
status=0
wrong() {
    echo "$*"
    status=1
}

# A sanitizer's library is the machine's own.
if readelf -d "$command" "$shim" | grep -q 'NEEDED.*lib[a-z]*san\.'; then
    echo "SKIPPED: built with a sanitizer"
    exit 0
fi

newer=$(scripts/glibc/newer "$shim" "$cupti" "$auditor" "$command" "$child") || wrong "newer than 2.17:"$'\n'"$newer"
# On a machine with an old glibc, a plain program is fine, too.
if [[ $(getconf GNU_LIBC_VERSION) > "glibc 2.34" ]]; then
    newer=$(scripts/glibc/newer "$plain") && wrong "nothing is said of a program that is not built for old systems"
    grep -q '__libc_start_main 2.34$' <<<"$newer" || wrong "its start is not among: $newer"
fi
# Old systems have these in libraries of their own, which nothing else would load.
for library in libpthread.so.0 libdl.so.2; do
    readelf -d "$command" | grep -q "NEEDED.*\[$library\]" || wrong "the command does not name $library"
done
# The archives inside of the shim are its own: the program may have other versions of them.
! nm --dynamic --defined-only "$shim" | grep -E ' (ZSTD|LZ4|HUF|FSE|XXH)' || wrong "the shim exports functions of libzstd or liblz4"
! readelf -d "$command" | grep -E 'RPATH|RUNPATH' || wrong "the command looks for libraries in a folder of the build"

"$child" || wrong "the child, started as here"
# As an old system starts it: nobody runs the constructors that its own start-up object does not name.
/usr/bin/python3 - "$child" "$TEST_TMPDIR/old_start" <<'PYTHON'
import os, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
offset, size, count = *struct.unpack_from("<Q", data, 0x20), *struct.unpack_from("<HH", data, 0x36)
changed = 0
for header in range(offset, offset + size * count, size):
    kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", data, header)
    for entry in range(at, at + length, 16) if kind == 2 else ():  # PT_DYNAMIC
        if struct.unpack_from("<Q", data, entry)[0] == 27:  # DT_INIT_ARRAYSZ
            struct.pack_into("<Q", data, entry + 8, 0)
            changed += 1
assert changed == 1
with open(sys.argv[2], "wb") as out:
    out.write(data)
os.chmod(sys.argv[2], 0o755)
PYTHON
"$TEST_TMPDIR/old_start" || wrong "the child, started as before 2.34"

"$command" --version | grep -q '^ptds ' || wrong "the command does not start"
exit $status
