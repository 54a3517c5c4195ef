# SPDX-License-Identifier: Apache-2.0
"""The scratch copy, its Bazel and its tests: what a mutation run builds and asks; called by mutate.py. The checkout is only read.

All mutants are built at once (switch.py), and the tests are run as Bazel would run them, but by this file: to build and to start
Bazel for each mutant took most of an hour. A mutant is asked only of the tests that come through its function.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree

import rules
import switch

# What warns only that code is odd would hide a mutant from the tests; what does not fit is an error.
ODD = ["-Wno-" + word for word in (
    "parentheses", "unused-parameter", "unused-variable", "unused-function", "unused-but-set-variable", "type-limits",
    "int-in-bool-context", "maybe-uninitialized", "empty-body", "misleading-indentation", "unused-value", "shadow",
    "sign-compare", "bool-compare", "logical-not-parentheses", "address", "tautological-compare", "extra")]


def copy_tree(root, tree):
    """Makes the copy what the checkout is, and touches only files that differ."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                            stdout=subprocess.PIPE).stdout.decode().split("\0")
    wanted = {name for name in listed if name and os.path.isfile(os.path.join(root, name))}
    if os.path.exists(os.path.join(root, "user.bazelrc")):
        wanted.add("user.bazelrc")
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.relpath(path, tree) not in wanted:
                os.unlink(path)
    for name in wanted:
        source, target = os.path.join(root, name), os.path.join(tree, name)
        with open(source, "rb") as file:
            data = file.read()
        if os.path.exists(target):
            with open(target, "rb") as file:
                if file.read() == data:
                    continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)
    headers, link = os.path.join(os.path.abspath(root), ".cuda"), os.path.join(tree, ".cuda")
    if os.path.isdir(headers) and not os.path.lexists(link):  # by scripts/setup, which does not know of the copy
        os.symlink(headers, link)



def slow_ones(tests, slowest):
    """Those that took too long to be looked at again: they are taken to come through any function."""
    return {test: [outcome, seconds, None, digest] for test, (outcome, seconds, _, digest) in tests.items()
            if outcome == "passed" and seconds > slowest}


