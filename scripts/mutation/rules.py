# SPDX-License-Identifier: Apache-2.0
"""What a mutation may change in a C file, and where; called by mutate.py.

Only code inside functions is changed: never a comment, a string, a preprocessor line or a table. What a mutant could hurt
outside its scratch copy (it deletes, it kills) is left alone, whole files of it.
"""
import collections
import re

Mutant = collections.namedtuple("Mutant", "file line rule before after text start end")

# A mutant of these could delete or kill what is not the test's own.
DANGEROUS_FILE = re.compile(r"\b(nftw|kill|killpg|fork|posix_spawnp?)\s*\(")
DANGEROUS_LINE = re.compile(r"\b(unlink|unlinkat|rename|remove|rmdir|truncate|ftruncate|chmod|fchmod|abort|_exit)\s*\(")

NAME = r"[A-Za-z_]\w*"
PLACE = NAME + r"(?:(?:->|\.)" + NAME + r"|\[" + NAME + r"\])*"
NOT_CALLS = {"if", "while", "for", "switch", "return", "sizeof", "do", "else", "case", "defined"}

# rule, what is looked for, what it becomes. Group 1 is what is replaced.
TOKENS = [
    ("comparison", r"(?<![<>=!\-])(<)(?![<=])", ["<="]),
    ("comparison", r"(?<![<])(<=)(?!=)", ["<"]),
    ("comparison", r"(?<![<>=!\-])(>)(?![>=])", [">="]),
    ("comparison", r"(?<![>\-])(>=)(?!=)", [">"]),
    ("comparison", r"(==)", ["!="]),
    ("comparison", r"(!=)", ["=="]),
    ("logic", r"(&&)", ["||"]),
    ("logic", r"(\|\|)", ["&&"]),
    ("logic", r"(!)(?=[\w(])", [""]),
    ("arithmetic", r"(?<=[\w)\]] )(\+)(?= )", ["-"]),
    ("arithmetic", r"(?<=[\w)\]] )(-)(?= )", ["+"]),
    ("arithmetic", r"(\+=)", ["-="]),
    ("arithmetic", r"(-=)", ["+="]),
    ("bits", r"(?<=[\w)\]] )(&)(?= )", ["|"]),
    ("bits", r"(?<=[\w)\]] )(\|)(?= )", ["&"]),
    ("bits", r"(\|=)", ["="]),
    ("bits", r"(<<)(?!=)", [">>"]),
    ("bits", r"(>>)(?!=)", ["<<"]),
    ("jump", r"\b(continue)(?=;)", ["break"]),
]
CONSTANT = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.])")
ARRAY = re.compile(r"\n[ \t]*(?:static |const )*(?:char|u?int\w*|unsigned|struct " + NAME + r")(?: char)? " + NAME + r"\[[^\]]*$")
RETURN = re.compile(r"\breturn\s+([^;]+);")
CONDITION = re.compile(r"\bif \((" + PLACE + r"(?:\([^()]*\))?)\)")
STATEMENT = re.compile(r"(?<=[;{})])(\s+)(\(void\)\s*)?((?:" + NAME + r")\s*\([^;{}]*\)|" + r"\*?" + PLACE + r"\s*[-+|&]?=[^;{}=][^;{}]*|" +
                       PLACE + r"(?:\+\+|--));")
CALL = re.compile(r"\b(" + NAME + r")\(")

# What is asked of a call only by its truth or its sign, so that 2 in place of 1 is the same.
TRUTH = re.compile(r"(?:\breturn|[?:]) -?1(?=;| :)")
# Whether two things are equal does not depend on which comes first.
COMPARES = {"memcmp", "strcmp", "strncmp", "strcasecmp", "strncasecmp"}
EQUALITY = re.compile(r"\s*[!=]= 0\b")
# The larger or smaller of two, which of two that differ is larger, and what one is beyond the other, or nothing: whether they
# may be equal there makes no difference.
TERM = r"(?:" + PLACE + r"|\d+)"
SUM = TERM + r"(?: [-+*/] " + TERM + r")*"
ONE, OTHER = r"(?P<one>" + SUM + r")", r"(?P<other>" + SUM + r")"
CAST = r"(?:\(\w+\))?"
NEVER_EQUAL = [re.compile(pattern) for pattern in (
    r"(?:[(,=?:] ?|\breturn )" + ONE + r" (?P<at>[<>]=?) " + OTHER + r" \? (?:" + CAST +
    r"(?P=one) : " + CAST + r"(?P=other)|" + CAST + r"(?P=other) : " + CAST + r"(?P=one))(?=[;,)])",
    r"\bif \(" + ONE + r" (?P<at>[<>]=?) " + OTHER + r"\)\s*(?:(?P=one) = (?P=other)|(?P=other) = (?P=one));",
    r"\bif \(" + ONE + r" != " + OTHER + r"\)\s*return (?P=one) (?P<at>[<>]=?) (?P=other) \?",
    r"(?:[(,=?:] ?|\breturn )" + ONE + r" != " + OTHER + r" \? \(?(?P=one) (?P<at>[<>]=?) (?P=other) [?:]",
    r"(?:[(,=?:&] ?|\breturn )(?P<one>" + TERM + r") (?P<at>[<>]=?) (?P<other>" + TERM +
    r") \? (?:(?P=one) - (?P=other)|(?P=other) - (?P=one)) : 0(?![\w.])")]
