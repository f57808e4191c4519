#!/usr/bin/env python3
"""Kills compiles and tunings at random moments, by TERM, INT, HUP and KILL, the process or its
group. The output has to be the old one, nvcc's whole one or the whole tuned one; the next command
has to be right, and to leave no file of an earlier one; no process may be left."""

import collections
import glob
import os
import re
import signal
import subprocess
import sys
import time

from campaign import (Outcome, Slots, base_environment, crashed, empty, group_alive, kill_group,
                      option_parser, parse_options, run, run_campaign, snapshot, source_of_bulky, strip, write)

INPUTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Inputs", "samples")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
OLD = b"the old output\n"
OTHERS_LEFTOVERS = re.compile(r"^cc[0-9A-Za-z]{6}\.|^cc[0-9A-Za-z]{6}$|\.lgenfe\.bc$|^tmpxft_")
GRACE_S, ORPHANS_S = 5, 30

FLAGS = ["-O3", "-arch=sm_90", "--no-compress"]
SAMPLES = "--carve-samples=three.samples"
# Name: words of carve-nvcc, output, whether a profile is in force.
COMPILES = {
    "object": (FLAGS + ["-c", "three.cu", "-o", "out/three.o"], "out/three.o", False),
    "object-decided": (FLAGS + ["-c", "three.cu", "-o", "out/three.o"], "out/three.o", True),
    "object-frontend": (FLAGS + ["-c", "three.cu", "-o", "out/three.o"], "out/three.o", "frontend"),
    "program": (FLAGS + ["three.cu", "-o", "out/app"], "out/app", False),
    "program-decided": (FLAGS + ["three.cu", "-o", "out/app"], "out/app", True),
    "rdc-decided": (FLAGS + ["-rdc=true", "three.cu", "-o", "out/rdc"], "out/rdc", True),
    "object-tuned": (FLAGS + ["-c", "three.cu", "-o", "out/three.o", SAMPLES], "out/three.o", False),
    "program-tuned": (FLAGS + ["three.cu", "-o", "out/app", SAMPLES], "out/app", False),
    "restored": (FLAGS + ["-MD", "-c", "three.cu", "-o", "out/three.o"], "out/three.o", True),
}
WAYS = list(COMPILES) + ["carve-tune"]


