# SPDX-License-Identifier: Apache-2.0
"""The mutation run on a toy: a C file and tests that see some of it."""
import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutate  # noqa: E402
import project as projects  # noqa: E402
import rules  # noqa: E402
import switch  # noqa: E402

TOY = """\
/* a < b && c + 1 */
#define LIMIT(x) ((x) < 3 + 1)
#include <stdio.h>
extern const int table[];
const int table[] = {1, 2};
int seen, unseen;

int smaller(int left, int right)
{
    puts("1 < 2 && 3"); // left < right
    return left < right;
}

static void note(int what, const char *name)
{
    unseen = what;
    (void)name;
}

int sum(int count)
{
    int total = 0, i = 0;
    const char *name = "sum";
    while (i < count) {
        total += i;
        i += 1;
    }
    note(total, name);
    return total;
}

int nobody_calls(int count)
{
    goto end;
end:
    return count + 7;
}
"""

TEST = """\
int smaller(int, int), sum(int);
int main(void) { return !(smaller(1, 2) == 1 && smaller(2, 2) == 0 && smaller(3, 2) == 0 && sum(4) == 6 && sum(1) == 0); }
"""


class Toy(projects.Project):
    """Project, with cc in Bazel's place."""

    def __init__(self, tree):
        super().__init__(tree, tree, argparse.Namespace(jobs=2, timeout=1, slowest=10, longest=30, without="^$"))
        self.ran, self.swept, self.built = [], 0, 0

    def learn(self):
        self.outputs, self.root, self.bin = self.tree + "/", self.tree, self.tree
        self.tests = {"//tests:all": (["toy_test"], {}), "//tests:none": (["none_test"], {}), "//tests:broken": (["broken_test"], {})}
        self.files = {"//tests:all": ["tests/toy_test.c"]}
        self.compilers = {"toy/toy.c": ["cc", "-Wall", "-Wextra", "-Werror", "-MD", "-MF", "toy.d"]}

    def build(self):
        self.built += 1
        for name, main in (("toy", None), ("none", "int main(void) { return 0; }"), ("broken", "int main(void) { return 1; }")):
            folder = os.path.join(self.tree, name + "_test.runfiles", os.path.basename(self.tree))
            os.makedirs(folder, exist_ok=True)
            subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-O2", "-o", os.path.join(folder, name + "_test"), "-x", "c"] +
                           (["-"] if main else ["tests/toy_test.c", "toy/toy.c"]), cwd=self.tree, input=(main or "").encode(), check=True)
        return [self.tree]

    def run(self, number, tests):
        self.ran.append(tests)
        return super().run(number, tests)

    def sweep(self):
        self.swept += 1
        super().sweep()