# The same, whichever of their two arguments comes first.
COMMUTES = {"add_capped", "larger"}
# Only what is likely.
LIKELY = re.compile(r"\b__builtin_expect\(")
# The processors on which the tests run order memory by themselves.
FENCE = "__atomic_thread_fence"


def masked(text):
    """The text with everything that is not code as blanks: same length, same lines."""
    out = list(text)

    def blank(start, end):
        for index in range(start, end):
            if out[index] != "\n":
                out[index] = " "

    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*',
                         re.S | re.M)
    for found in pattern.finditer(text):
        if found.group()[0] in "\"'":
            blank(found.start() + 1, found.end() - 1)
        else:
            blank(found.start(), found.end())
    return "".join(out)


def bodies(code):
    """Yields (start, end) of each function's body: a brace in column one after a bracket's end."""
    for found in re.finditer(r"^[A-Za-z_][^;{}=]*\)\s*\{", code, re.M):
        start, depth = found.end(), 1
        for index in range(start, len(code)):
            depth += {"{": 1, "}": -1}.get(code[index], 0)
            if depth == 0:
                yield start, index
                break


def closing(code, opening):
    depth = 0
    for index in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[index], 0)
        if depth == 0:
            return index
    return -1


def arguments(code, opening):
    """(start, end) of each argument of the call that opens here, or nothing."""
    end = closing(code, opening)
    if end < 0:
        return []
    parts, depth, start = [], 0, opening + 1
    for index in range(opening + 1, end):
        depth += {"(": 1, ")": -1, "{": 1, "}": -1, "[": 1, "]": -1}.get(code[index], 0)
        if code[index] == "," and depth == 0:
            parts.append((start, index))
            start = index + 1
    parts.append((start, end))
    return parts


def swaps(code, start, end):
    for call in CALL.finditer(code, start, end):
        if call.group(1) in NOT_CALLS | COMMUTES:
            continue
        parts = arguments(code, call.end() - 1)
        if call.group(1) in COMPARES and EQUALITY.match(code, closing(code, call.end() - 1) + 1):
            continue
        for left, right in zip(parts, parts[1:]):
            one, two = code[slice(*left)].strip(), code[slice(*right)].strip()
            if one != two and re.fullmatch(PLACE, one) and re.fullmatch(PLACE, two):
                yield "swap", left[0], right[1], lambda text, one=one, two=two: text.replace(one, "\0", 1)[::-1].replace(
                    two[::-1], one[::-1], 1)[::-1].replace("\0", two, 1)
                break


def sites(code, start, end):
    """Yields (rule, start, end, what the text there becomes)."""
    same = {found.start("at") for pattern in NEVER_EQUAL for found in pattern.finditer(code, start, end)}
    for rule, pattern, replacements in TOKENS:
        for found in re.finditer(pattern, code[start:end]):
            if start + found.start(1) in same:
                continue
            for replacement in replacements:
                yield rule, start + found.start(1), start + found.end(1), lambda _, new=replacement: new
    truths = {found.end() - 1 for found in TRUTH.finditer(code, start, end)}
    likely = {arguments(code, found.end() - 1)[1][0] + 1 for found in LIKELY.finditer(code, start, end)}
    for found in CONSTANT.finditer(code, start, end):
        if found.start() in likely or ARRAY.search(code, code.rfind("\n", 0, found.start()), found.start()):
            continue
        number = int(found.group(1), 0) if found.group(1)[:1] != "0" or found.group(1)[:2] in ("0x", "0X") or \
            found.group(1) == "0" else int(found.group(1), 8)
        new = 0 if found.start() in truths else number + 1
        yield "constant", found.start(), found.end(), lambda _, new=str(new) + found.group(2): new
    for found in RETURN.finditer(code, start, end):
        if not re.fullmatch(r"\s*(0|NULL|false|true|-?\d+)\s*", found.group(1)):
            yield "return", found.start(1), found.end(1), lambda text: "(%s) ? 0 : 0" % text
    for found in CONDITION.finditer(code, start, end):
        yield "condition", found.start(1), found.end(1), lambda text: "!" + text
    for found in STATEMENT.finditer(code, start, end):
        first = re.match(NAME, found.group(3))
        if not (first and (first.group() in NOT_CALLS or first.group() == FENCE)):
            yield "dropped", found.start(3), found.end(3), lambda text: "while (0) " + text
    yield from swaps(code, start, end)


def mutants(path, text):
    """All mutants of a file, in its order."""
    code = masked(text)
    if DANGEROUS_FILE.search(code):
        return []
    starts = [0] + [found.end() for found in re.finditer("\n", text)]
    found, line_of = [], lambda at: text.count("\n", 0, at) + 1
    for start, end in bodies(code):
        for rule, first, last, change in sites(code, start, end):
            before = text[first:last]
            after = change(before)
            line = line_of(first)
            whole = text[starts[line - 1]:text.find("\n", last)]
            if after == before or DANGEROUS_LINE.search("\n".join(text.split("\n")[max(0, line - 3):line + 2])):
                continue
            found.append(Mutant(path, line, rule, before, after, " ".join(whole.split()), first, last))
    return sorted(set(found), key=lambda mutant: (mutant.start, mutant.end, mutant.rule, mutant.after))


def applied(mutant, text):
    return text[:mutant.start] + mutant.after + text[mutant.end:]


def changed_line(mutant, text):
    """The line as the mutant has it, on one line."""
    whole = applied(mutant, text)
    start = whole.rfind("\n", 0, mutant.start) + 1
    return " ".join(whole[start:whole.find("\n", mutant.start + len(mutant.after))].split())
