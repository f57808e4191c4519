#!/usr/bin/env python3
"""Measures what tunings gain on many programs, on all GPUs of a machine. It is not a test.

    programs.py [options] PROGRAMS WORKDIR [NAME...]

PROGRAMS has a folder for each program, with all that its build needs and a file carve-program.json:

    {"name": "heat", "set": "held-out", "build": "make CC={compiler}", "prepare": "", "command": ["./main", "100"]}

`build` is run in a copy of the folder, with nvcc or carve-nvcc for {compiler}, `prepare` makes inputs after it, and
`set` groups programs in the summary. A program is built by nvcc, and by carve-nvcc for each of --modes: a tuning with
--entries=values, blocks or off; `fixed` by whole runs alone; `all` a timing run of everything, without decisions;
`few` as values, on two cores. It is then tuned, built again, and compared with nvcc's build in alternating pairs of
whole runs. Each GPU measures another program, with its share of the cores.

With --losers, predicted_ratios.py then compares what the tuning with --entries=values saw with whole runs.

Prints a line for each program and mode as it is known, tab-separated with a heading. Times are in ms or s, sizes in
bytes; `ratio` is nvcc's GPU time over the tuned program's, with its interval. WORKDIR keeps builds, stores, and for
each program and mode the report as JSON and the log. Lines that begin with # say what failed, and at the end the
geometric means."""

import argparse
import collections
import json
import math
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from predicted_ratios import end_session

DESCRIPTION = "carve-program.json"

# What `carve tune` is given in a mode.
MODES = {
    "values": ["--entries=values"],
    "blocks": ["--entries=blocks"],
    "off": ["--entries=off"],
    "fixed": ["--mode=fixed"],
    "few": ["--entries=values"],
    "all": ["--points=all", "--max-runs=3"],
}
FEW_CORES = 2
COLUMNS = ("program", "set", "mode", "nvcc_ms", "tuned_ms", "ratio", "low", "high", "wall_ratio", "output", "tuned",
           "kernels", "entries", "runs", "tuning_s", "plain_s", "compiled", "timed", "nvcc_bytes", "tuned_bytes",
           "nvcc_build_s", "tuned_build_s")

Built = collections.namedtuple("Built", "folder seconds")


class Failed(Exception):
    """A step of one program and mode failed; the others go on."""