class Project:
    """Bazel in the scratch copy."""

    def __init__(self, tree, scratch, options):
        self.tree, self.scratch, self.jobs, self.timeout = tree, scratch, options.jobs, options.timeout
        self.slowest, self.longest = options.slowest, options.longest
        self.without = re.compile(options.without)
        self.bazel = os.environ.get("BAZEL", "bazel")
        self.reached = os.path.join(scratch, "reached")
        self.seconds, self.sees, self.left_out, self.asked, self.digests = {}, {}, {}, set(), {}
        self.tests, self.files, self.compilers, self.original, self.places, self.functions = {}, {}, {}, {}, [], {}
        self.outputs = self.root = self.bin = self.running = None

    # Bazel

    def ask(self, *words):
        ran = subprocess.run([self.bazel, *words], cwd=self.tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        if ran.returncode != 0:
            raise SystemExit("\n".join(ran.stderr.splitlines()[-20:]))
        return ran.stdout

    def learn(self):
        """How each test is started, and how each file is compiled."""
        where = dict(line.split(": ", 1) for line in self.ask("info", "output_base", "execution_root", "bazel-bin").splitlines())
        self.outputs, self.root, self.bin = where["output_base"] + "/", where["execution_root"], where["bazel-bin"]
        told = json.loads(self.ask("aquery", "--output=jsonproto", "mnemonic('TestRunner|CppCompile', //...)"))
        labels = {target["id"]: target["label"] for target in told["targets"]}
        for action in told["actions"]:
            words = action["arguments"]
            label = labels[action["targetId"]]
            if action["mnemonic"] == "TestRunner":
                if not self.without.search(label):
                    self.tests[label] = (words[1:], {})
            elif words[words.index("-c") + 1].endswith(".c"):
                at = words.index("-c")
                self.compilers.setdefault(words[at + 1], words[:at])
        inputs, rules_told = {}, list(ElementTree.fromstring(self.ask("query", "--output=xml", "//tests/...")).iter("rule"))
        for rule in rules_told:
            inputs[rule.get("name")] = [one.get("name") for one in rule.iter("rule-input")]
        for rule in rules_told:
            self.files[rule.get("name")] = self.own_files(rule.get("name"), inputs)
            for pair in rule.findall("dict[@name='env']/pair"):
                if rule.get("name") in self.tests:
                    self.tests[rule.get("name")][1].update([[string.get("value") for string in pair]])

    def own_files(self, test, inputs):
        """The files that a test is made of, and the programs that it runs, as far as they lie below tests/."""
        seen, left = {test}, [test]
        while left:
            more = {label for label in inputs.get(left.pop(), []) if label.startswith("//tests/")} - seen
            seen |= more
            left += more
        names = sorted(label.strip("/").replace(":", "/") for label in seen)
        return [name for name in names if os.path.isfile(os.path.join(self.tree, name))]

    def build(self):
        names = os.path.join(self.scratch, "targets")
        with open(names, "w", encoding="utf-8") as file:
            file.write("\n".join(sorted(self.tests)))
        # Outputs of mutants are not for the disk cache, which all checkouts share.
        self.ask("build", "--jobs=%d" % self.jobs, "--noshow_progress", "--show_result=0", "--color=no",
                 "--noremote_upload_local_results", "--target_pattern_file=" + names)
        return [os.path.join(self.root, "bazel-out")]

    def compiles(self, path, text, language="c"):
        """Whether a file does with that text. A header is tried with the options of a neighbour."""
        alike = max(self.compilers, key=lambda other: (other == path, len(os.path.commonprefix([other, path]))))
        words = [word for word in self.compilers[alike] if not word.startswith("-frandom-seed")]
        words = [word for at, word in enumerate(words) if "-MF" not in words[max(0, at - 1):at + 1]]
        words = [word for word in words if language == "c" or not word.startswith(("-std=", "-W"))]
        return subprocess.run(words + ODD + ["-fsyntax-only", "-iquote", os.path.dirname(path), "-x", language, "-"],
                              input=text.encode(), cwd=self.root, stderr=subprocess.DEVNULL).returncode == 0

    # Mutants

    def write(self, path, text):
        with open(os.path.join(self.tree, path), "w", encoding="utf-8") as file:
            file.write(text)

    def prepare(self, changes, say):
        """Builds [(number, mutant, text of its file)]. Returns the numbers of those that do not compile."""
        if not self.tests:
            self.learn()
        # In a new copy nothing compiles: links to the sources and generated headers come with the first build.
        if not all(self.compiles(path, text) for path, text in {mutant.file: text for _, mutant, text in changes}.items()):
            self.build()
        # Tests in C++ include some headers, and that language takes less.
        shared = {path for path, text in {mutant.file: text for _, mutant, text in changes}.items()
                  if path.endswith(".h") and self.compiles(path, text, "c++")}
        broken = set()
        for number, mutant, text in changes:
            changed = rules.applied(mutant, text)
            if not self.compiles(mutant.file, changed) or (mutant.file in shared and not self.compiles(mutant.file, changed, "c++")):
                broken.add(number)
        texts, numbered = {}, {}
        for number, mutant, text in changes:
            if number not in broken:
                texts[mutant.file] = text
                numbered.setdefault(mutant.file, []).append((number, mutant))
        for path in set(self.original) - set(texts):
            self.write(path, self.original.pop(path))
        for path, text in texts.items():
            self.original[path] = text
            self.write(path, switch.combined(text, numbered[path], self.reached))
        say("%d mutants of %d files: building..." % (len(changes) - len(broken), len(texts)))
        self.places, self.running = switch.places(self.build()), None
        self.functions = {number: switch.function_of(mutant, text) for number, mutant, text in changes if number not in broken}
        self.baseline(say)
        return broken

    def baseline(self, say):
        """What passes as things are, how long each takes, and which functions it comes through. Kept for when the run goes on."""
        kept, wanted = os.path.join(self.scratch, "baseline.json"), set(self.functions.values())
        self.asked, self.digests = wanted, {test: self.digest(test) for test in self.tests}
        known = {"asked": [], "tests": {}}
        if os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                known = json.load(file)
        if {name[:8] for name in wanted} - {name[:8] for name in known["asked"]}:
            known = {"asked": sorted(wanted), "tests": slow_ones(known["tests"], self.slowest)}
        self.asked = set(known["asked"])
        missing = [test for test in sorted(self.tests) if known["tests"].get(test, [None])[-1] != self.digests[test]]
        if missing:
            say("%d tests as things are..." % len(missing))
        for test in missing:
            known["tests"][test] = list(self.look(test)) + [self.digests[test]]
            with open(kept + ".new", "w", encoding="utf-8") as file:
                json.dump(known, file, indent=0)
            os.rename(kept + ".new", kept)
        for test in self.tests:
            outcome, self.seconds[test], sees, _ = known["tests"][test]
            self.sees[test] = set(wanted if sees is None else sees)
            if outcome != "passed":
                self.left_out[test] = "takes more than %d s" % self.longest if outcome == "timeout" else "fails as things are"

    def digest(self, test):
        """Of a test's own files (own_files): it may come through other functions once they have changed."""
        digest = hashlib.sha256()
        for name in self.files.get(test, []):
            with open(os.path.join(self.tree, name), "rb") as file:
                digest.update(name.encode() + b"\0" + file.read())
        return digest.hexdigest()[:16]

    def look(self, test):
        """(outcome, seconds, functions) of a test when nothing is changed."""
        for number in (switch.REACHED, 0):
            shutil.rmtree(self.reached, ignore_errors=True)
            os.makedirs(self.reached)
            self.choose(number)
            began = self.now()
            outcome = self.one(test, self.longest)
            if outcome != "failed":
                break
        # A test that notices being looked at may come through any of them.
        return outcome, round(self.now() - began, 2), sorted(os.listdir(self.reached)) if number else None

    def choose(self, *numbers):
        """Says which mutants run in what was built, at most one of a file; 0: none, REACHED: none anywhere."""
        own = {self.functions[number][:8]: number for number in numbers if number in self.functions}
        rest = 0 if own else numbers[0]
        if self.running == (own, rest):
            self.sweep()
            return
        self.running = None
        for _ in range(300):  # what was killed takes a moment to be gone
            self.sweep()
            busy = switch.choose(self.places, lambda source: own.get(source, rest))
            if not busy:
                self.running = own, rest
                return
            time.sleep(0.1)
        raise SystemExit("%s still runs" % busy)

    def tests_of(self, number):
        """The tests that come through a mutant's function, or, if that is new since they were asked, through its file."""
        function = self.functions[number]

        def comes(test):
            return function in self.sees[test] if function in self.asked else any(name[:8] == function[:8] for name in self.sees[test])

        return [test for test in self.tests if test not in self.left_out and comes(test)]

    # Tests

    def one(self, test, limit):
        """Runs a test. Returns "passed", "failed" or "timeout"."""
        words, more = self.tests[test]
        forest = os.path.join(self.bin, words[0] + ".runfiles")
        scratch = os.path.join(self.scratch, "tmp", test.strip("/").replace("/", "_").replace(":", "_"))
        shutil.rmtree(scratch, ignore_errors=True)
        os.makedirs(scratch)
        outputs = {"TEST_UNDECLARED_OUTPUTS_DIR": scratch + ".outputs", "XML_OUTPUT_FILE": scratch + ".xml"}
        environment = dict(PATH="/bin:/usr/bin:/usr/local/bin", HOME=scratch, TZ="UTC", USER="test", BAZEL_TEST="1", TEST_TARGET=test,
                           TEST_WORKSPACE=os.path.basename(self.root), TEST_SRCDIR=forest, RUNFILES_DIR=forest, TEST_TMPDIR=scratch,
                           TEST_TIMEOUT=str(int(limit)), **outputs, **more)
        os.makedirs(outputs["TEST_UNDECLARED_OUTPUTS_DIR"], exist_ok=True)
        child = subprocess.Popen([os.path.join(".", words[0])] + words[1:], cwd=os.path.join(forest, os.path.basename(self.root)),
                                 env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True)
        try:
            return "passed" if child.wait(limit) == 0 else "failed"
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()

    def surely(self, test):
        """Runs a test. One that fails only now and then tells nothing."""
        limit = max(self.timeout, 4 * self.seconds[test])
        outcome = self.one(test, limit)
        return outcome if outcome == "passed" else self.one(test, limit) if outcome == "failed" else outcome

    def ask_of(self, test, numbers, surely=True):
        """Runs a test with these mutants, or with none."""
        self.choose(*(numbers or [0]))
        return self.surely(test) if surely else self.one(test, max(self.timeout, 4 * self.seconds[test]))

    def run(self, number, tests):
        """Asks tests until one notices. Returns (outcome, by whom): "survived", "noticed" or "timeout"."""
        self.choose(number)
        enough, notices = threading.Event(), []

        def ask(test):
            if not enough.is_set():
                outcome = self.surely(test)
                if outcome != "passed" and not enough.is_set():
                    enough.set()
                    notices.append(("noticed" if outcome == "failed" else "timeout", test))

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(ask, tests))
        return notices[0] if notices else ("survived", "")

    def sweep(self):
        """Ends what a mutant left running: programs that this copy's Bazel built, and nothing else."""
        if not self.outputs:
            return
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and os.readlink("/proc/%s/exe" % entry).startswith(self.outputs):
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:  # it is gone, or not ours to look at
                pass

    def now(self):
        return time.monotonic()
