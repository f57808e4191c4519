#!/usr/bin/env python3
"""Tests sweep_table.py. No GPU is needed."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import sweep_table as tool  # noqa: E402

KERNEL = {"mangled": "_Z1kPf", "shapes": ["grid 4x32 block 256 dynamic-smem 64"], "launches": 10, "mean-ns": 100.0,
          "regs-before": 40, "occupancy-before": 0.5,
          "variants": [{"name": "r32-newrolled-smem", "regs": 32, "screening-ratio": 0.8, "spill-bytes": 8},
                       {"name": "r24", "regs": 24, "screening-ratio": 0},
                       {"name": "known-restrict", "regs": 40, "screening-ratio": 0.9},
                       {"name": "r26", "regs": 26, "screening-ratio": 0.5, "fault": "its output differs"},
                       {"name": "shapes", "regs": 24, "screening-ratio": 0.7}],
          "carved": [{"name": "r32-newllvm-smem", "regs": 32, "carved": "same code as r32-newrolled-smem"},
                     {"name": "f255", "regs": 40, "carved": "same code as default"},
                     {"name": "r28", "regs": 28, "carved": "same code as r24"}]}


def run(*arguments):
    return subprocess.run([sys.executable, tool.__file__, *arguments], capture_output=True, text=True, check=False)


class Table(unittest.TestCase):
    def test_setting_ofEveryPart(self):
        columns = tool.setting("r40-f255-unroll2-knownptx-smem-cg-l10-o1")
        self.assertEqual(columns, {"ptxas_cap": "40", "frontend_cap": "255", "front_end_knob": "unroll2",
                                   "known_ptx": "1", "smem_spilling": "1", "dlcm": "cg", "restrict": "0",
                                   "register_usage_level": "10", "optimization_level": "1"})
        columns = tool.setting("r40-restrict-cs")
        self.assertEqual((columns["ptxas_cap"], columns["restrict"], columns["dlcm"]), ("40", "1", "cs"))
        self.assertEqual((tool.setting("restrict")["restrict"], tool.setting("default")["restrict"]), ("1", "0"))
        for name in ("shapes", "r40+r48", "r"):
            self.assertIsNone(tool.setting(name), name)

    def test_rows_haveTheDefaultsTimeByTheirRatios(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "heat.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"kernels": [KERNEL]}, file)
            done = run(path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        rows = [dict(zip(lines[0], line)) for line in lines[1:]]
        self.assertEqual([(row["ptxas_cap"], row["front_end_knob"], row["total_ns"]) for row in rows],
                         [("-", "-", "1000"), ("32", "newrolled", "800"), ("-", "known", "900"),
                          ("32", "newllvm", "800"), ("-", "-", "1000")])
        self.assertEqual([row["restrict"] for row in rows], ["0", "0", "1", "0", "0"])
        self.assertEqual((rows[0]["program"], rows[0]["grid"], rows[0]["block"]), ("heat", "4,32,1", "256,1,1"))
        self.assertEqual((rows[0]["occupancy"], rows[1]["spill_bytes"], rows[4]["frontend_cap"]), ("0.5", "8", "255"))

    def test_noReport_isNamed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            self.assertIn(path, run(path).stderr)
            for text in ("{}", "[]", "x", '{"kernels": [{}]}', '{"kernels": [{"shapes": []}]}'):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                done = run(path)
                self.assertEqual((done.returncode, done.stdout), (1, ""), text)
                self.assertIn("expected a report as JSON", done.stderr)


if __name__ == "__main__":
    unittest.main()
