#!/usr/bin/env python3
"""Measures how well the ratios of a timing run predict those of whole runs. It is not a test.

    predicted_ratios.py [options] TREE WORKDIR -- PROGRAM ARGUMENT...
    predicted_ratios.py --summarize FILE...

TREE has a program that was built by carve-nvcc and tuned; CARVE_STORE names the store. For every hot kernel of the last
report, the winner and some losers are chosen: the slowest, the median and the best of the variants that were timed. A
profile gives each kernel its first choice, another one its second choice, and so on, so that all kernels of a program
need as many builds as one kernel. With --alone, each build changes one kernel: what a kernel leaves in L2 may change how
long the next one takes, and a timing run sees each kernel beside the others' own code. Copies of TREE are made in
WORKDIR and built, one by nvcc and one with each profile. Then Compare runs nvcc's program and each of the others in
turns.

Prints a line for each kernel and variant, tab-separated with a heading: the kernel's share of GPU time, the ratio of
the timing run with its interval, that of whole runs, by how much this is larger in percent, and why the line does not
count. Ratios are times of the variant over those of nvcc's code. Lines that begin with # say what was left out, and at
the end the median and the 90th percentile of the differences without their signs. --summarize reads such lines again
and prints these numbers for all programs together."""

import argparse
import collections
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

# What a part of a variant's name sets in a profile (variantName() in lib/Search/Variant.h).
NUMBERED = {"r": "cap", "f": "frontend-cap", "l": "register-usage-level", "o": "optimization-level"}
NAMED = {"smem": ("smem-spilling", "true"), "knownptx": ("known-ptx", "true")}
NAMED.update((knob, ("frontend-knob", knob)) for knob in ("newllvm", "newrolled", "unroll", "unroll2", "noremat",
                                                          "known"))
NAMED.update((caching, ("load-cache", caching)) for caching in ("cg", "cs", "noalloc"))

REGISTERS_PER_SM = 65536  # The same from sm_75 to sm_121.
MOST_THREADS = 1024
IN_RUN_MODES = ("replay", "rotate", "verify-rotate")
COLUMNS = ("kernel", "share", "kind", "variant", "in_run", "in_run_low", "in_run_high", "whole", "whole_low",
           "whole_high", "difference_percent", "note")

Choice = collections.namedtuple("Choice", "variant kind regs ratio low high")
Row = collections.namedtuple("Row", "kernel share choice whole whole_low whole_high note")


class TimeIsUp(Exception):
    """The limit is reached, or the user asked to stop."""


class Clock:
    """The seconds that are left of a limit; 0 for no limit."""

    def __init__(self, limit):
        self.end = time.monotonic() + limit if limit else math.inf

    def left(self):
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeIsUp()
        return None if left == math.inf else left


def keys_of(variant):
    """The keys of a profile and their values, by the name of a variant, or nothing if a profile cannot express it."""
    keys = {}
    for part in variant.split("-"):
        number = re.fullmatch(r"([rflo])(\d+)", part)
        if number:
            keys[NUMBERED[number[1]]] = number[2]
        elif part in NAMED:
            key, value = NAMED[part]
            keys[key] = value
        else:
            return None
    return keys


def setting(variant):
    """The keys of keys_of() as a profile has them."""
    keys = keys_of(variant)
    return None if keys is None else "{" + ", ".join(f"{key}: {value}" for key, value in keys.items()) + "}"


def is_for_known_launches(variant):
    return bool({"known", "knownptx"} & set(variant.split("-")))