class Programs:
    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + options.limit if options.limit else math.inf
        self.programs = [self.described(name) for name in options.names]
        self.rows = []
        self.printing = threading.Lock()
        self.children = set()

    def described(self, name):
        path = os.path.join(self.options.programs, name, DESCRIPTION)
        try:
            with open(path, encoding="utf-8") as file:
                program = {"set": "", "clean": "make clean", "prepare": "", **json.load(file), "name": name}
        except (OSError, ValueError, TypeError) as error:
            sys.exit(f"{os.path.basename(sys.argv[0])}: {path}: {error}")
        for key in ("build", "command"):
            if not program.get(key):
                sys.exit(f"{os.path.basename(sys.argv[0])}: {path} has no '{key}'")
        return program

    def say(self, line):
        with self.printing:
            print(line, flush=True)

    def left(self):
        return self.end - time.monotonic()

    def place(self, program, mode, suffix=""):
        return os.path.join(self.options.workdir, mode, program["name"] + suffix)

    def environment(self, program, mode, gpu=None):
        """The environment of builds and runs: nothing of the user's own settings is in force."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("CARVE_")}
        if "CARVE_NVCC" in os.environ:
            own["CARVE_NVCC"] = os.environ["CARVE_NVCC"]
        own.update(CARVE_STORE=self.place(program, mode, ".store"), CARVE_RUN="none",
                   PATH=os.path.join(self.options.prefix, "bin") + os.pathsep + os.environ["PATH"])
        if gpu is not None:
            own["CUDA_VISIBLE_DEVICES"] = gpu
        return own

    def run(self, command, step, log, cores=None, **how):
        """Runs a command in a session of its own, with its output in a file. Returns its standard output."""
        before = (lambda: os.sched_setaffinity(0, cores)) if cores else None
        with open(log, "w+", encoding="utf-8", errors="replace") as out, open(log + ".err", "wb") as err:
            child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True,
                                     preexec_fn=before, **how)
            self.children.add(child)
            try:
                status = child.wait(timeout=max(0.1, min(self.left(), self.options.timeout)))
            except subprocess.TimeoutExpired:
                end_session(child)
                raise Failed(f"{step} took too long") from None
            finally:
                self.children.discard(child)
            out.seek(0)
            text = out.read()
        if status:
            raise Failed(f"{step} ended with {status}, see {log}.err")
        return text

    def compiler(self, mode):
        """What {compiler} in a program's `build` stands for."""
        return "nvcc" if mode == "nvcc" else "carve-nvcc"

    def build(self, program, mode, cores=None):
        """Builds in the folder of a mode. Returns the seconds."""
        begin = time.monotonic()
        self.run(["/bin/sh", "-c", program["build"].replace("{compiler}", self.compiler(mode))], "the build",
                 self.place(program, mode, ".build"), cores, cwd=self.place(program, mode),
                 env=self.environment(program, mode))
        return time.monotonic() - begin

    def first_build(self, program, mode):
        """Copies a program, builds it and makes its inputs. Returns the build, or nothing if it failed."""
        try:
            folder = self.place(program, mode)
            shutil.copytree(os.path.join(self.options.programs, program["name"]), folder, symlinks=True)
            seconds = self.build(program, mode)
            if program["prepare"] and mode != "nvcc":
                self.run(["/bin/sh", "-c", program["prepare"]], "its preparation",
                         self.place(program, mode, ".prepare"), cwd=folder, env=self.environment(program, mode))
            return Built(folder, seconds)
        except Failed as failure:
            self.say(f"# {program['name']}, {mode}: {failure}")
            return None

    def executable(self, program, mode):
        return os.path.join(self.place(program, mode), program["command"][0])

    def tune(self, program, mode, gpu, cores):
        """Tunes and returns the report."""
        carve = os.path.join(self.options.prefix, "bin", "carve")
        text = self.run([carve, "tune", *MODES[mode], *self.options.tune, "--format=json", "--", *program["command"]],
                        "the tuning", self.place(program, mode, ".json"), cores, cwd=self.place(program, mode),
                        env={**self.environment(program, mode, gpu), "CARVE_LOG": self.place(program, mode, ".log")})
        return json.loads(text)

    def compare(self, program, mode, gpu, cores, pairs=None):
        """The names and values that Compare prints for nvcc's build and the one of a mode."""
        folder, words = self.place(program, mode), program["command"]
        shutil.copy2(self.executable(program, "nvcc"), os.path.join(folder, words[0] + ".nvcc"))
        pair = [shlex.join([first, *words[1:]]) for first in (words[0] + ".nvcc", words[0])]
        log = self.place(program, mode, ".compared")
        try:
            self.run([self.options.compare, f"--pairs={pairs or self.options.pairs}",
                      f"--timeout={self.options.run_timeout}", "--prefix=" + self.options.prefix, "--kernels", *pair],
                     "Compare", log, cores, cwd=folder, env=self.environment(program, mode, gpu))
        except Failed as failure:
            if "ended with 2," not in str(failure):  # 2: the outputs differ, which a line tells.
                raise
        with open(log, encoding="utf-8") as file:
            lines = [line.rstrip("\n").split("\t") for line in file]
        return {line[0]: line[1:] for line in lines if line[0] != "kernel"}

    def measure(self, program, mode, builds, gpu, cores):
        """Tunes, builds again and compares. Prints the line."""
        plain = os.path.getsize(self.executable(program, "nvcc"))
        few = sorted(cores)[:FEW_CORES]
        report = self.tune(program, mode, gpu, few if mode == "few" else cores)
        compared, seconds, size = {}, math.nan, plain
        if mode != "all":
            self.run(["/bin/sh", "-c", program["clean"]], "the removal", self.place(program, mode, ".clean"),
                     cwd=self.place(program, mode), env=self.environment(program, mode))
            seconds = self.build(program, mode, cores)
            size = os.path.getsize(self.executable(program, mode))
            compared = self.compare(program, mode, gpu, cores)
        kernels = report["kernels"]
        ratio = [float(value) for value in compared.get("gpu-ratio", [math.nan] * 3)]
        row = (program["name"], program["set"], mode, compared.get("gpu-ms-a", ["nan"])[0],
               compared.get("gpu-ms-b", ["nan"])[0], *ratio, compared.get("wall-ratio", ["nan"])[0],
               " ".join(compared.get("output", ["-"])), sum(kernel["tuned"] for kernel in kernels), len(kernels),
               sum(len(kernel.get("entries", [])) for kernel in kernels), report["runs"], f"{report['wall-s']:.1f}",
               f"{report['plain-wall-s']:.2f}", report["variants-compiled"], report["variants-timed"], plain, size,
               f"{builds['nvcc'].seconds:.1f}", f"{seconds:.1f}")
        with self.printing:
            self.rows.append(row)
            print(*row, sep="\t", flush=True)

    def predict(self, program, gpu, cores):
        """Has predicted_ratios.py compare the ratios of the timing runs with those of whole runs, in a file."""
        options, mode = self.options, "values"
        folder = self.place(program, mode)
        script = os.path.join(os.path.dirname(os.path.realpath(__file__)), "predicted_ratios.py")
        seconds = min(options.predict_limit, self.left() - 5)
        self.run([sys.executable, script, f"--losers={options.losers}", f"--pairs={options.pairs}",
                  f"--limit={seconds:.0f}", f"--timeout={options.run_timeout}", "--prefix=" + options.prefix,
                  "--compare=" + options.compare, "--report=" + self.place(program, mode, ".json"),
                  "--build=" + program["build"], "--clean=" + program["clean"], *options.predict, folder,
                  self.place(program, mode, ".builds"), "--", *program["command"]], "predicted_ratios.py",
                 self.place(program, mode, ".predicted"), cores, cwd=folder,
                 env=self.environment(program, mode, gpu))

    def work(self, todo, gpu, cores):
        while self.left() > self.options.least:
            try:
                program, modes, builds = todo.get_nowait()
            except queue.Empty:
                return
            for mode in modes:
                if self.left() <= self.options.least:
                    self.say(f"# {program['name']}, {mode}: no time left")
                    continue
                try:
                    self.measure(program, mode, builds, gpu, cores)
                    if mode == "values" and self.options.losers and self.left() > self.options.least:
                        self.predict(program, gpu, cores)
                except (Failed, ValueError, KeyError, OSError) as failure:
                    self.say(f"# {program['name']}, {mode}: {type(failure).__name__}: {failure}")

    def stop(self, number, _frame):
        """Ends what runs. Called for a signal."""
        for child in list(self.children):
            end_session(child)
        os._exit(128 + number)

    def share_gpus(self, todo):
        """Works on what is in a queue, on each GPU with its share of the cores."""
        cores = sorted(os.sched_getaffinity(0))
        share = max(1, len(cores) // len(self.options.gpus))
        workers = [threading.Thread(target=self.work, args=(todo, gpu, set(cores[share * rank:share * (rank + 1)])))
                   for rank, gpu in enumerate(self.options.gpus)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        while not todo.empty():
            self.say(f"# {todo.get_nowait()[0]['name']}: no time left")

    def measure_all(self):
        options = self.options
        kinds = ["nvcc", *options.modes]
        builds = collections.defaultdict(dict)
        with ThreadPoolExecutor(options.jobs) as pool:
            for program, mode, built in [(program, mode, pool.submit(self.first_build, program, mode))
                                         for program in self.programs for mode in kinds]:
                if built.result():
                    builds[program["name"]][mode] = built.result()
        todo = queue.Queue()
        for program in self.programs:
            its = builds[program["name"]]
            if "nvcc" in its:
                todo.put((program, [mode for mode in options.modes if mode in its], its))
        self.say("\t".join(COLUMNS))
        self.share_gpus(todo)
        for line in summary(self.rows):
            self.say(line)


def summary(rows):
    """The geometric means of the ratios by set and mode, and the least ratio."""
    groups = collections.defaultdict(list)
    for row in rows:
        values = dict(zip(COLUMNS, row))
        if not math.isnan(values["ratio"]):
            groups[values["set"], values["mode"]].append(values)
    lines = []
    for (group, mode), its in sorted(groups.items()):
        ratios = [values["ratio"] for values in its]
        mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
        seconds = sorted(float(values["tuning_s"]) for values in its)
        equal = sum(values["output"] == "equal" for values in its)
        lines.append(f"# {group}, {mode}: {len(its)} programs, {mean:.4f} times as fast in the geometric mean, "
                     f"{min(ratios):.4f} the least, outputs equal in {equal}, "
                     f"a tuning {seconds[len(seconds) // 2]:.1f} s in the median")
    return lines


def add_options(parser, names, least):
    """Adds what all tools for folders of programs are given. `names` says how many NAMEs there are."""
    parser.add_argument("programs", help="the folder of the programs")
    parser.add_argument("workdir", help="where everything is made; it must be empty or missing")
    parser.add_argument("names", nargs=names, help="the programs, in their order" + " (default: all)" * (names == "*"))
    parser.add_argument("--gpus", default="0", help="a list of numbers (default: %(default)s)")
    parser.add_argument("--prefix", default=os.environ.get("CARVE_TEST_PREFIX", "build"),
                        help="where carve-nvcc is installed (default: %(default)s)")
    parser.add_argument("--compare", default="build/test/gpu/Compare", help="the program (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="builds at once (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one step (default: %(default)s)")
    parser.add_argument("--run-timeout", type=float, default=30, help="seconds for one run (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=0, help="seconds for everything (default: no limit)")
    parser.add_argument("--least", type=float, default=least,
                        help="seconds that must be left to begin a comparison (default: %(default)s)")


def check_places(parser, options):
    """Checks WORKDIR and makes all paths absolute."""
    if os.path.isdir(options.workdir) and os.listdir(options.workdir):
        parser.error(f"WORKDIR {options.workdir} is not empty")
    for place in ("programs", "workdir", "prefix", "compare"):
        setattr(options, place, os.path.realpath(getattr(options, place)))


def measure_until_stopped(programs):
    """Measures, and ends what runs if a signal comes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, programs.stop)
    programs.measure_all()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, names="*", least=40)
    parser.add_argument("--modes", default="values", help=f"a list of {', '.join(MODES)} (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=3, help="pairs of runs that are counted (default: %(default)s)")
    parser.add_argument("--losers", type=int, default=0, help="losers of each kernel for predicted_ratios.py")
    parser.add_argument("--predict-limit", type=float, default=60, help="seconds for predicted_ratios.py")
    parser.add_argument("--predict", action="append", default=[], metavar="OPTION",
                        help="more for predicted_ratios.py; repeatable")
    parser.add_argument("--tune", action="append", default=[], metavar="OPTION", help="more for carve tune; repeatable")
    options = parser.parse_args()
    options.modes, options.gpus = options.modes.split(","), options.gpus.split(",")
    for mode in options.modes:
        if mode not in MODES:
            parser.error(f"--modes has '{mode}', expected a list of {', '.join(MODES)}")
    check_places(parser, options)
    options.names = options.names or sorted(name for name in os.listdir(options.programs)
                                            if os.path.exists(os.path.join(options.programs, name, DESCRIPTION)))
    if not options.names:
        parser.error(f"PROGRAMS {options.programs} has no folder with a {DESCRIPTION}")
    programs = Programs(options)
    for mode in ["nvcc", *options.modes]:
        os.makedirs(os.path.join(options.workdir, mode), exist_ok=True)
    measure_until_stopped(programs)


if __name__ == "__main__":
    main()