class Rules(unittest.TestCase):
    def test_only_code_in_functions(self):
        found = rules.mutants("toy.c", TOY)
        lines = {mutant.line for mutant in found}
        self.assertEqual({10, 11, 16, 22, 24, 25, 26, 28, 29, 36}, lines)
        self.assertEqual([("dropped", 'puts("1 < 2 && 3")')], [(m.rule, m.before) for m in found if m.line == 10])

    def changes(self, statement):
        text = "int f(int a, int b)\n{\n    int z;\n    %s\n}\n" % statement
        return {rules.changed_line(mutant, text) for mutant in rules.mutants("x.c", text) if mutant.line == 4}

    def test_each_rule(self):
        self.assertEqual({"if (a <= b && z)", "if (a < b || z)"}, self.changes("if (a < b && z)"))
        self.assertEqual({"while (0) a->b = z;"}, self.changes("a->b = z;"))
        self.assertEqual({"while (0) f(b, a);", "f(a, b);"}, self.changes("f(b, a);"))
        self.assertEqual({"return (a - b) ? 0 : 0;", "return a + b;"}, self.changes("return a - b;"))
        self.assertEqual({"if (!a->b(z))"}, self.changes("if (a->b(z))"))
        self.assertEqual({"break;"}, self.changes("continue;"))
        self.assertEqual({"z = a >> 3;", "z = a << 4;", "while (0) z = a << 3;"}, self.changes("z = a << 3;"))
        self.assertEqual({"z = a != b;", "while (0) z = a == b;"}, self.changes("z = a == b;"))
        self.assertEqual({"a -= 7u;", "a += 8u;", "while (0) a += 7u;"}, self.changes("a += 7u;"))
        self.assertEqual(set(), self.changes("char text[20];"))
        self.assertEqual({"return 1;"}, self.changes("return 0;"))

    def test_nothing_that_changes_nothing(self):
        self.assertEqual({"return 0;"}, self.changes("return 1;"))
        self.assertEqual({"return -0;"}, self.changes("return -1;"))
        self.assertEqual({"return 3;"}, self.changes("return 2;"))
        self.assertEqual({"z = a ? -0 : 1;", "z = a ? -1 : 0;", "while (0) z = a ? -1 : 1;"}, self.changes("z = a ? -1 : 1;"))
        self.assertEqual({"if (memcmp(a, b, z) != 0)", "if (memcmp(a, b, z) == 1)"}, self.changes("if (memcmp(a, b, z) == 0)"))
        self.assertIn("if (strcmp(b, a) <= 0)", self.changes("if (strcmp(a, b) <= 0)"))
        self.assertEqual({"while (0) c = add_capped(a, b);"}, self.changes("c = add_capped(a, b);"))
        self.assertEqual({"b = __builtin_expect(a != 0, 1) ? c(0) : 1;", "b = __builtin_expect(a == 1, 1) ? c(0) : 1;",
                          "b = __builtin_expect(a == 0, 1) ? c(1) : 1;", "b = __builtin_expect(a == 0, 1) ? c(0) : 0;",
                          "while (0) b = __builtin_expect(a == 0, 1) ? c(0) : 1;"},
                         self.changes("b = __builtin_expect(a == 0, 1) ? c(0) : 1;"))
        self.assertEqual({"f(b, a);"}, self.changes("f(a, b);") - {"while (0) f(a, b);"})
        self.assertEqual(set(), self.changes("__atomic_thread_fence(__ATOMIC_ACQUIRE);"))

    def test_which_of_two_that_are_equal_is_larger_is_no_question(self):
        def asked(line):
            text = "int f(int a, int b)\n{\n    int z;\n    %s\n}\n" % line
            return any(mutant.before[0] in "<>" for mutant in rules.mutants("x.c", text))

        for line in ("z = a > b ? a : b;", "z = a->b < z ? z : a->b;", "f(a >= b ? b : a);", "if (a > b) b = a;", "if (a.b < 7) a.b = 7;",
                     "if (a != b) return a < b ? -z : z;", "return a != b ? (a > b ? -z : z) : z;", "f(z, a->b - z < b ? a->b - z : b);",
                     "z += a > 0 ? (size_t)a : 0;", "if (a + z > b) b = a + z;", "return a != b ? a < b : z;", "z = a > b ? a - b : 0;",
                     "f(z && a->b < z ? z - a->b : 0);"):
            self.assertFalse(asked(line), line)
        for line in ("z = a > b ? a : z;", "z = 1 + a > b ? a : b;", "z = a > b ? a : b + 1;", "if (a > b) b = z;",
                     "if (a != z) return a < b ? -z : z;", "z = a - b < z ? a + b : z;", "z = a > 1 ? (size_t)a : 0;",
                     "z = 1 + a > b ? a - b : 0;", "z = a > b ? a - b : 1;", "z = a > b ? a - z : 0;", "z = a > b ? a - b : 0.5;",
                     "z = a > b + z ? a - b + z : 0;"):
            self.assertTrue(asked(line), line)

    def test_nothing_that_could_hurt(self):
        self.assertEqual(set(), self.changes("if (a < b) unlink(z);"))
        self.assertEqual([], rules.mutants("x.c", "int f(int a)\n{\n    return a < 3;\n}\nint g(int b)\n{\n    return kill(b, 9);\n}\n"))


