#!/usr/bin/env python3
"""Tests predicted_ratios.py, with scripts in the places of carve, the compilers and Compare. No GPU is needed."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.dont_write_bytecode = True
import predicted_ratios as tool  # noqa: E402

SCRIPT = tool.__file__


def variant(name, ratio, regs=32, **more):
    return {"name": name, "regs": regs, "screening-ratio": ratio, "ratio-low": ratio, "ratio-high": ratio, **more}


def kernel(name, variants, **more):
    return {"kernel": name, "share": 0.5, "tuned": False, "variant": "default", "regs-before": 40, "regs-after": 40,
            "in-run": {"mode": "replay", "rounds": 0, "ratio": {"median": 1, "low": 1, "high": 1}},
            "variants": variants, **more}


def names(choices):
    return [choice.variant for choice in choices]


class Choosing(unittest.TestCase):
    def test_setting_ofEveryPart_asInAProfile(self):
        self.assertEqual(tool.setting("r40-f255-unroll2-smem-cg-l10-o1"),
                         "{cap: 40, frontend-cap: 255, frontend-knob: unroll2, smem-spilling: true, load-cache: cg, "
                         "register-usage-level: 10, optimization-level: 1}")
        self.assertEqual(tool.setting("r40-known-knownptx"),
                         "{cap: 40, frontend-knob: known, known-ptx: true}")
        for name in ("r40+r48", "shapes", "r40+default", "default"):
            self.assertIsNone(tool.setting(name), name)

    def test_losers_ofMany_areTheBestTheMedianAndTheSlowest(self):
        timed = kernel("k", [variant(f"r{40 + index}", 1.06 - index / 100) for index in range(7)],
                       variant="r46", tuned=True)
        self.assertEqual(names(tool.losers(timed, 3, {})[0]), ["r45", "r42", "r40"])
        self.assertEqual(names(tool.losers(timed, 1, {})[0]), ["r45"])
        self.assertEqual(names(tool.losers(timed, 9, {})[0]), ["r45", "r44", "r43", "r42", "r41", "r40"])

    def test_losers_withoutTimeOrWithFault_areLeftOut(self):
        timed = kernel("k", [variant("r40", 0), variant("r48", 1.1, fault="it hung"), variant("r56", 1.2)])
        self.assertEqual(names(tool.losers(timed, 3, {})[0]), ["r56"])

    def test_variantsForKnownLaunches_needTheGuardOfADecision(self):
        timed = kernel("k", [variant("r40-known", 1.1), variant("shapes", 1.2)])
        self.assertEqual(tool.losers(timed, 3, {}), ([], ["r40-known", "shapes"]))
        self.assertEqual(tool.losers(timed, 3, {"k": ["{threads: 512}"]})[1], ["r40-known", "shapes"])
        choices, left = tool.losers(timed, 3, {"k": ["{grid: 7x1x1}"]})
        self.assertEqual((names(choices), left), (["r40-known"], ["shapes"]))

    def test_winner_hasTheRatioOfHeldOutRounds(self):
        judged = {"mode": "rotate", "rounds": 7, "ratio": {"median": 0.91, "low": 0.9, "high": 0.92}}
        tuned = kernel("k", [variant("r48", 0.89)], tuned=True, variant="r48", **{"in-run": judged})
        self.assertEqual(tool.winner(tuned).ratio, 0.91)
        tuned["in-run"] = {**judged, "rounds": 0}
        self.assertEqual(tool.winner(tuned).ratio, 0.89)
        self.assertIsNone(tool.winner(kernel("k", [variant("r48", 0.89)])))

    def test_kernels_coldOrTimedByWholeRuns_areLeftOut(self):
        whole = kernel("whole", [variant("r48", 1.1)], **{"in-run": {"mode": "fixed", "rounds": 0}})
        untimed = kernel("untimed", [])
        del untimed["in-run"]
        report = {"kernels": [whole, untimed, kernel("cold", [variant("r48", 1.1)], share=0.009)]}
        chosen, remarks = tool.choose(report, 0.01, 3, {})
        self.assertEqual(chosen, {})
        self.assertEqual(remarks, ["whole: left out, whole runs decided",
                                   "untimed: left out, it was not timed in a run"])

    def test_loserProfiles_haveTheSameChoiceOfAllKernels(self):
        kernels = [kernel('a("b")', [variant("r32", 1.1), variant("r24", 1.3)]),
                   kernel("c", [variant("r128", 1.2, regs=128)])]
        chosen, _ = tool.choose({"kernels": kernels}, 0.01, 3, {})
        self.assertEqual(tool.loser_profile(kernels, chosen, 0, {}), textwrap.dedent("""\
            carve-profile: 1
            kernels:
              - kernel: "a(\\"b\\")"
                variant: {cap: 32}
              - kernel: "c"
                variant: default
                entries:
                  - when: {threads: 512}
                    variant: {cap: 128}
            """))
        self.assertEqual(tool.loser_profile(kernels, chosen, 1, {}).count("- kernel"), 1)
        self.assertIsNone(tool.loser_profile(kernels, chosen, 2, {}))

    def test_mostThreads_areThoseWhoseRegistersFit(self):
        for regs, threads in ((64, 1024), (65, 896), (128, 512), (168, 384), (255, 256)):
            self.assertEqual(tool.most_threads(regs), threads, regs)

    profile_of_two = textwrap.dedent("""\
        carve-profile: 1
        kernels:
          - kernel: "a"
            variant: default
            entries:
              - when: {block: 8x1x1, arguments: [{parameter: 1, bytes: 4, value: 3}]}
                variant: {frontend-knob: known}
          - kernel: "b"
            variant: {cap: 40}
        """)

    def test_guards_ofAProfile_areReadByKernel(self):
        self.assertEqual(tool.guards_of(self.profile_of_two),
                         {"a": ["{block: 8x1x1, arguments: [{parameter: 1, bytes: 4, value: 3}]}"]})

    def test_only_keepsTheSettingsOfOneKernel(self):
        profile = self.profile_of_two
        b = profile.index('  - kernel: "b"')
        self.assertEqual(tool.only(profile, "a"), profile[:b])
        self.assertEqual(tool.only(profile, "b"), "carve-profile: 1\nkernels:\n" + profile[b:])

    def test_log_ofABuild_saysWhatWasEmitted(self):
        log = ("2026-01-01T00:00:00.000 1 _Z1kv on sm_90 is emitted as r40\n"
               "2026-01-01T00:00:00.000 1 _Z1kv on sm_90 is emitted as known when parameter 2 = 256\n"
               "2026-01-01T00:00:00.000 1 _Z1lv on sm_90 is emitted as r40\n")
        self.assertEqual(tool.emitted_variants(log, {"_Z1kv": "k()"}), {"k()": {"r40", "known"}})


def compared(*kernels, output="equal"):
    lines = ["pairs\t3", f"output\t{output}"]
    return "\n".join(lines + ["kernel\t" + "\t".join(map(str, fields)) for fields in kernels]) + "\n"


class Arithmetic(unittest.TestCase):
    choice = tool.Choice("r32", "loser", 32, 1.25, 1.24, 1.26)

    def rows(self, text, not_applied=None):
        return tool.rows_of([kernel("k", [])], {"k": self.choice}, text, not_applied or {})

    def test_ratios_areOfTheVariantOverNvcc(self):
        rows, _ = self.rows(compared(("k", 4, 5, 0.8, 0.5, 1.0, 9, 9, 40, 32)))
        self.assertEqual((rows[0].whole, rows[0].whole_low, rows[0].whole_high), (1.25, 1.0, 2.0))
        self.assertEqual(tool.difference(rows[0]), 0)
        self.assertEqual(rows[0].note, "")
        rows, _ = self.rows(compared(("k", 4, 5, 0.75, 0.7, 0.8, 9, 9, 40, 32)))
        self.assertAlmostEqual(tool.difference(rows[0]), 6.667, places=3)

    def test_lines_thatDoNotCount_sayWhy(self):
        note = lambda text, not_applied=None: self.rows(text, not_applied)[0][0].note  # noqa: E731
        self.assertEqual(note(compared(("k", 4, 5, 0.8, 0.8, 0.8, 9, 8, 40, 32))), "8 launches, 9 with nvcc")
        self.assertEqual(note(compared(("k", 4, 5, 0.8, 0.8, 0.8, 9, 9, 40, 40))),
                         "40 registers, 32 when it was timed")
        self.assertEqual(note(compared(("k", 4, 5, 0.8, 0.8, 0.8, 9, 9, 40, 30))), "")
        self.assertEqual(note(compared(("k", 4, 5, 0.8, 0.8, 0.8, 9, 9, 40, 32), output="differs: line 3")),
                         "output differs: line 3")
        self.assertEqual(note(compared(("k", 4, 5, 0.8, 0.8, 0.8, 9, 9, 40, 32)), {"k": "not applied"}),
                         "not applied")

    def test_kernel_withoutTime_isARemark(self):
        self.assertEqual(self.rows(compared()), ([], ["k: no time with r32"]))

    def test_summary_isOfDifferencesWithoutSigns(self):
        differences = [("loser", (-1) ** index * index / 10) for index in range(1, 11)] + [("winner", -0.4)]
        self.assertEqual(tool.summary(differences),
                         ["# winners: 1, difference 0.400 % in the median, 0.400 % in the 90th percentile",
                          "# losers: 10, difference 0.550 % in the median, 0.900 % in the 90th percentile",
                          "# all: 11, difference 0.500 % in the median, 0.900 % in the 90th percentile"])
        self.assertEqual(tool.summary([])[0], "# winners: 0")


CARVE = """#!/bin/sh
case $1 in
report) cat "$REPORT" ;;
merge) shift; cp "$1" "$3" ;;
kernels) echo '{"units": [{"kernels": [{"kernel": "k()", "mangled": "_Z1kv", "ignored": []}]}]}' ;;
esac
"""
COMPILER = """#!/bin/sh
# The program is a file that says what it was made with.
case $0 in
*carve-nvcc)
  setting=$(sed -n 's/.*variant: {cap: \\([0-9]*\\)}/r\\1/p' "$CARVE_PROFILE")
  echo "- - _Z1kv on sm_90 is emitted as $setting" >> "$CARVE_LOG" ;;
