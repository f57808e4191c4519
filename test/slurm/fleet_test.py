#!/usr/bin/env python3
"""Tunes a program of many kernels with `carve fleet` on a real Slurm, whose controller and three
nodes run on this machine, and compares what is decided with a single `carve tune`.

While the job array runs, tasks are killed and requeued and a node is lost. Recorded samples take the
place of the GPU. Ends with status 77 if Slurm or nvcc is missing."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cluster import Cluster, missing_programs

NODES = ["node1", "node2", "node3"]
# Slurm fills the nodes in their order, so this one is busy.
LOST_NODE = "node2"
KERNELS_OF_A_FILE = 10
NVCC_FOLDERS = os.environ.get("PATH", "") + ":/usr/local/cuda/bin"
# Most of a template for a site. No GPU is asked for, as there is none.
TEMPLATE = """\
#!/bin/sh
#SBATCH --job-name=carve-fleet
#SBATCH --array=@ARRAY@
#SBATCH --nodes=@NODES@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=@FOLDER@/log/%a.txt

exec @RUN@
"""
KERNEL = """\
extern "C" __global__ void k{number}(double *Y, const double *X, int N) {{
  double A[{values}];
#pragma unroll
  for (int I = 0; I < {values}; ++I)
    A[I] = X[(threadIdx.x * {values} + I) % N];
  for (int Round = 0; Round < N; ++Round)
#pragma unroll
    for (int I = 0; I < {values}; ++I)
      A[I] = A[(I + 1) % {values}] * {factor} + A[I];
#pragma unroll
  for (int I = 0; I < {values}; ++I)
    Y[threadIdx.x * {values} + I] = A[I];
}}
"""
DEVICE = ("probe\tdevice\t0\tNVIDIA H200\tGPU-0\t9\t0\t132\t150109880320\t65536\t65536\t2048\t32\t"
          "233472\t232448\t49152\t1024\t0\t580.159.03\t0\t0\t0\t0\n")


class Failed(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)


class Program:
    """Kernels k0, k1, ..., compiled by carve-nvcc into the store, and samples of their variants."""

    def __init__(self, options, work):
        self.work, self.options = work, options
        self.carve = str(pathlib.Path(options.carve_nvcc).with_name("carve"))
        self.environment = {**os.environ, "CARVE_STORE": str(work / "store"), "CARVE_RUN": "none",
                            "CARVE_EFFORT": "0", "TMPDIR": str(work / "tmp")}
        self.samples = work / "kernels.samples"
        self.template = TEMPLATE
        # What a plan names, and what a single tuning runs.
        self.planned = self.single = ["./app"]

    def run(self, *words, status=0, **more):
        done = subprocess.run([str(word) for word in words], cwd=self.work, text=True,
                              capture_output=True, check=False,
                              env={**self.environment, **more})
        check(done.returncode == status, f"{words[0]} {words[1]} ended with {done.returncode}, "
              f"expected {status}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def compile(self):
        for first in range(0, self.options.shards, KERNELS_OF_A_FILE):
            last = min(first + KERNELS_OF_A_FILE, self.options.shards)
            source = self.work / f"file{first}.cu"
            source.write_text("".join(KERNEL.format(number=number, values=13 + number % 4,
                                                    factor=f"1.0{number + 100}")
                                      for number in range(first, last)))
            self.run(self.options.carve_nvcc, "-O3", "-arch=sm_90", "-c", source.name, "-o",
                     f"file{first}.o")

    def write_samples(self):
        """Every third kernel keeps nvcc's code; of the others a cap of 32 is the fastest."""
        lines = ["carve-samples\t1\n", "probe\tcarve-probe\t1\t0\t-\n", DEVICE]
        for kernel in range(self.options.shards):
            lines.append(f"probe\tkernel\tk{kernel}\t64,1,1\t256,1,1\t0\t0\t1,1,1\t0\t40\t0\t100\t"
                         "2000000\t19995\t0\n")
        lines.append("probe\tend\n")
        noise = random.Random(19)
        for kernel in range(self.options.shards):
            def sample(variant, ratio, count, kernel=kernel):
                for _ in range(count):
                    ns = int(2000000 * ratio * noise.uniform(0.9995, 1.0005))
                    lines.append(f"sample\tk{kernel}\t{variant}\t{ns}\n")
            for variant in ("default", "control", "untouched"):
                sample(variant, 1, 9)
            for cap in range(8, 256):
                fast = 0.8 if kernel % 3 else 1.1
                sample(f"r{cap}", fast + abs(cap - 32) * 0.002, 3)
        lines += ["program\t420000\t0.25\n"] * 3
        self.samples.write_text("".join(lines))

    def tuning(self):
        return ["--mode=fixed", f"--samples={self.samples}"]


