#!/usr/bin/env python3
"""Finds what a program gains by the best register cap for all its kernels, as users do it by hand. It is not a test.

    cap_sweep.py [options] PROGRAMS WORKDIR NAME...

PROGRAMS is as for programs.py. Each program is built by nvcc, and once for each cap by both routes: `all` gives nvcc
-maxrregcount, which reaches the front end and ptxas, and `ptxas` gives it to ptxas alone. Each build is compared with
the one without a cap by whole runs. The best of each route is then compared again, because the best of many is partly
the luckiest. A build whose output differs does not count.

Prints a line for each program, tab-separated with a heading. Times are in ms; a ratio is the GPU time without a cap
over the one with it, `-` if every cap is slower. Lines that begin with # say what failed."""

import argparse
import os
import queue
import shlex
import shutil
from concurrent.futures import ThreadPoolExecutor

import programs as tool

ROUTES = {"all": "-maxrregcount={}", "ptxas": "-Xptxas -maxrregcount={}"}
COLUMNS = ("program", "set", "nvcc_ms", *(f"{route}_{what}" for route in ROUTES for what in ("cap", "ratio")),
           "compared", "left_out")
COMPILER = """#!/bin/sh
exec {} {} "$@"
"""


class CapSweep(tool.Programs):
    def environment(self, program, mode, gpu=None):
        its = super().environment(program, mode, gpu)
        its["PATH"] = os.path.join(self.options.workdir, mode, "bin") + os.pathsep + its["PATH"]
        return its

    def write_compiler(self, mode, option):
        """Makes an nvcc that is given one more option, for builds that find it by PATH."""
        path = os.path.join(self.options.workdir, mode, "bin", "nvcc")
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(COMPILER.format(shlex.quote(self.options.nvcc), option))
        os.chmod(path, 0o755)

    def compiler(self, mode):
        return "nvcc"

    def ratio(self, program, mode, pairs, gpu, cores):
        """The ratio and nvcc's time of one build. Fails if the output differs."""
        compared = self.compare(program, mode, gpu, cores, pairs)
        if compared.get("output") != ["equal"]:
            raise tool.Failed("the output " + " ".join(compared.get("output", ["is not known"])))
        return float(compared["gpu-ratio"][0]), compared["gpu-ms-a"][0]

    def measure(self, program, builds, gpu, cores):
        best, plain, count, left_out = {}, "nan", 0, 0
        for mode in (mode for mode in builds if mode != "nvcc"):
            if self.left() <= self.options.least:
                left_out += 1
                continue
            try:
                ratio, plain = self.ratio(program, mode, 1, gpu, cores)
            except (tool.Failed, ValueError, KeyError) as failure:
                left_out += 1
                self.say(f"# {program['name']}, {mode}: {type(failure).__name__}: {failure}")
                continue
            count += 1
            route, cap = mode.split("-")
            if ratio > max(1, best.get(route, (1, ""))[0]):
                best[route] = (ratio, cap)
        words = []
        for route in ROUTES:
            if route not in best:
                words += ["-", "-"]
                continue
            ratio, cap = best[route]
            try:
                ratio, plain = self.ratio(program, f"{route}-{cap}", self.options.last_pairs, gpu, cores)
            except (tool.Failed, ValueError, KeyError) as failure:
                self.say(f"# {program['name']}, {route}-{cap}: its ratio is of one pair, "
                         f"{type(failure).__name__}: {failure}")
            words += [cap, f"{ratio:.4f}"]
        self.say("\t".join((program["name"], program["set"], plain, *words, str(count), str(left_out))))

    def work(self, todo, gpu, cores):
        while self.left() > self.options.least:
            try:
                program, builds = todo.get_nowait()
            except queue.Empty:
                return
            try:
                self.measure(program, builds, gpu, cores)
            except (tool.Failed, ValueError, KeyError, OSError) as failure:
                self.say(f"# {program['name']}: {type(failure).__name__}: {failure}")

    def measure_all(self):
        options = self.options
        modes = {f"{route}-{cap}": option.format(cap) for route, option in ROUTES.items() for cap in options.caps}
        for mode, option in {"nvcc": "", **modes}.items():
            self.write_compiler(mode, option)
        todo = queue.Queue()
        with ThreadPoolExecutor(options.jobs) as pool:
            made = [(program, {mode: pool.submit(self.first_build, program, mode) for mode in ("nvcc", *modes)})
                    for program in self.programs]
            for program, builds in made:
                built = [mode for mode in builds if builds[mode].result()]
                if "nvcc" in built:
                    todo.put((program, built))
        self.say("\t".join(COLUMNS))
        self.share_gpus(todo)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tool.add_options(parser, names="+", least=20)
    parser.add_argument("--caps", default="32,40,48,64,80,96,128,168", help="a list of caps (default: %(default)s)")
    parser.add_argument("--last-pairs", type=int, default=3, help="pairs for the best ones (default: %(default)s)")
    options = parser.parse_args()
    options.gpus, options.caps = options.gpus.split(","), options.caps.split(",")
    if not all(cap.isdigit() for cap in options.caps):
        parser.error(f"--caps has '{','.join(options.caps)}', expected a list of numbers")
    options.nvcc = shutil.which("nvcc")
    if not options.nvcc:
        parser.error("nvcc is not in PATH")
    tool.check_places(parser, options)
    tool.measure_until_stopped(CapSweep(options))


if __name__ == "__main__":
    main()