*) setting=default ;;
esac
echo "$setting" > app
"""
COMPARE = """#!/bin/sh
for last; do :; done
case $(cat "${last%% *}") in
r48) echo "kernel	k()	1	1	1.25	1.25	1.25	9	9	40	48" ;;
r32) echo "kernel	k()	1	1	0.8	0.8	0.8	9	9	40	32" ;;
r24) sleep 60 ;;
esac
echo "output	equal"
"""


class WholeTool(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="predicted-ratios-")
        self.addCleanup(self.folder.cleanup)
        for place in ("bin", "tree/sub", "store/decisions", "store/units"):
            os.makedirs(self.path(place))
        for name, text in (("bin/carve", CARVE), ("bin/carve-nvcc", COMPILER), ("bin/nvcc", COMPILER),
                           ("Compare", COMPARE)):
            self.write(name, text)
            os.chmod(self.path(name), 0o755)
        self.write("store/decisions/1.yaml", 'carve-profile: 1\nkernels:\n  - kernel: "k()"\n    variant: {cap: 48}\n')
        self.write("store/units/1.json", json.dumps({"directory": os.path.realpath(self.path("tree/sub"))}))
        self.write("report", json.dumps({"kernels": [kernel(
            "k()", [variant("r48", 0.8, regs=48), variant("r32", 1.24), variant("r24", 1.5)], tuned=True, variant="r48",
            **{"regs-after": 48})]}))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_tool(self, *words):
        environment = {**os.environ, "CARVE_STORE": self.path("store"), "REPORT": self.path("report"),
                       "PATH": self.path("bin") + os.pathsep + os.environ["PATH"]}
        return subprocess.run([sys.executable, SCRIPT, *words], env=environment, capture_output=True, text=True,
                              check=False)

    def measure(self, *words):
        return self.run_tool("--prefix=" + self.folder.name, "--compare=" + self.path("Compare"), "--folder=sub",
                             "--clean=", "--build={compiler}", *words, self.path("tree"), self.path("work"), "--",
                             "./app", "3")

    def test_winnerAndLosers_areMeasured(self):
        ended = self.measure("--losers=1")
        lines = ended.stdout.splitlines()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(lines[0].split("\t"), list(tool.COLUMNS))
        self.assertEqual(lines[1].split("\t"), ["k()", "0.5000", "winner", "r48"] + ["0.80000"] * 6 + ["0.000", ""])
        self.assertEqual(lines[2].split("\t")[3:11], ["r32"] + ["1.24000"] * 3 + ["1.25000"] * 3 + ["0.806"])
        self.assertEqual(lines[-1], "# all: 2, difference 0.403 % in the median, 0.806 % in the 90th percentile")
        self.write("lines", ended.stdout)
        again = self.run_tool("--summarize", self.path("lines"), self.path("lines"))
        self.assertEqual(again.stdout.splitlines()[-1],
                         "# all: 4, difference 0.403 % in the median, 0.806 % in the 90th percentile")

    def test_limit_printsWhatThereIs(self):
        # The second loser's Compare never ends by itself.
        ended = self.measure("--losers=2", "--limit=4")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("# stopped before everything was measured", ended.stdout)
        self.assertIn("# all: 2, ", ended.stdout)

    def test_buildThatFails_isLeftOut(self):
        self.write("bin/carve-nvcc", "#!/bin/sh\n! grep -q 'cap: 32' \"$CARVE_PROFILE\" || exit 3\n" + COMPILER)
        ended = self.measure("--losers=1")
        self.assertIn("# loser1: the build ended with 3, see ", ended.stdout)
        self.assertIn("# losers: 0", ended.stdout)
        self.assertIn("# winners: 1, ", ended.stdout)

    def test_storeWithoutDecisions_isAnError(self):
        self.write("store/units/1.json", json.dumps({"directory": "/elsewhere"}))
        ended = self.measure()
        self.assertEqual(ended.returncode, 1)
        self.assertIn("the store has no decisions for what was compiled in", ended.stderr)


if __name__ == "__main__":
    unittest.main()