class Fleet:
    """A plan, its tasks, and what became of them."""

    def __init__(self, program, cluster, name="fleet"):
        self.program, self.cluster = program, cluster
        self.folder = program.work / name
        self.noted = collections.OrderedDict()
        self.random = random.Random(program.options.seed)

    def plan(self, shards, *more):
        template = self.program.work / "job.sh.in"
        template.write_text(self.program.template)
        self.program.run(self.program.carve, "fleet", "plan", "-o", self.folder,
                         f"--shards={shards}", f"--template={template}", *more,
                         *self.program.tuning(), "--", *self.program.planned)

    def submit(self, *more):
        environment = {**self.program.environment, **self.cluster.environment,
                       "CARVE_STORE": str(self.program.work / "unused"),
                       "PATH": os.environ["PATH"] + ":" + self.cluster.environment["PATH"]}
        done = subprocess.run(["sbatch", "--parsable", *more, str(self.folder / "job.sh")],
                              env=environment, cwd=self.program.work, capture_output=True,
                              text=True, check=False)
        check(done.returncode == 0, f"sbatch: {done.stderr}")
        return done.stdout.strip()

    def results(self):
        return sorted(self.folder.glob("shard-*/*.json"))

    def await_results(self, count, seconds=1200):
        end = time.monotonic() + seconds
        while len(self.results()) < count:
            check(time.monotonic() < end, f"{len(self.results())} results after {seconds} s, "
                  f"expected {count}")
            check(self.cluster.tasks(), f"the queue is empty with {len(self.results())} results, "
                  f"expected {count}")
            time.sleep(0.3)

    def running(self, count):
        tasks = self.cluster.tasks("running")
        return self.random.sample(tasks, min(count, len(tasks)))

    def note(self, what, value):
        self.noted[what] = value
        print(f"{what}: {value}", flush=True)

    def disturb(self):
        """Kills and requeues tasks and loses a node, each when some more results are there."""
        shards = self.program.options.shards
        killed = requeued = 0
        for part in range(1, 6):
            self.await_results(shards * part // 10)
            for task in self.running(1):
                self.cluster.ask("scancel", "--signal=KILL", task, check=False)
                killed += 1
            for task in self.running(2):
                self.cluster.ask("scontrol", "requeue", task, check=False)
                requeued += 1
        self.note("tasks killed", killed)
        self.note("tasks requeued", requeued)
        early = json.loads(self.program.run(self.program.carve, "fleet", "merge", "--format=json",
                                            self.folder, status=1))
        check(early["unfinished"], "a merge in the middle names no unfinished shard")
        self.note("shards unfinished in the middle", len(early["unfinished"]))
        self.await_results(shards)
        end = time.monotonic() + 60
        while not self.cluster.tasks_on(LOST_NODE) and time.monotonic() < end:
            time.sleep(0.1)
        lost = len(self.cluster.tasks_on(LOST_NODE))
        self.cluster.lose_node(LOST_NODE)
        self.note("processes on the lost node", lost)

    def merge(self):
        """Merges, and submits what is not finished again, as the report says, until all is."""
        for again in range(6):
            self.cluster.await_empty(2400)
            start = time.monotonic()
            done = subprocess.run([self.program.carve, "fleet", "merge", str(self.folder)],
                                  env=self.program.environment, cwd=self.program.work,
                                  capture_output=True, text=True, check=False)
            seconds = time.monotonic() - start
            if done.returncode == 0:
                self.note("submitted again", again)
                self.note("merge", f"{seconds:.2f} s")
                return done.stdout
            print(done.stdout + done.stderr, flush=True)
            lines = re.findall(r"sbatch (.*) \S+/job.sh", done.stdout)
            check(lines, f"merge ended with {done.returncode}: {done.stdout}{done.stderr}")
            for options in lines:
                self.submit(*options.split())
        raise Failed("six times were not enough")


def check_not_repeated(fleet):
    """Each node has tuned a shard at most once to the end, however often it was asked to."""
    finished = collections.Counter()
    already = 0
    for log in fleet.folder.glob("log/*.txt"):
        text = log.read_text(errors="replace")
        already += text.count("finished already")
        for shard, node in re.findall(r"shard (\d+) on (\S+): \d+ kernels tuned", text):
            finished[shard, node] += 1
    repeated = [key for key, count in finished.items() if count > 1]
    check(not repeated, f"tuned more than once: {repeated[:5]}")
    fleet.note("tunings", sum(finished.values()))
    fleet.note("found finished", already)


def check_same(program, fleet):
    """The profile of the nodes decides what a single tuning decides."""
    (program.work / "single").mkdir()
    shutil.copytree(program.work / "store", program.work / "single/store")
    start = time.monotonic()
    program.run(program.carve, "tune", "--quiet", *program.tuning(), "--profile=single.yaml", "--",
                *program.single, CARVE_STORE=str(program.work / "single/store"))
    fleet.note("a single tuning", f"{time.monotonic() - start:.1f} s")

    def decisions(path):
        text = path.read_text()
        return dict(re.findall(r'- kernel: "(.*)"\n(?:    arch: .*\n)?(?:    digest: .*\n)?'
                               r"    variant: (.*)\n", text))
    single = decisions(program.work / "single.yaml")
    merged = decisions(fleet.folder / "profile.yaml")
    check(len(single) == program.options.shards, f"{len(single)} decisions of the single tuning, "
          f"expected {program.options.shards}")
    differ = [kernel for kernel in single if single[kernel] != merged.get(kernel)]
    check(not differ and len(single) == len(merged),
          f"{len(differ)} decisions differ, such as {differ[:1]}; {len(merged)} decisions")
    fleet.note("decisions as of the single tuning",
               f"{len(single)}, {sum(v != 'default' for v in single.values())} winners")


def check_program_nodes(program, cluster):
    """A program that starts itself by srun gets one node at a time. Where Slurm gave a shard the same
    node twice, the report says which nodes to exclude."""
    fleet = Fleet(program, cluster, "started")
    fleet.plan(3, "--program-nodes=1")
    fleet.submit()
    fleet.merge()
    nodes = {shard: len(list(fleet.folder.glob(f"shard-{shard}/*.json"))) for shard in range(3)}
    check(nodes == {0: 2, 1: 2, 2: 2}, f"nodes by shard: {nodes}, expected two of each")
    fleet.note("shards of a program that starts itself", 3)


def test(options, work):
    (work / "tmp").mkdir()
    program = Program(options, work)
    program.compile()
    program.write_samples()
    with Cluster(work / "slurm", NODES, options.cpus) as cluster:
        fleet = Fleet(program, cluster)
        fleet.plan(options.shards)
        fleet.note("shards", options.shards)
        start = time.monotonic()
        fleet.submit()
        fleet.disturb()
        print(fleet.merge())
        fleet.note("the whole array", f"{time.monotonic() - start:.0f} s")
        fleet.note("results by node", dict(collections.Counter(
            result.stem for result in fleet.results())))
        check_not_repeated(fleet)
        check_same(program, fleet)
        check(not (work / "unused").exists(), "a task has written to the store")
        check_program_nodes(program, cluster)
        states = cluster.states()
        fleet.note("nodes at the end", states)
        check(states[LOST_NODE] in ("down", "unknown"), f"the lost node is {states[LOST_NODE]}")
    print("\n| | |\n|-|-|")
    for what, value in fleet.noted.items():
        print(f"| {what} | {value} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--carve-nvcc", required=True, type=os.path.abspath)
    parser.add_argument("--shards", type=int, default=200)
    parser.add_argument("--cpus", type=int, default=2, help="of each node")
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--work", help="a folder that is kept (default: a temporary one)")
    options = parser.parse_args()
    missing = missing_programs()
    if not os.environ.get("CARVE_NVCC") and not shutil.which("nvcc", path=NVCC_FOLDERS):
        missing.append("nvcc")
    if missing:
        print(f"skipped: {', '.join(missing)} not found (Debian: slurm-wlm, munge)")
        return 77
    # Whoever ends us ends the cluster, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        if options.work:
            os.makedirs(options.work)
            test(options, pathlib.Path(options.work).resolve())
        else:
            with tempfile.TemporaryDirectory(prefix="carve-slurm-") as work:
                test(options, pathlib.Path(work))
    except Failed as failure:
        print(f"failed: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
