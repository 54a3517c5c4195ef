# SPDX-License-Identifier: Apache-2.0
"""Many mutants in one build: each function that has some gets a copy of its body for each, and a number says which copy runs.

Called by project.py. The number stands behind a mark in every program and library that was built from such a file, and is
written there, into the file: no environment, which tests clear, and nothing at start, before which the shim is called.
"""
import errno
import hashlib
import mmap
import os
import re
import struct

import rules

MARK = (0x9d1f5c27, 0xe3b8460a, 0x71c2fd94)
REACHED = 0xffffffff  # in the number's place: run what is there unchanged, and leave a file for each function that runs

# What a compiler warns of where it optimizes, which a mark of a system's header does not silence.
LATE = "".join('#pragma GCC diagnostic ignored "-W%s"\n' % word for word in (
    "pragmas", "maybe-uninitialized", "uninitialized", "array-bounds", "stringop-overflow", "stringop-overread",
    "stringop-truncation", "restrict", "return-type", "nonnull", "format-truncation", "format-overflow", "free-nonheap-object",
    "attribute-warning", "aggressive-loop-optimizations", "dangling-pointer", "use-after-free", "infinite-recursion",
    "alloc-size-larger-than="))

# A header may be included more than once, and its own guard comes too late.
PREAMBLE = LATE + """\
#ifndef %(name)s_stands
#define %(name)s_stands
# 1 "mutants" 3
static const volatile unsigned %(name)s[5] = {%(mark)s, 0, 0x%(file)su};
static inline __attribute__((unused, always_inline)) void %(name)s_reached(const char *path, volatile char *before)
{
#ifdef __x86_64__
    if (%(name)s[3] == 0xffffffffu && !*before) { /* mknod: no descriptor, no errno, no function of libc */
        long result = 133;
        *before = 1;
        __asm__ volatile("syscall" : "+a"(result) : "D"(path), "S"(0100600L), "d"(0L) : "rcx", "r11", "memory");
    }
#endif
}
#endif
# 1 "%(path)s" 3
"""


def name_of(path):
    return "ptds_mutant_" + file_of(path)


def file_of(path):
    return hashlib.sha256(path.encode()).hexdigest()[:8]


def function_of(mutant, text):
    """Names the function that a mutant is in, as long as it stays as it is. Begins with file_of."""
    for start, end in rules.bodies(rules.masked(text)):
        if start <= mutant.start < end:
            own = text[text.rfind("\n\n", 0, start) + 1:end]
            return file_of(mutant.file) + hashlib.sha256(own.encode()).hexdigest()[:8]
    raise ValueError(mutant)


def body(text, start, end):
    """A body that may stand in one function more than once."""
    labels = [label for label in re.findall(r"^[ \t]*([A-Za-z_]\w*):(?!:)", rules.masked(text)[start:end], re.M) if label != "default"]
    return "".join(" __label__ %s;" % label for label in labels) + text[start:end]


def combined(text, numbered, reached):
    """A file with all its mutants, [(number, mutant)]. `reached` is the folder for what REACHED leaves."""
    path = numbered[0][1].file
    name, out, last = name_of(path), [], 0
    out.append(PREAMBLE % {"name": name, "path": path, "file": file_of(path), "mark": ", ".join("0x%xu" % word for word in MARK)})
    for start, end in rules.bodies(rules.masked(text)):
        mine = [(number, mutant) for number, mutant in numbered if start <= mutant.start < end]
        if not mine:
            continue
        out.append(text[last:start])
        out.append("\nstatic volatile char ptds_before; %s_reached(\"%s/%s\", &ptds_before);\n" % (
            name, reached, function_of(mine[0][1], text)))
        for number, mutant in mine:
            longer = len(mutant.after) - len(mutant.before)
            out.append("if (%s[3] == %du) {%s\n} else " % (name, number, body(rules.applied(mutant, text), start, end + longer)))
        out.append("{%s\n}" % body(text, start, end))
        last = end
    out.append(text[last:])
    return "".join(out)


def places(folders):
    """[(file, offset, file_of its source)] of the numbers in everything that was built below some folders."""
    mark, found, seen = struct.pack("<3I", *MARK), [], set()
    for folder in folders:
        for parent, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(parent, name)
                if os.path.islink(path) or name.endswith((".o", ".a", ".d", ".params")) or os.path.getsize(path) < 64:
                    continue
                if os.stat(path).st_ino in seen:
                    continue
                with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    if data[:4] != b"\x7fELF":
                        continue
                    seen.add(os.stat(path).st_ino)
                    at = data.find(mark)
                    while at >= 0:
                        source, = struct.unpack_from("<I", data, at + len(mark) + 4)
                        found.append((path, at + len(mark), "%08x" % source))
                        at = data.find(mark, at + 1)
    return found


def choose(found, number_of):
    """Writes there what number_of(file_of a source) says. Returns a file that is in the way, since it still runs, or None."""
    for path in {place[0] for place in found}:
        os.chmod(path, 0o755)
        try:
            with open(path, "r+b") as file:
                for _, offset, source in [place for place in found if place[0] == path]:
                    file.seek(offset)
                    file.write(struct.pack("<I", number_of(source)))
        except OSError as error:
            if error.errno != errno.ETXTBSY:
                raise
            return path
        finally:
            os.chmod(path, 0o555)
    return None