def most_threads(regs):
    """The largest block of a kernel with so many registers. Warps get registers in steps of 256."""
    warps = REGISTERS_PER_SM // (max(1, -(-regs // 8)) * 256)
    return min(MOST_THREADS, warps // 4 * 4 * 32)


def guard(kernel, variant, guards):
    """The launches that a variant is for, as the keys of a profile's `when`: empty for all launches, and nothing if
    that is not known. guards has those of the decisions, by kernel."""
    if is_for_known_launches(variant["name"]):
        own = guards.get(kernel["kernel"], [])
        return own[0] if len(own) == 1 and re.search("block|grid|arguments", own[0]) else None
    threads = most_threads(variant["regs"])
    return f"{{threads: {threads}}}" if threads < most_threads(kernel["regs-before"]) else ""


def losers(kernel, count, guards):
    """Chooses among the variants that were timed and did not win: the best, the slowest, and what is evenly spread
    between them by rank. Returns the choices and what is said of those that could not be chosen."""
    timed, left = [], []
    for variant in kernel["variants"]:
        if not variant["screening-ratio"] or variant.get("fault") or variant["name"] == kernel["variant"]:
            continue
        if setting(variant["name"]) is None or guard(kernel, variant, guards) is None:
            left.append(variant["name"])
            continue
        ratio = variant["screening-ratio"]
        timed.append(Choice(variant["name"], "loser", variant["regs"], ratio, variant.get("ratio-low", ratio),
                            variant.get("ratio-high", ratio)))
    timed.sort(key=lambda choice: choice.ratio)
    if count < len(timed):
        ranks = [int(index * (len(timed) - 1) / max(1, count - 1) + 0.5) for index in range(count)]
        timed = [timed[rank] for rank in ranks]
    return timed, left


def winner(kernel):
    """The variant that the tuning decided for, with the ratio of the rounds that were held out from the choice."""
    judged = kernel["in-run"]
    if not kernel["tuned"]:
        return None
    if judged["rounds"]:
        ratio = judged["ratio"]
        return Choice(kernel["variant"], "winner", kernel["regs-after"], ratio["median"], ratio["low"], ratio["high"])
    return next((Choice(variant["name"], "winner", variant["regs"], variant["screening-ratio"], variant["ratio-low"],
                        variant["ratio-high"])
                 for variant in kernel["variants"]
                 if variant["name"] == kernel["variant"] and variant["screening-ratio"]), None)


def choose(report, least_share, count, guards):
    """Chooses for each hot kernel. Returns the winners and the losers by kernel, and remarks on what is left out."""
    chosen, remarks = {}, []
    for kernel in report["kernels"]:
        if kernel["share"] < least_share:
            continue
        name, mode = kernel["kernel"], kernel.get("in-run", {}).get("mode")
        if mode not in IN_RUN_MODES:
            remarks.append(f"{name}: left out, {'whole runs decided' if mode else 'it was not timed in a run'}")
            continue
        its_losers, left = losers(kernel, count, guards)
        if left:
            remarks.append(f"{name}: without {' '.join(left)}, for which a profile needs a guard that is not known")
        chosen[name] = (winner(kernel), its_losers)
    return chosen, remarks


def loser_profile(kernels, chosen, index, guards):
    """The profile in which every kernel has its loser number index, or nothing if no kernel has so many."""
    lines = ["carve-profile: 1", "kernels:"]
    for kernel in kernels:
        its_losers = chosen[kernel["kernel"]][1] if kernel["kernel"] in chosen else []
        if index >= len(its_losers):
            continue
        loser = its_losers[index]
        when = guard(kernel, {"name": loser.variant, "regs": loser.regs}, guards)
        lines.append(f"  - kernel: {json.dumps(kernel['kernel'])}")
        if not when:
            lines.append(f"    variant: {setting(loser.variant)}")
        else:
            lines += ["    variant: default", "    entries:", f"      - when: {when}",
                      f"        variant: {setting(loser.variant)}"]
    return "\n".join(lines) + "\n" if len(lines) > 2 else None


def kernel_of(line):
    """The kernel whose settings begin with this line of a profile that carve wrote, if any do."""
    return json.loads(line.split(": ", 1)[1]) if line.startswith("  - kernel: ") else None


def only(profile, kernel):
    """The profile with the settings of one kernel."""
    kept, keeps = [], True
    for line in profile.splitlines():
        if kernel_of(line) is not None:
            keeps = kernel_of(line) == kernel
        elif not line.startswith("    "):
            keeps = True
        if keeps:
            kept.append(line)
    return "\n".join(kept) + "\n"


def guards_of(profile):
    """The guards of the further entries in a profile that carve wrote, by kernel."""
    guards, kernel = {}, None
    for line in profile.splitlines():
        if kernel_of(line) is not None:
            kernel = kernel_of(line)
        elif line.startswith("      - when: "):
            guards.setdefault(kernel, []).append(line.split(": ", 1)[1])
    return guards


def decisions_of(store, folder):
    """The decisions of the units that were compiled in a folder."""
    files = []
    for name in sorted(os.listdir(os.path.join(store, "decisions"))):
        unit = os.path.join(store, "units", os.path.splitext(name)[0] + ".json")
        if not os.path.exists(unit):
            continue
        with open(unit, encoding="utf-8") as file:
            directory = json.load(file)["directory"]
        if isinstance(directory, str) and (os.path.realpath(directory) + "/").startswith(folder + "/"):
            files.append(os.path.join(store, "decisions", name))
    return files


def emitted_variants(log, names):
    """What each kernel was emitted as, by the log of a build: names of variants. names has the kernels by mangled
    name."""
    emitted = {}
    for mangled, variant in re.findall(r"(\S+) on \S+ is emitted as (\S+)", log):
        if mangled in names:
            emitted.setdefault(names[mangled], set()).add(variant)
    return emitted


def percentile(values, part):
    """The least of the values that at least this part of them does not exceed."""
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)]