def processes_of(mark):
    """Processes that have the mark in their environment."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                if mark.encode() in file.read().split(b"\0"):
                    number = int(path.split("/")[2])
                    with open(f"/proc/{number}/stat", "rb") as status:
                        if status.read().rsplit(b")", 1)[1].split()[0] != b"Z":
                            found.append(number)
        except OSError:
            pass
    return found


def names_of(numbers):
    names = []
    for number in numbers:
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                names.append(file.read().replace(b"\0", b" ").decode("utf-8", "replace")[:120])
        except OSError:
            pass
    return "; ".join(names)


def wait_until_gone(mark, seconds):
    end = time.monotonic() + seconds
    while processes_of(mark) and time.monotonic() < end:
        time.sleep(0.02)
    return processes_of(mark)


Known = collections.namedtuple("Known", "seconds nvccs right files")


def profile_of(way):
    return COMPILES[way][2] if way in COMPILES else False


class Kills:
    def __init__(self, options):
        self.options = options
        self.slots = Slots(options, lambda slot: {})

    def environment(self, slot, profile, mark="none"):
        environment = base_environment(slot, CARVE_NVCC=self.options.nvcc, SOAK_MARK=mark)
        environment["CARVE_LOG"] = os.path.join(slot, "carve.log")
        if profile:
            environment["CARVE_PROFILE"] = "frontend.yaml" if profile == "frontend" else "profile.yaml"
        return environment

    def words(self, way):
        if way == "carve-tune":
            return [self.options.carve, "tune", "--samples=three.samples", "--", "./app"]
        return [self.options.carve_nvcc, *COMPILES[way][0]]

    def clean(self, slot):
        """The state before a command: sources, an empty store, nothing made."""
        empty(slot)
        write(os.path.join(slot, "three.cu"), source_of_bulky())
        with open(os.path.join(INPUTS, "three.samples"), "rb") as file:
            write(os.path.join(slot, "three.samples"), file.read())
        entry = "carve-profile: 1\nkernels:\n  - kernel: \"bulky(double*, double const*, int)\"\n    variant: {"
        write(os.path.join(slot, "profile.yaml"), entry + "cap: 64}\n")
        write(os.path.join(slot, "frontend.yaml"), entry + "cap: 64, frontend-cap: 64}\n")
        for name in ("tmp", "home", "out"):
            os.makedirs(os.path.join(slot, name))

    def before(self, slot, way):
        """What has to have been done before the command of a way."""
        if way == "carve-tune":
            self.must(slot, [self.options.carve_nvcc, *COMPILES["object"][0]], False)
        if way == "restored":
            self.must(slot, self.words(way), False)

    def must(self, slot, words, profile):
        done = run(words, slot, self.environment(slot, profile))
        if done.status != 0:
            raise RuntimeError(f"{words}: {done.status}: {done.text()}")
        return done

    def content(self, slot, way):
        output = COMPILES.get(way, COMPILES["object"])[1]
        try:
            with open(os.path.join(slot, output), "rb") as file:
                return strip(file.read())
        except FileNotFoundError:
            return None

    def known(self, slot, memory, way):
        """How long the command takes, what nvcc makes of it, what it has to make, and the files."""
        if way not in memory:
            self.clean(slot)
            plain = [w for w in COMPILES.get(way, COMPILES["object"])[0] if w != SAMPLES]
            self.must(slot, [self.options.nvcc, *plain], False)
            nvccs = self.content(slot, way)
            self.clean(slot)
            self.before(slot, way)
            done = self.must(slot, self.words(way), profile_of(way))
            files = set(snapshot(os.path.join(slot, "out"), contents=False))
            memory[way] = Known(done.seconds, nvccs, self.content(slot, way), files)
        return memory[way]

    def kill(self, slot, way, known, mark, generator, outcome):
        """Starts the command and kills it; the signal and the exit status."""
        number = generator.choice(SIGNALS)
        group = generator.random() < 0.5
        seconds = known.seconds * generator.uniform(0, 1.02)
        with open(os.path.join(slot, "streams"), "wb") as streams:
            process = subprocess.Popen(self.words(way), cwd=slot, stdin=subprocess.DEVNULL, stdout=streams,
                                       stderr=streams, env=self.environment(slot, profile_of(way), mark),
                                       start_new_session=True)
            try:
                process.wait(seconds)
                outcome.count("ended before the signal")
            except subprocess.TimeoutExpired:
                (os.killpg if group else os.kill)(process.pid, number)
            sent = time.monotonic()
            try:
                status = process.wait(ORPHANS_S)
            except subprocess.TimeoutExpired:
                outcome.fault(f"it goes on {ORPHANS_S} s after the signal")
                kill_group(process.pid)
                status = process.wait()
        outcome.notes.update({"way": way, "signal": number.name, "group": group, "after": seconds,
                              "status": status, "ended after": time.monotonic() - sent})
        outcome.count(f"by {number.name}" + (" to the group" if group else ""))
        return number, status

    def check_processes(self, number, mark, outcome):
        """None may be left: at once where we could have ended them, else when they are done."""
        gentle = number != signal.SIGKILL
        left = wait_until_gone(mark, GRACE_S if gentle else ORPHANS_S)
        if left:
            outcome.fault(f"{len(left)} process(es) left after {number.name}: {names_of(left)}")
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            wait_until_gone(mark, ORPHANS_S)

    def check_output(self, slot, way, known, old, outcome):
        found = self.content(slot, way)
        names = [(old, "the old one"), (known.right, "the whole one"), (known.nvccs, "nvcc's whole one")]
        for content, name in names:
            if found == content:
                outcome.count(f"outputs: {name}")
                return
        decided = way not in COMPILES or profile_of(way)
        if not decided and found is not None and known.nvccs.startswith(found):
            # With nothing decided before the command nvcc's own tools write the output.
            outcome.count("outputs: what nvcc's own tools had written")
            return
        what = "no output" if found is None else f"an output of {len(found)} bytes that is none of these"
        if decided or found is not None:
            outcome.fault(f"{what}: the old one has {old and len(old)} bytes, nvcc's "
                          f"{len(known.nvccs)}, the right one {len(known.right)}")
        else:
            outcome.count("outputs: removed, as nvcc does")

    def left_behind(self, slot, known, outcome, when):
        """Files that belong to no finished command."""
        for folder, _, names in os.walk(os.path.join(slot, "tmp")):
            inner = os.path.relpath(folder, slot)
            own = [name for name in names if not OTHERS_LEFTOVERS.search(name)]
            outcome.count("files of gcc's and cicc's left", len(names) - len(own))
            if own:
                outcome.fault(f"{when}: {inner}/{own[0]} and {len(own) - 1} more are left")
        for name in set(snapshot(os.path.join(slot, "out"), contents=False)) - known.files:
            if name.endswith(".d"):
                continue
            outcome.fault(f"{when}: out/{name} is left")
        for name in snapshot(os.path.join(slot, "store"), contents=False):
            if ".carve-" in name or ".tmp" in name:
                outcome.fault(f"{when}: store/{name} is left")
        for name in os.listdir(slot):
            if ".carve-" in name:
                outcome.fault(f"{when}: {name} is left")

    def check_next(self, slot, way, known, outcome):
        """The same command again: right, and nothing left."""
        done = run(self.words(way), slot, self.environment(slot, profile_of(way)))
        if done.status != 0 or crashed(done):
            outcome.fault(f"the next command ends with {done.status}: {done.text()[:300]}")
        elif self.content(slot, way) != known.right:
            outcome.fault("the next command makes another output than one that was not killed before")
        self.left_behind(slot, known, outcome, "after the next command")
        verified = run([self.options.carve, "store", "verify"], slot, self.environment(slot, False))
        if verified.status != 0:
            outcome.fault(f"store verify: {verified.text()[:400]}")

    def case(self, index, generator, folder):
        outcome = Outcome()
        with self.slots.take() as (slot, memory):
            way = generator.choice(WAYS)
            known = self.known(slot, memory, way)
            self.one(slot, way, known, f"kill-{os.getpid()}-{index}", generator, outcome)
            if outcome.faults:
                subprocess.run(["cp", "-a", slot, os.path.join(folder, "slot")], check=False)
        return outcome

    def one(self, slot, way, known, mark, generator, outcome):
        self.clean(slot)
        self.before(slot, way)
        if way in COMPILES and way != "restored" and generator.random() < 0.5:
            write(os.path.join(slot, COMPILES[way][1]), OLD)
        old = self.content(slot, way)
        number, status = self.kill(slot, way, known, mark, generator, outcome)
        self.check_processes(number, f"SOAK_MARK={mark}", outcome)
        self.check_output(slot, way, known, old, outcome)
        if number != signal.SIGKILL:
            self.left_behind(slot, known, outcome, f"after {number.name}")
            if status == 0 and way in COMPILES and self.content(slot, way) != known.right:
                outcome.fault("exit status 0, and the output is not the right one")
        self.check_next(slot, way, known, outcome)


def main():
    options = parse_options(option_parser(__doc__, 300))
    kills = Kills(options)
    status = run_campaign("kills", options, kills.case)
    kills.slots.clear()
    return status


if __name__ == "__main__":
    sys.exit(main())
