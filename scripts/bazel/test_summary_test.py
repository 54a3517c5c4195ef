# SPDX-License-Identifier: Apache-2.0
"""What scripts/test says at the end, and what counts as a failure."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = """<testsuites><testsuite name="Suite">
<testcase name="Good" classname="Suite" status="run" result="completed"/>
<testcase name="Left" classname="Suite" status="run" result="skipped"><skipped message="no browser here"/></testcase>
</testsuite></testsuites>"""
SCRIPT = '<testsuites><testsuite name="a/script_test"><testcase name="a/script_test" status="run"/></testsuite></testsuites>'


class Summary(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def summary(self, known=None):
        lines = []
        for label, xml, log in (("//a:cases_test", CASES, "SKIPPED: this is what a gtest prints of its own\n"),
                                ("//a:script_test", SCRIPT, "x\nSKIPPED part: no mpirun\nSKIP no yaml\nnot SKIPPED\n")):
            name = label[2:].replace(":", "_")
            files = [{"name": "test." + kind, "uri": "file://" + self.file(name + "." + kind, text)}
                     for kind, text in (("xml", xml), ("log", log))]
            lines.append(json.dumps({"id": {"testResult": {"label": label, "run": 1, "shard": 1}},
                                     "testResult": {"status": "PASSED", "testActionOutput": files}}))
        arguments = [self.file("events", "\n".join(lines)), "0"] + ([] if known is None else [self.file("known", known)])
        ran = subprocess.run([sys.executable, os.path.join(HERE, "test_summary.py"), *arguments], stdout=subprocess.PIPE,
                             universal_newlines=True)
        return ran.returncode, [" ".join(line.split()) for line in ran.stdout.strip().splitlines()]

    def test_skips_by_name_in_the_last_lines(self):
        status, lines = self.summary()
        self.assertEqual(0, status)
        self.assertEqual(["skipped, 1: no browser here", "//a:cases_test: Suite.Left", "", "skipped, 1: no mpirun",
                          "//a:script_test: part", "", "skipped, 1: no yaml", "//a:script_test: (part of it)", "3 skipped",
                          "2 passed, 0 failed"], lines[-10:])

    def test_a_skip_that_is_not_listed_fails(self):
        status, lines = self.summary("# known\n//a:cases_test Suite.Left # why\n//a:script_test part\n")
        self.assertEqual(1, status)
        self.assertEqual("2 passed, 1 failed", lines[-1])
        self.assertIn("//a:script_test (part of it) skipped, and not on the list of skips", lines)

    def test_all_of_a_target_listed(self):
        status, lines = self.summary("//a:cases_test *\n//a:script_test * # why\n")
        self.assertEqual((0, "2 passed, 0 failed"), (status, lines[-1]))

    def test_all_listed(self):
        status, lines = self.summary("//a:cases_test Suite.Left\n//a:script_test part\n//a:script_test (part of it) # why\n")
        self.assertEqual((0, "2 passed, 0 failed"), (status, lines[-1]))


if __name__ == "__main__":
    unittest.main()