def median(values):
    values, middle = sorted(values), len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def difference(row):
    """By how much the ratio of whole runs is larger than the predicted one, in percent."""
    return 100 * (row.whole / row.choice.ratio - 1)


def printed(row):
    choice = row.choice
    fields = [row.kernel, f"{row.share:.4f}", choice.kind, choice.variant]
    fields += [f"{value:.5f}" for value in (choice.ratio, choice.low, choice.high, row.whole, row.whole_low,
                                            row.whole_high)]
    return "\t".join(fields + [f"{difference(row):.3f}", row.note])


def summary(differences):
    """Lines for people on (kind, difference in percent)."""
    lines = []
    for title, kinds in (("winners", ("winner",)), ("losers", ("loser",)), ("all", ("winner", "loser"))):
        values = [abs(value) for kind, value in differences if kind in kinds]
        if values:
            lines.append(f"# {title}: {len(values)}, difference {median(values):.3f} % in the median, "
                         f"{percentile(values, 0.9):.3f} % in the 90th percentile")
        else:
            lines.append(f"# {title}: 0")
    return lines


def summarize(files):
    differences = []
    for path in files:
        with open(path, encoding="utf-8") as file:
            for line in file:
                fields = line.rstrip("\n").split("\t")
                if len(fields) == len(COLUMNS) and fields[0] != "kernel" and not fields[-1]:
                    differences.append((fields[2], float(fields[-2])))
    print("\n".join(summary(differences)))


def read_compared(text):
    """The kernels that Compare printed, by name: ratio with interval, launches and registers, each of nvcc's program
    and of the other one; and whether the outputs are equal."""
    kernels, output = {}, ""
    for line in text.splitlines():
        fields = line.split("\t")
        if fields[0] == "kernel" and len(fields) == 11:
            kernels[fields[1]] = {"ratio": [1 / float(fields[index]) for index in (4, 6, 5)],
                                  "launches": (int(fields[7]), int(fields[8])), "regs": int(fields[10])}
        elif fields[0] == "output":
            output = fields[1]
    return kernels, output


