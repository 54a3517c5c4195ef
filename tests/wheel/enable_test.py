# SPDX-License-Identifier: Apache-2.0
"""enable_test.py ENVIRONMENT SCRIPT: `python -m ptds enable` in a virtual environment that has the wheel. Which processes have the
library from then on, which have not, and that each runs as it would without. Run by enable_test.sh, on the simulated driver."""
import glob
import os
import shutil
import subprocess
import sys
import unittest

ENV, SCRIPT = sys.argv[1:3]
PYTHON = os.path.join(ENV, "bin", "python")
SITE = glob.glob(os.path.join(ENV, "lib", "python3*", "site-packages"))[0]
PTH, PACKAGE = os.path.join(SITE, "0_ptds.pth"), os.path.join(SITE, "ptds")
LIBRARY = os.path.join(PACKAGE, "lib", "libptds.so")
ON = "'/libptds.so' in open('/proc/self/maps').read()"
SAY = "import os, sys; print(sys.argv[1:], %s, os.environ.get('LD_PRELOAD'))" % ON
OTHER = "/lib/x86_64-linux-gnu/libm.so.6"


def run(*words, **more):
    """(output, stderr, status) of words under the environment's Python; env: variables that are set or (None) taken away."""
    environment = dict(os.environ)
    for name, value in more.pop("env", {}).items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    words = more.pop("program", [PYTHON]) + list(words)
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    return os.fsdecode(done.stdout), os.fsdecode(done.stderr), done.returncode


def listing():
    """What is in the folder, with the bytes of RECORD; compiled files come by themselves."""
    record = [open(path) for path in glob.glob(os.path.join(SITE, "ptds-*.dist-info", "RECORD"))]
    names = sorted(os.path.join(where, name) for where, _, files in os.walk(SITE) for name in files if "__pycache__" not in where)
    rows = [file.read() for file in record]
    for file in record:
        file.close()
    return names, rows


