#!/usr/bin/env python3
"""Tests programs.py, with scripts in the places of carve, the compilers and Compare. No GPU is needed."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import programs as tool  # noqa: E402

SCRIPT = tool.__file__
REPORT = {"runs": 8, "wall-s": 17.25, "plain-wall-s": 1.5, "variants-compiled": 30, "variants-timed": 20,
          "kernels": [{"tuned": True, "entries": [{}, {}]}, {"tuned": False}]}

CARVE = """#!/bin/sh
echo "$CUDA_VISIBLE_DEVICES $*" >> "$CARVE_STORE.calls"
echo tuned > "$CARVE_STORE"
cat "$REPORT"
"""
COMPILER = """#!/bin/sh
# The program is a file that says what it was made with.
case $0 in
*carve-nvcc) [ -e "$CARVE_STORE" ] && echo tuned > app || echo untuned > app ;;
*) echo nvcc > app ;;
esac
"""
COMPARE = """#!/bin/sh
for last; do first=$second second=$last; done
[ "${second#* }" = "'a 3'" ] || exit 3
first=${first%% *} second=${second%% *}
[ "$(cat "$first") $(cat "$second")" = "nvcc tuned" ] || exit 1
printf 'pairs\\t3\\ngpu-ms-a\\t30\\ngpu-ms-b\\t20\\ngpu-ratio\\t1.5\\t1.4\\t1.6\\nwall-ratio\\t1.1\\t1\\t1.2\\n'
[ ! -e differs ] || { printf 'output\\tdiffers: line 3\\n'; exit 2; }
printf 'output\\tequal\\nkernel\\tk\\n'
"""


class WholeTool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="programs-")
        self.addCleanup(self.folder.cleanup)
        os.makedirs(self.path("bin"))
        for name, text in (("bin/carve", CARVE), ("bin/carve-nvcc", COMPILER), ("bin/nvcc", COMPILER),
                           ("Compare", COMPARE), ("report", json.dumps(REPORT))):
            self.write(name, text)
            os.chmod(self.path(name), 0o755)
        self.describe("good")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def describe(self, name, **more):
        os.makedirs(self.path(f"in/{name}"))
        self.write(f"in/{name}/carve-program.json", json.dumps(
            {"set": "some", "build": "{compiler}", "clean": "rm app", "command": ["./app", "a 3"], **more}))

    def measure(self, *words):
        environment = {**os.environ, "REPORT": self.path("report"), "CARVE_PROFILE": "/none",
                       "PATH": self.path("bin") + os.pathsep + os.environ["PATH"]}
        return subprocess.run([sys.executable, SCRIPT, "--prefix=" + self.folder.name,
                               "--compare=" + self.path("Compare"), "--jobs=2", *words, self.path("in"),
                               self.path("work")], env=environment, capture_output=True, text=True, check=False)

    def lines(self, *words):
        ended = self.measure(*words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return [line.split("\t") for line in ended.stdout.splitlines()]

    def test_eachMode_isTunedBuiltAgainAndCompared(self):
        self.describe("other")
        lines = self.lines("--modes=values,off", "--gpus=4,5")
        self.assertEqual(lines[0], list(tool.COLUMNS))
        rows = [dict(zip(tool.COLUMNS, line)) for line in lines[1:5]]
        self.assertEqual(sorted((row["program"], row["mode"]) for row in rows),
                         [(name, mode) for name in ("good", "other") for mode in ("off", "values")])
        for row in rows:
            names = tool.COLUMNS[3:8] + tool.COLUMNS[9:15] + ("nvcc_bytes", "tuned_bytes")
            self.assertEqual([row[name] for name in names],
                             ["30", "20", "1.5", "1.4", "1.6", "equal", "1", "2", "2", "8", "17.2", "5", "6"])
        self.assertEqual(lines[5], ["# some, off: 2 programs, 1.5000 times as fast in the geometric mean, 1.5000 the "
                                    "least, outputs equal in 2, a tuning 17.2 s in the median"])
        calls = set()
        for name in ("good", "other"):
            with open(self.path(f"work/off/{name}.store.calls"), encoding="utf-8") as file:
                gpu, text = file.read().split(" ", 1)
            calls.add(gpu)
            self.assertIn("tune --entries=off --format=json", text)
            self.assertTrue(text.endswith("-- ./app a 3\n"), text)
        self.assertLessEqual(calls, {"4", "5"})

    def test_outputThatDiffers_isALine(self):
        self.describe("wrong", prepare="touch differs")
        rows = {line[0]: dict(zip(tool.COLUMNS, line)) for line in self.lines()[1:3]}
        self.assertEqual(rows["wrong"]["output"], "differs: line 3")
        self.assertEqual(rows["good"]["output"], "equal")

    def test_everything_isTimedAndNotCompared(self):
        row = dict(zip(tool.COLUMNS, self.lines("--modes=all")[1]))
        self.assertEqual((row["mode"], row["ratio"], row["output"], row["timed"]), ("all", "nan", "-", "20"))

    def test_programThatFails_isNamedAndTheOthersGoOn(self):
        self.describe("broken", build="{compiler} && exit 3")
        self.describe("unprepared", prepare="exit 4")
        lines = self.lines()
        said = [line[0] for line in lines if line[0].startswith("# ")]
        for start in ("# broken, nvcc: the build ended with 3, see ",
                      "# unprepared, values: its preparation ended with 4, see "):
            self.assertEqual(sum(line.startswith(start) for line in said), 1, said)
        self.assertEqual([line[0] for line in lines if len(line) > 5], ["program", "good"])

    def test_description_missingOrWrong_isAnError(self):
        os.makedirs(self.path("in/none"))
        for name, text, message in (("none", None, "No such file"), ("wrong", "{", "wrong/carve-program.json: "),
                                    ("list", "[]", "list/carve-program.json: "), ("empty", "{}", "has no 'build'")):
            if text:
                os.makedirs(self.path(f"in/{name}"))
                self.write(f"in/{name}/carve-program.json", text)
            ended = subprocess.run([sys.executable, SCRIPT, self.path("in"), self.path("work"), name],
                                   capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 1)
            self.assertIn(message, ended.stderr)
            self.assertNotIn("Traceback", ended.stderr)

    def test_timeThatIsUp_isSaid(self):
        self.assertIn(["# good: no time left"], self.lines("--limit=20", "--least=30"))

    def test_wrongArguments_areErrors(self):
        ended = self.measure("--modes=some")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--modes has 'some', expected a list of values, blocks, off", ended.stderr)
        os.makedirs(self.path("work/values"))
        self.assertIn("is not empty", self.measure().stderr)


if __name__ == "__main__":
    unittest.main()