def rows_of(kernels, choices, compared, not_applied):
    """The lines for what was chosen for kernels in one build, and remarks. not_applied has the kernels for which the
    compile did not take the setting, with the reasons."""
    measured, output = read_compared(compared)
    rows, remarks = [], []
    for kernel in kernels:
        name, choice = kernel["kernel"], choices.get(kernel["kernel"])
        if not choice:
            continue
        if name not in measured:
            remarks.append(f"{name}: no time with {choice.variant}")
            continue
        found = measured[name]
        note = not_applied.get(name, "")
        if not note and found["launches"][0] != found["launches"][1]:
            note = f"{found['launches'][1]} launches, {found['launches'][0]} with nvcc"
        composed = "+" in choice.variant  # Several codes, of which the report has the registers of one.
        if not note and not composed and -(-found["regs"] // 8) != -(-choice.regs // 8):
            note = f"{found['regs']} registers, {choice.regs} when it was timed"
        if not note and output != "equal":
            note = "output " + output
        rows.append(Row(name, kernel["share"], choice, *found["ratio"], " ".join(note.split())))
    return rows, remarks


def carried_out(command, clock, **options):
    """Runs a command, in a session of its own so that all its processes can be ended. Returns exit status, standard
    output and standard error."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                             start_new_session=True, **options)
    try:
        out, err = child.communicate(timeout=clock.left())
    except (subprocess.TimeoutExpired, TimeIsUp):
        end_session(child)
        raise TimeIsUp() from None
    except BaseException:
        end_session(child)
        raise
    return child.returncode, out, err


def end_session(child):
    """Ends a child and its processes. Compare ends its program when it is asked to end."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass
        try:
            child.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            continue


class Measurement:
    def __init__(self, options, program):
        self.options, self.program, self.clock = options, program, Clock(options.limit)
        self.carve = os.path.join(options.prefix, "bin", "carve")
        self.rows = []

    def carve_text(self, *words, store):
        status, out, err = carried_out([self.carve, *words], self.clock, env={**os.environ, "CARVE_STORE": store})
        if status:
            sys.exit(f"predicted_ratios.py: carve {' '.join(words)} ended with {status}: {err.strip()}")
        return out

    def folder(self, build):
        return os.path.join(self.options.workdir, build, self.options.folder)

    def store(self, build):
        return os.path.join(self.options.workdir, build + ".store")

    def profile(self, build):
        return os.path.join(self.options.workdir, build + ".yaml")

    def log(self, build):
        return os.path.join(self.options.workdir, build + ".carve.log")

    def start_build(self, build):
        """Copies the tree and starts the build. Objects that were there are removed by --clean."""
        options = self.options
        for old in (os.path.join(options.workdir, build), self.store(build)):
            shutil.rmtree(old, ignore_errors=True)
        with open(self.log(build), "w", encoding="utf-8"):
            pass
        shutil.copytree(options.tree, os.path.join(options.workdir, build), symlinks=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CARVE_")}
        if "CARVE_NVCC" in os.environ:
            environment["CARVE_NVCC"] = os.environ["CARVE_NVCC"]
        environment.update(CARVE_STORE=self.store(build), CARVE_RUN="none", CARVE_LOG=self.log(build),
                           PATH=os.path.join(options.prefix, "bin") + os.pathsep + os.environ["PATH"])
        compiler = "nvcc"
        if build != "nvcc":
            compiler, environment["CARVE_PROFILE"] = "carve-nvcc", self.profile(build)
        command = " && ".join(filter(None, (options.clean, options.build.replace("{compiler}", compiler))))
        with open(os.path.join(options.workdir, build + ".log"), "w", encoding="utf-8") as log:
            return subprocess.Popen(["/bin/sh", "-c", command], cwd=self.folder(build), env=environment, stdout=log,
                                    stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def build_all(self, builds):
        """Builds in parallel. Returns the builds that succeeded."""
        children = {build: self.start_build(build) for build in builds}
        good = []
        try:
            for build, child in children.items():
                status = child.wait(timeout=self.clock.left())
                if status == 0 and os.path.exists(os.path.join(self.folder(build), self.program[0])):
                    good.append(build)
                    continue
                print(f"# {build}: the build ended with {status}{'' if status else ' and made no ' + self.program[0]}"
                      f", see {os.path.join(self.options.workdir, build + '.log')}")
        except subprocess.TimeoutExpired:
            raise TimeIsUp() from None
        finally:
            for child in children.values():
                if child.poll() is None:
                    end_session(child)
        return good

    def not_applied(self, build, choices):
        """The kernels of a build that do not have what was chosen, with the reasons. The log of the build says what
        each kernel was emitted as."""
        known = json.loads(self.carve_text("kernels", "--format=json", "--profile=" + self.profile(build),
                                           store=self.store(build)))
        ignored, names = {}, {}
        for unit in known["units"]:
            for kernel in unit["kernels"]:
                names[kernel["mangled"]] = kernel["kernel"]
                ignored.setdefault(kernel["kernel"], []).extend(kernel["ignored"])
        with open(self.log(build), encoding="utf-8", errors="replace") as file:
            emitted = emitted_variants(file.read(), names)
        return {name: "; ".join([f"not applied, see {self.log(build)}", *ignored.get(name, [])])
                for name, choice in choices.items()
                if not (emitted.get(name) if choice.kind == "winner" else choice.variant in emitted.get(name, []))}

    def compare(self, build, choices, kernels):
        folder, name = self.folder("nvcc"), f"{self.program[0]}.{build}"
        shutil.copy2(os.path.join(self.folder(build), self.program[0]), os.path.join(folder, name))
        words = [shlex.join([first, *self.program[1:]]) for first in (self.program[0], name)]
        status, out, err = carried_out(
            [self.options.compare, f"--pairs={self.options.pairs}", f"--timeout={self.options.timeout}",
             "--prefix=" + self.options.prefix, "--kernels", *words], self.clock, cwd=folder)
        if status not in (0, 2):  # 2: the outputs differ.
            print(f"# {build}: Compare ended with {status}: {' '.join(err.split())}")
            return
        rows, remarks = rows_of(kernels, choices, out, self.not_applied(build, choices))
        for row in rows:
            print(printed(row), flush=True)
        for remark in remarks:
            print(f"# {build}: {remark}")
        self.rows += rows

    def alone(self, builds):
        """Divides builds into builds that change one kernel each."""
        divided = {}
        for build, choices in builds.items():
            with open(self.profile(build), encoding="utf-8") as file:
                profile = file.read()
            for number, (kernel, choice) in enumerate(choices.items(), 1):
                name = f"{build}-{number}"
                divided[name] = {kernel: choice}
                with open(self.profile(name), "w", encoding="utf-8") as file:
                    file.write(only(profile, kernel))
        return divided

    def measure(self):
        options = self.options
        own_store = os.environ.get("CARVE_STORE") or sys.exit("predicted_ratios.py: CARVE_STORE is not set")
        if options.report:
            with open(options.report, encoding="utf-8") as file:
                report = json.load(file)
        else:
            report = json.loads(self.carve_text("report", "--format=json", store=own_store))
        folder = os.path.realpath(os.path.join(options.tuned or options.tree, options.folder))
        files = decisions_of(own_store, folder)
        if not files:
            sys.exit(f"predicted_ratios.py: the store has no decisions for what was compiled in {folder}")
        os.makedirs(options.workdir, exist_ok=True)
        self.carve_text("merge", *files, "-o", self.profile("winner"), store=own_store)
        with open(self.profile("winner"), encoding="utf-8") as file:
            guards = guards_of(file.read())

        chosen, remarks = choose(report, options.share, options.losers, guards)
        kernels = report["kernels"]
        builds = {}
        winners = {name: best for name, (best, _) in chosen.items() if best}
        if winners:
            builds["winner"] = winners
        for index in range(options.losers):
            profile = loser_profile(kernels, chosen, index, guards)
            if profile:
                build = f"loser{index + 1}"
                builds[build] = {name: its[index] for name, (_, its) in chosen.items() if index < len(its)}
                with open(self.profile(build), "w", encoding="utf-8") as file:
                    file.write(profile)
        if options.alone:
            builds = self.alone(builds)
        for remark in remarks:
            print("# " + remark)
        if not builds:
            return
        good = self.build_all(["nvcc", *builds])
        if "nvcc" not in good:
            return
        print("\t".join(COLUMNS), flush=True)
        for build, choices in builds.items():
            if build in good:
                self.compare(build, choices, kernels)


def stop(_number, _frame):
    raise TimeIsUp()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", help="the sources, with all that a build and a run need")
    parser.add_argument("workdir", nargs="?", help="where builds are made")
    parser.add_argument("--folder", default=".", help="where in TREE the program is built and run")
    parser.add_argument("--tuned", help="the tree in which the program was tuned (default: TREE)")
    parser.add_argument("--build", default="make CC={compiler}", metavar="COMMAND",
                        help="builds the program; {compiler} becomes nvcc or carve-nvcc (default: %(default)s)")
    parser.add_argument("--clean", default="make clean", metavar="COMMAND",
                        help="removes what TREE has of an earlier build (default: %(default)s)")
    parser.add_argument("--report", metavar="FILE", help="the report as JSON (default: the last one of the store)")
    parser.add_argument("--prefix", default=os.environ.get("CARVE_TEST_PREFIX", "build"),
                        help="where carve-nvcc is installed (default: %(default)s)")
    parser.add_argument("--compare", default="build/test/gpu/Compare", help="the program (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=int(os.environ.get("PAIRS", "3")),
                        help="counted pairs of runs for each build (default: PAIRS, or 3)")
    parser.add_argument("--losers", type=int, default=3, help="losers of each kernel (default: %(default)s)")
    parser.add_argument("--alone", action="store_true", help="change one kernel in each build")
    parser.add_argument("--share", type=float, default=0.01, help="least share of GPU time (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one run (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=0, metavar="S",
                        help="seconds for everything; what was measured until then is printed")
    parser.add_argument("--summarize", nargs="+", metavar="FILE", help="what earlier runs printed")
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    options, program = parser.parse_args(words[:split]), words[split + 1:]
    if options.summarize:
        summarize(options.summarize)
        return
    if not options.tree or not options.workdir or not program:
        parser.error("expected TREE WORKDIR -- PROGRAM ARGUMENT..., or --summarize FILE...")
    for place in ("tree", "workdir", "prefix", "compare"):
        setattr(options, place, os.path.realpath(getattr(options, place)))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    measurement = Measurement(options, program)
    try:
        measurement.measure()
    except TimeIsUp:
        print("# stopped before everything was measured")
    counted = [(row.choice.kind, difference(row)) for row in measurement.rows if not row.note]
    print("\n".join(summary(counted)))


if __name__ == "__main__":
    main()