class Enabled(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.assertEqual(("enabled by %s: on in every process of this Python that starts from now on\n" % PTH, "", 0), run("-m", "ptds", "enable"))

    def tearDown(self):
        run("-m", "ptds", "disable")

    def test_leaves_nothing(self):
        run("-m", "ptds", "disable")
        before = listing()
        self.assertEqual(("not enabled, and not on in this process\n", "", 0), run("-m", "ptds", "status"))
        for _ in range(2):
            self.assertEqual(0, run("-m", "ptds", "enable")[2])
        self.assertEqual(["0_ptds.pth,,"], [row for row in listing()[1][0].split("\n") if "0_ptds" in row])
        self.assertEqual(("enabled by %s, and on in this process\n" % PTH, "", 0), run("-m", "ptds", "status"))
        self.assertEqual(("disabled: %s is gone; processes that run keep the library\n" % PTH, "", 0), run("-m", "ptds", "disable"))
        self.assertEqual(before, listing())
        self.assertEqual(("not enabled: there is no %s\n" % PTH, "", 0), run("-m", "ptds", "disable"))

    def test_is_on_however_python_is_started(self):
        with open("say.py", "w") as file:
            file.write(SAY)
        words = ["a b", "", "'\"\n", b"\xff"]
        expected = "[%s] True None\n" % ", ".join(repr(os.fsdecode(word)) for word in words)
        for options in ["-c", SAY], ["-m", "say"], ["say.py"], ["-I", "-c", SAY], ["-E", "-c", SAY], ["-s", "-OO", "-c", SAY]:
            self.assertEqual((expected, "", 0), run(*options, *words), options)
        for options in ["-"], ["-B", "-"]:
            self.assertEqual((expected, "", 0), run(*options, *words, input=SAY.encode()), options)
        self.assertEqual(("[] True None\n", "", 0), run(input=SAY.encode()))
        self.assertEqual(("[] False None\n", "", 0), run("-S", "-c", SAY), "no file of a site's folder is read")

    def test_moves_work(self):
        out, err, status = run(SCRIPT, "--steps", "3")
        self.assertEqual(7, status)
        self.assertIn("copied __main__ ", out)
        self.assertIn("\nptds: 10 default-stream operations moved", err)

    def test_changes_nothing_that_the_program_sees(self):
        see = ("import os, signal, sys; print(sys.executable, sys.prefix, sys.flags, sys.path, sorted(os.environ.items()), os.getpid() == "
               "int(os.readlink('/proc/self')), open('/proc/self/comm').read(), [signal.getsignal(n) for n in (2, 13)], os.listdir('/proc/self/fd'))")
        for env in {}, {"LC_ALL": "C"}, {"LC_ALL": None, "LANG": None}, {"LD_PRELOAD": OTHER}, {"PYTHONHASHSEED": "3"}:
            enabled = run("-X", "dev", "-c", see, env=env)
            run("-m", "ptds", "disable")
            self.assertEqual(run("-X", "dev", "-c", see, env=env), enabled, env)
            self.assertEqual(0, run("-m", "ptds", "enable")[2])

    def test_keeps_the_name_of_a_script(self):
        with open("named.py", "w") as file:
            file.write("#!%s\nprint(open('/proc/self/comm').read(), %s)" % (PYTHON, ON))
        os.chmod("named.py", 0o755)
        self.assertEqual(("named.py\n True\n", "", 0), run(program=["./named.py"]))

    def test_children(self):
        with open("children.py", "w") as file:
            file.write("import multiprocessing, subprocess, sys\ndef on(_):\n    return %s\nif __name__ == '__main__':\n"
                       "    for how in 'fork', 'spawn', 'forkserver':\n"
                       "        with multiprocessing.get_context(how).Pool(2) as pool:\n            print(how, pool.map(on, range(2)))\n"
                       "    print('other', b'/libptds.so' in subprocess.run(['/bin/cat', '/proc/self/maps'], stdout=-1).stdout)\n" % ON)
        self.assertEqual(("fork [True, True]\nspawn [True, True]\nforkserver [True, True]\nother False\n", "", 0), run("children.py"))

    def test_is_not_on_where_that_is_asked(self):
        self.assertEqual(("[] False None\n", "", 0), run("-c", SAY, env={"PTDS_DISABLE": "1"}))
        self.assertEqual(("[] False None\n", "", 0), run("-c", SAY, env={"PTDS_POLICY": "none"}))
        self.assertEqual(("[] True None\n", "", 0), run("-c", SAY, env={"PTDS_POLICY": "observe", "PTDS_DISABLE": ""}))

    def test_what_is_preloaded_stays(self):
        self.assertEqual(("[] True %s\n" % LIBRARY, "", 0), run("-c", SAY, env={"LD_PRELOAD": LIBRARY}))
        self.assertEqual(("[] True %s\n" % OTHER, "", 0), run("-c", SAY, env={"LD_PRELOAD": OTHER}))
        self.assertEqual(("[] True None\n", "", 0), run("-c", SAY, env={"PTDS_STARTED_AGAIN": "1 x"}), "another process's")

    def test_run_and_probe(self):
        with open("kept.py", "w") as file:
            file.write("import os\nwith open('%s/kept', 'a') as f: print(%s, file=f)" % (os.getcwd(), ON))
        self.assertEqual(0, run("-m", "ptds", "run", "--report", "off", "--", "-c", "pass")[2])
        run("-m", "ptds", "probe", "--rounds", "1", "--", "kept.py")
        with open("kept") as file:
            # Warm-up and round 1, or bare alone: it makes no CUDA call. Bare comes first.
            self.assertEqual("False", file.read().split()[0])

    def test_a_program_that_runs_is_not_started_again(self):
        later = ("import os, site, sys; print('begun', flush=True); del os.environ['PTDS_DISABLE']; site.main()\n"
                 "try: import _interpreters as i\nexcept ImportError: import _xxsubinterpreters as i\n"
                 "i.destroy(i.create()); print('still here', %s)" % ON)
        self.assertEqual(("begun\nstill here False\n", "", 0), run("-c", later, env={"PTDS_DISABLE": "1"}))

    def test_a_program_with_a_python_in_it_is_not_started_again(self):
        tool = os.path.join(ENV, "bin", "tool")
        shutil.copy(os.path.realpath(PYTHON), tool)
        self.assertEqual((tool + " False\n", "", 0), run("-c", "import sys; print(sys.executable, %s)" % ON, program=[tool]))
        os.remove(tool)

    def test_what_is_gone_breaks_no_python(self):
        for path, why in (LIBRARY, "%s is gone; `python -m ptds disable`, or remove %s" % (LIBRARY, PTH)), (PACKAGE, "No module named 'ptds'"):
            os.rename(path, path + ".aside")
            out, err, status = run("-c", SAY + "; sys.exit(3)")
            closed = run("-c", "print('closed', end=''); sys.exit(3)".replace("print", "import sys; print"),
                         program=["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", PYTHON])
            os.rename(path + ".aside", path)
            self.assertEqual(("[] False None\n", 3), (out, status))
            self.assertEqual(1, err.count("\n"), err)
            self.assertTrue(err.startswith("ptds: not on in this process") and why in err, err)
            self.assertEqual(("closed", "", 3), closed)

    def test_what_cannot_be_preloaded_breaks_no_python(self):
        os.rename(LIBRARY, LIBRARY + ".aside")
        with open(LIBRARY, "w") as file:
            file.write("no library")
        out, err, status = run("-c", SAY + "; sys.exit(3)")
        os.rename(LIBRARY + ".aside", LIBRARY)
        self.assertEqual(("[] False None\n", 3), (out, status))
        self.assertEqual("ptds: not on in this process: the loader did not preload %s" % LIBRARY, err.split("\n")[-2])

    def test_what_cannot_be_written_is_said_in_one_line(self):
        run("-m", "ptds", "disable")
        os.mkdir(PTH + ".part")
        self.assertEqual(("", "ptds: %s: Is a directory\n" % PTH, 1), run("-m", "ptds", "enable"))
        os.rmdir(PTH + ".part")
        shutil.copytree(PACKAGE, "apart/ptds")
        apart = os.path.abspath("apart")
        self.assertEqual(("", "ptds: %s is no folder that this Python looks into when it starts: install ptds with pip\n" % apart, 1),
                         run("-m", "ptds", "enable", env={"PYTHONPATH": apart}))
        self.assertEqual(("", "ptds: enable takes no more words\n", 1), run("-m", "ptds", "enable", "all"))
        self.assertEqual(("not enabled, and not on in this process\n", "", 0), run("-m", "ptds", "status"))


class Uninstalled(unittest.TestCase):
    def test_leaves_nothing(self):
        run("-m", "ptds", "enable")
        self.assertTrue(os.path.exists(PTH))
        self.assertEqual(0, run("-m", "pip", "uninstall", "--quiet", "--yes", "ptds")[2])
        self.assertFalse(os.path.exists(PTH))
        self.assertEqual(("[] False None\n", "", 0), run("-c", SAY))


unittest.main(argv=sys.argv[:1])
