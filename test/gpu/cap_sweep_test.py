#!/usr/bin/env python3
"""Tests cap_sweep.py, with scripts in the places of nvcc and Compare. No GPU is needed."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import cap_sweep as tool  # noqa: E402

COMPILER = """#!/bin/sh
case "$*" in *=168*) exit 5 ;; esac
echo "made$*" > app
"""
# The program is faster with some caps, and prints something else with one.
COMPARE = """#!/bin/sh
pairs=$1
for last; do first=$second second=$last; done
[ "$(cat app.nvcc)" = made ] || exit 3
ratio=0.9
case $(cat app) in
"made-maxrregcount=40") ratio=1.25 ;;
"made-maxrregcount=48") ratio=1.2 ;;
"made-Xptxas -maxrregcount=64") ratio=1.1; [ $pairs = --pairs=1 ] || ratio=1.05 ;;
"made-maxrregcount=32") printf 'gpu-ms-a\\t30\\ngpu-ratio\\t2\\t2\\t2\\noutput\\tdiffers: line 3\\n'; exit 2 ;;
esac
printf "gpu-ms-a\\t30\\ngpu-ratio\\t$ratio\\t1\\t2\\noutput\\tequal\\n"
"""


class WholeTool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cap-sweep-")
        self.addCleanup(self.folder.cleanup)
        for name in ("bin", "in/good"):
            os.makedirs(self.path(name))
        for name, text in (("bin/nvcc", COMPILER), ("Compare", COMPARE)):
            self.write(name, text)
            os.chmod(self.path(name), 0o755)
        self.write("in/good/carve-program.json", json.dumps(
            {"set": "some", "build": "{compiler}", "command": ["./app"]}))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def sweep(self, *words):
        environment = {**os.environ, "PATH": self.path("bin") + os.pathsep + os.environ["PATH"]}
        return subprocess.run([sys.executable, tool.__file__, "--prefix=" + self.folder.name,
                               "--compare=" + self.path("Compare"), *words, self.path("in"), self.path("work"), "good"],
                              env=environment, capture_output=True, text=True, check=False)

    def test_bestOfEachRoute_isComparedAgain(self):
        ended = self.sweep()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        lines = [line.split("\t") for line in ended.stdout.splitlines()]
        self.assertEqual([line for line in lines if len(line) > 1],
                         [list(tool.COLUMNS), ["good", "some", "30", "40", "1.2500", "64", "1.0500", "13", "1"]])
        said = [line[0] for line in lines if len(line) == 1]
        self.assertEqual(sum("the output differs: line 3" in line for line in said), 1, said)
        self.assertEqual(sum("-168: the build ended with 5" in line for line in said), 2, said)

    def test_everyCapIsSlower_hasNone(self):
        ended = self.sweep("--caps=80,96")
        self.assertEqual(ended.stdout.splitlines()[-1].split("\t"),
                         ["good", "some", "30", "-", "-", "-", "-", "4", "0"])

    def test_wrongArguments_areErrors(self):
        ended = self.sweep("--caps=32,some")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--caps has '32,some', expected a list of numbers", ended.stderr)
        os.makedirs(self.path("work/x"))
        self.assertIn("is not empty", self.sweep().stderr)


if __name__ == "__main__":
    unittest.main()