class Switch(unittest.TestCase):
    def test_a_header_is_included_twice(self):
        text = "#ifndef TOY_H\n#define TOY_H\n#include \"toy.h\"\nstatic inline int less(int a, int b)\n{\n    return a < b;\n}\n#endif\n"
        numbered = list(enumerate(rules.mutants("toy.h", text), 1))
        self.assertLess(0, len(numbered))
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "toy.h"), "w", encoding="utf-8") as file:
                file.write(switch.combined(text, numbered, folder))
            program = "#include \"toy.h\"\n#include \"toy.h\"\nint main(void) { return !less(1, 2); }\n"
            subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-I", folder, "-o", os.path.join(folder, "toy"), "-x", "c", "-"],
                           input=program.encode(), check=True)
            self.assertEqual(0, subprocess.run([os.path.join(folder, "toy")], check=False).returncode)


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.mkdir(os.path.join(self.folder.name, "toy"))
        os.mkdir(os.path.join(self.folder.name, "tests"))
        for name, text in (("toy/toy.c", TOY), ("tests/toy_test.c", TEST)):
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
                file.write(text)

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, **changes):
        options = dict(sample=0, seed=1, patience=15, budget=60, only="", folder=["toy"], fresh=False)
        options.update(changes)
        self.toy, said = Toy(self.folder.name), io.StringIO()
        with contextlib.redirect_stdout(said):
            survivors = mutate.mutate(argparse.Namespace(**options), self.toy, self.folder.name)
        with open(os.path.join(self.folder.name, "toy/toy.c"), "w", encoding="utf-8") as file:
            file.write(TOY)  # as copy_tree does
        return survivors, said.getvalue()

    def outcomes(self):
        with open(os.path.join(self.folder.name, "state.jsonl"), encoding="utf-8") as file:
            return {entry["changed"]: entry["outcome"] for entry in map(json.loads, file)}

    def test_what_is_noticed_and_what_survives(self):
        survivors, said = self.run_it()
        known = self.outcomes()
        self.assertEqual("noticed", known["return left <= right;"])
        self.assertEqual("noticed", known["while (i <= count) {"])
        self.assertEqual("noticed", known["while (0) total += i;"])
        self.assertEqual("survived", known["while (0) note(total, name);"])
        self.assertEqual("survived", known["while (0) unseen = what;"])
        self.assertEqual("timeout", known["while (0) i += 1;"])
        self.assertEqual("not compiled", known["note(name, total);"])
        self.assertIn("survived: toy/toy.c:16: dropped\n    unseen = what;\n -> while (0) unseen = what;", said)
        self.assertEqual("survived", known["return count - 7;"])
        self.assertIn("(no test comes through this function)", said)
        self.assertIn("left out: //tests:broken, fails as things are", said)
        self.assertEqual(1, self.toy.built, "all of them at once")
        self.assertEqual([["//tests:all"]] * len(self.toy.ran), self.toy.ran, "only who comes through the function")
        unseen = sum(outcome == "not compiled" or "count" in line and "return" in line for line, outcome in known.items())
        self.assertEqual(len(known) - unseen, len(self.toy.ran))
        self.assertLess(len(self.toy.ran), self.toy.swept)
        counts = [line.split() for line in said.splitlines() if line.startswith("all ")][0]
        self.assertEqual(len(survivors), int(counts[2]))
        self.assertEqual(sum(outcome == "timeout" for outcome in known.values()), int(counts[4]))
        self.assertEqual(sum(outcome == "not compiled" for outcome in known.values()), int(counts[3]))
        self.assertEqual(sum(outcome in ("noticed", "timeout") for outcome in known.values()), int(counts[1]))

    def test_a_header_must_stay_one_of_both_languages(self):
        kinds = "enum kind { FIRST };\nstatic inline enum kind of(enum kind kind)\n{\n    return %s;\n}\n"
        for after, broken in (("FIRST", set()), ("(enum kind)1", set()), ("1", {7})):
            before = kinds % "kind"
            with open(os.path.join(self.folder.name, "toy/toy.h"), "w", encoding="utf-8") as file:
                file.write(before)
            start = before.index("return kind") + len("return ")
            mutant = next(iter(rules.mutants("toy/toy.h", before)))._replace(start=start, before="kind", after=after)
            toy = Toy(self.folder.name)
            toy.learn()
            self.assertTrue(toy.compiles("toy/toy.h", rules.applied(mutant, before)), after)
            self.assertEqual(broken, toy.prepare([(7, mutant, before)], lambda words: None), after)

    def test_many_at_once_find_the_same(self):
        self.run_it()
        alone = self.outcomes()
        self.run_it(fresh=True, patience=0)
        self.assertEqual([], [tests for tests in self.toy.ran if tests], "none is asked of one mutant")
        self.assertEqual(alone, self.outcomes())

    def test_what_two_files_have_is_asked_at_once(self):
        functions = {1: "aaaaaaaa1", 2: "aaaaaaaa2", 3: "bbbbbbbb1", 4: "cccccccc1"}
        self.assertEqual([[1, 3, 4], [2]], mutate.groups([1, 2, 3, 4], functions))
        asked, self.toy = [], Toy(self.folder.name)
        self.toy.ask_of = lambda test, numbers, _: asked.append(numbers) or ("failed" if 3 in numbers else "passed")
        self.assertEqual({3: "failed"}, mutate.culprits(self.toy, "//tests:all", [1, 2, 3, 4]))
        self.assertEqual([[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]], asked)

    def test_a_sample_has_as_many_of_each_folder(self):
        mutants = [("key%d" % at, argparse.Namespace(file="few/a.c" if at < 5 else "many/a.c")) for at in range(100)]
        chosen = mutate.drawn(argparse.Namespace(seed=3, sample=8), mutants)
        self.assertEqual(4, sum(mutant.file == "few/a.c" for _, mutant in chosen))

    def test_the_seed_decides_and_it_goes_on(self):
        self.run_it(sample=5, budget=-1)
        self.assertEqual([], self.toy.ran)
        self.run_it(sample=5)
        first = self.outcomes()
        self.assertEqual(5, len(first))
        _, said = self.run_it(sample=5)
        self.assertEqual([], self.toy.ran, "all is known")
        self.assertEqual(first, self.outcomes())
        self.assertNotIn("were not tried", said)
        self.run_it(sample=5, seed=2, fresh=True)
        self.assertNotEqual(set(first), set(self.outcomes()))

    def test_a_survivor_is_tried_again(self):
        self.run_it()
        with open(os.path.join(self.folder.name, "tests/toy_test.c"), "a", encoding="utf-8") as file:
            file.write("extern int unseen;\n__attribute__((destructor)) static void look(void) "
                       "{ sum(4); if (unseen != 6) __builtin_trap(); }\n")
        self.run_it()
        self.assertLess(0, len(self.toy.ran))
        self.assertGreater(10, len(self.toy.ran), "only survivors")
        self.assertEqual("noticed", self.outcomes()["while (0) unseen = what;"])
        self.assertEqual("survived", self.outcomes()['while (0) puts("1 < 2 && 3"); // left < right'])
        self.run_it()
        self.assertEqual([], [tests for tests in self.toy.ran if tests], "nothing changed since")

    def test_what_was_learned_of_tests_is_kept(self):
        self.run_it()
        looked, projects.Project.look = projects.Project.look, lambda *_: self.fail("asked twice")
        try:
            self.run_it(fresh=True, sample=5)
        finally:
            projects.Project.look = looked

    def test_the_build_is_left_unchanged(self):
        self.run_it()
        self.toy.choose(0)
        self.assertEqual("passed", self.toy.one("//tests:all", 10))
        self.assertLess(0, len(self.toy.places))

    def test_the_copy_follows_the_checkout(self):
        root = os.path.join(self.folder.name, "root")
        tree = os.path.join(self.folder.name, "tree")
        os.mkdir(root)
        os.mkdir(tree)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        for place, name, text in ((root, "a", "new"), (tree, "a", "old"), (root, "b", "same"), (tree, "gone", "x")):
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.mkdir(os.path.join(root, ".cuda"))
        projects.copy_tree(root, tree)
        projects.copy_tree(root, tree)
        self.assertEqual([".cuda", "a", "b"], sorted(os.listdir(tree)))
        self.assertTrue(os.path.samefile(os.path.join(root, ".cuda"), os.path.join(tree, ".cuda")))
        with open(os.path.join(tree, "a"), encoding="utf-8") as file:
            self.assertEqual("new", file.read())


if __name__ == "__main__":
    unittest.main()
