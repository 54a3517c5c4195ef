# SPDX-License-Identifier: Apache-2.0
"""The scratch copy and its Bazel: what a mutation run builds and asks; called by mutate.py. The checkout is only read."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.parse
import xml.etree.ElementTree as ElementTree

# A mutated file is compiled without the warnings that say only that it is odd: an error would hide the mutant from the tests.
QUIET = "".join('#pragma GCC diagnostic ignored "-W%s"\n' % word for word in (
    "parentheses", "unused-parameter", "unused-variable", "unused-function", "unused-but-set-variable", "type-limits",
    "int-in-bool-context", "maybe-uninitialized", "empty-body", "misleading-indentation", "unused-value", "shadow",
    "sign-compare", "bool-compare", "logical-not-parentheses", "address", "tautological-compare", "extra")) + "#line 1\n"

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


def recorded_seconds(result):
    """What a test took when it last ran: a result that Bazel had kept says nothing of it, its test.xml does."""
    paths = [urllib.parse.unquote(urllib.parse.urlparse(file.get("uri", "")).path) for file in result.get("testActionOutput", [])
             if file["name"] == "test.xml"]
    try:
        root = ElementTree.parse(paths[0]).getroot()
    except (IndexError, OSError, ElementTree.ParseError):
        return 0
    return sum(float(case.get("time") or case.get("duration") or 0) for case in root.iter("testcase"))


class Project:
    """Bazel in the scratch copy."""

    def __init__(self, tree, scratch, jobs, timeout, without):
        self.tree, self.scratch, self.timeout = tree, scratch, timeout
        self.without = re.compile(without)
        self.bazel = os.environ.get("BAZEL", "bazel")
        # Outputs of mutants are not for the disk cache, which all checkouts share.
        self.options = ["--jobs=%d" % jobs, "--local_test_jobs=%d" % jobs, "--noshow_progress", "--test_output=errors",
                        "--test_summary=none", "--show_result=0", "--color=no"]
        self.times, self.seen, self.left_out = {}, {}, {}
        self.outputs = None

    def query(self, expression):
        ran = subprocess.run([self.bazel, "query", "--noshow_progress", expression], cwd=self.tree, check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        return ran.stdout.split()

    def test(self, targets, *options):
        """Runs tests. Returns Bazel's status, what it said, and {target: (status, seconds)}."""
        events, names = os.path.join(self.scratch, "events.json"), os.path.join(self.scratch, "targets")
        with open(names, "w", encoding="utf-8") as file:
            file.write("\n".join(targets))
        ran = subprocess.run([self.bazel, "test", *self.options, *options, "--build_event_json_file=" + events,
                              "--target_pattern_file=" + names], cwd=self.tree, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        results = {}
        with open(events, encoding="utf-8") as file:
            for line in file:
                event = json.loads(line)
                if "testResult" in event:
                    result, label = event["testResult"], event["id"]["testResult"]["label"]
                    seconds = max(int(result.get("testAttemptDurationMillis", 0)) / 1000, recorded_seconds(result))
                    worst = results.get(label, ("PASSED", 0))
                    status = result["status"] if worst[0] == "PASSED" else worst[0]
                    results[label] = (status, worst[1] + seconds)
        return ran.returncode, ran.stdout.decode(errors="replace"), results

    def baseline(self, say, slowest):
        """What passes as things are, and how long each takes. Kept, so that a run that goes on need not do it again."""
        kept = os.path.join(self.scratch, "baseline.json")
        wanted = [test for test in self.query("tests(//...)") if not self.without.search(test)]
        if os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                known = json.load(file)
            self.times = {test: known[test] for test in wanted if test in known}
            wanted = [test for test in wanted if test not in known]
        if wanted:
            say("%d tests as things are..." % len(wanted))
            _, _, results = self.test(wanted, "--keep_going", "--test_timeout=900")
            for test in wanted:
                status, seconds = results.get(test, ("did not build", 0))
                self.times[test] = seconds if status == "PASSED" else -1
            with open(kept, "w", encoding="utf-8") as file:
                json.dump(self.times, file, indent=0)
        self.left_out = {test: "fails as things are" if seconds < 0 else "takes %d s" % seconds
                         for test, seconds in self.times.items() if seconds < 0 or seconds > slowest}

    def tests_of(self, path):
        """The tests that can see a file."""
        if path not in self.seen:
            folder = os.path.dirname(path)
            while not os.path.exists(os.path.join(self.tree, folder, "BUILD")):
                folder = os.path.dirname(folder)
            label = "//%s:%s" % (folder, os.path.relpath(path, folder or "."))
            self.seen[path] = self.query("tests(rdeps(//..., %s))" % label)
        return [test for test in self.seen[path] if test in self.times and test not in self.left_out]

    def write(self, path, text, original):
        """Puts a mutant in its place, or the original back."""
        with open(os.path.join(self.tree, path), "w", encoding="utf-8") as file:
            file.write(text if text == original else QUIET + text)

    def run(self, path, tests):
        """Returns (outcome, by whom): "passed", "noticed", "timeout" or "not compiled"."""
        longest = max([self.timeout] + [4 * self.times[test] for test in tests])
        options = ["--notest_keep_going", "--test_timeout=%d" % longest, "--noremote_upload_local_results"]
        while True:
            status, said, results = self.test(tests, *options)
            bad = [test for test, result in results.items() if result[0] != "PASSED"]
            if status == 1 and not bad:  # the build: the mutant's own file, or something that was to run what was built
                broken = re.search(r"(%s:\d+:\d+: (fatal )?error:|undefined reference|warning being treated)" % re.escape(path), said)
                return ("not compiled", "") if broken else ("noticed", "(build)")
            if not bad:
                return "passed", ""
            if results[bad[0]][0] == "TIMEOUT":
                return "timeout", bad[0]
            again = self.test(bad[:1], *options, "--nocache_test_results")[2]  # a test that fails now and then tells nothing
            if again.get(bad[0], ("",))[0] != "PASSED":
                return "noticed", bad[0]
            tests = [test for test in tests if test != bad[0]]
            if not tests:
                return "passed", ""

    def sweep(self):
        """Ends what a mutant left running: programs that this copy's Bazel built, and nothing else."""
        if self.outputs is None:
            self.outputs = subprocess.run([self.bazel, "info", "output_base"], cwd=self.tree, check=True, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, universal_newlines=True).stdout.strip() + "/"
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and os.readlink("/proc/%s/exe" % entry).startswith(self.outputs):
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:  # it is gone, or not ours to look at
                pass

    def now(self):
        return time.monotonic()
