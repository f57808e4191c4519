#!/usr/bin/env python3
"""Tunes an MPI program on a real Slurm, whose controller and three nodes run on this machine: its
ranks are started by srun on two nodes for each run that a shard makes, and what the nodes decide is
compared with a single `carve tune` whose runs are started by mpirun. Then several ranks start the
same tuning at once, and only rank 0 may decide. At last `carve recheck` starts the ranks again.

The ranks write themselves what the probe would write for a GPU (ranks.c). Ends with status 77 if
Slurm, MPI or nvcc is missing."""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from cluster import Cluster, missing_programs
from fleet_test import (DEVICE, NODES, NVCC_FOLDERS, TEMPLATE, Failed, Fleet, Program, check,
                        check_same)

RANKS = 4
HERE = pathlib.Path(__file__).resolve().parent


class RankedProgram(Program):
    """The program, and the trace that its ranks write."""

    def __init__(self, options, work):
        super().__init__(options, work)
        self.environment.update({
            "RANKS_TRACE": str(work / "trace"), "LD_PRELOAD": str(work / "seen_gpu.so"),
            "PATH": NVCC_FOLDERS, "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            # The nodes are one machine, which need not be able to reach its own address. Open MPI's
            # own TCP layer crashes now and then if two ranks of one address connect to each other.
            "OMPI_MCA_pml": "ucx", "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any",
            "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo",
            # It writes to standard output that an end was slow, and the output is compared.
            "UCX_LOG_LEVEL": "fatal"})
        # Tasks of one node, which the template of a site asks for as well.
        self.template = TEMPLATE.replace("#SBATCH --requeue",
                                         "#SBATCH --ntasks-per-node=2\n#SBATCH --requeue")
        self.planned = ["srun", "--mpi=pmix", "--kill-on-bad-exit=1", "--nodes=2",
                        f"--ntasks={RANKS}", "./ranks"]
        self.single = ["mpirun", "--oversubscribe", "-n", str(RANKS), "./ranks"]

    def compile(self):
        super().compile()
        self.run("mpicc", "-O1", "-o", "ranks", HERE / "ranks.c", LD_PRELOAD="")
        self.run("cc", "-shared", "-fPIC", "-o", "seen_gpu.so", HERE / "seen_gpu.c", "-ldl",
                 LD_PRELOAD="")

    def write_trace(self):
        """A line for each kernel, as ranks.c reads it, with the registers that nvcc's code has."""
        lines = [DEVICE.removeprefix("probe\t")]
        for container in sorted((self.work / "store/containers").iterdir()):
            lines.append(f"container\t{container.name}\t1\tcuLibraryLoadData\n")
        for unit in json.loads(self.run(self.carve, "kernels", "--format=json"))["units"]:
            for kernel in unit["kernels"]:
                lines.append(f"kernel\t{kernel['mangled']}\t{kernel['registers']}\t2000000\t"
                             "64,1,1\t256,1,1\t0\t0\t1,1,1\t0\n")
        (self.work / "trace").write_text("".join(lines))

    def slurm(self, cluster):
        """The variables of a command outside of the jobs that uses Slurm."""
        return {"SLURM_CONF": cluster.environment["SLURM_CONF"], "LD_PRELOAD": "",
                "PATH": self.environment["PATH"] + ":" + cluster.environment["PATH"]}

    def tuning(self):
        return ["--mode=fixed", "--budget=300"]


def check_runs(program, cluster):
    """srun starts the ranks on two nodes, and mpirun on one machine."""
    said = program.run(*program.planned, **program.slurm(cluster)).strip()
    check(said == f"{RANKS} ranks on 2 nodes", f"srun: {said}")
    said = program.run(*program.single).strip()
    check(said == f"{RANKS} ranks on 1 nodes", f"mpirun: {said}")


def check_rank_decides(program, cluster, launcher):
    """All ranks start the same tuning, with recorded samples. Rank 0 makes it, and all end well."""
    name = "-".join(word.strip("-").replace("=", "-") for word in launcher[:2])
    store = program.work / f"store-{name}"
    shutil.copytree(program.work / "store", store)
    before = len(list(store.glob("reports/*.json")))
    done = subprocess.run([*launcher, program.carve, "tune", "--mode=fixed",
                           f"--samples={program.samples}", "--", "./app"],
                          cwd=program.work, capture_output=True, text=True, check=False,
                          env={**program.environment, **program.slurm(cluster),
                               "CARVE_STORE": str(store)})
    check(done.returncode == 0, f"{' '.join(launcher)}: status {done.returncode}: {done.stdout}"
          f"{done.stderr}")
    reports = len(list(store.glob("reports/*.json"))) - before
    check(reports == 1, f"{' '.join(launcher)}: {reports} tunings, expected 1")
    tables = done.stdout.count(" kernels tuned, ") + done.stdout.count(" kernel tuned, ")
    check(tables == 1, f"{' '.join(launcher)}: {tables} reports printed, expected 1: {done.stdout}")
    print(f"{' '.join(launcher)}: one of {RANKS} ranks decided", flush=True)


def check_recheck(program, cluster):
    """The store knows how the ranks were started: by mpirun in the single tuning, and by srun in
    that of the nodes. Without a command they are started so again."""
    (program.work / "elsewhere").mkdir()
    for store, launcher in (("single/store", "mpirun"), ("store", "srun")):
        said = program.run("env", "-C", program.work / "elsewhere", program.carve, "recheck",
                           "--quiet", "--format=json", "--mode=fixed", "--budget=300",
                           CARVE_STORE=str(program.work / store),
                           SLURM_CONF=cluster.environment["SLURM_CONF"])
        outcome = json.loads(said)
        check(not outcome["untimed"], f"{launcher}: not timed: {outcome['untimed']}")
        commands = [pathlib.Path(workload["workload"].split()[0]).name
                    for workload in outcome["workloads"]]
        check(commands == [launcher], f"rechecked with {commands}, expected {launcher}")
        verdicts = [kernel["verdict"] for kernel in outcome["workloads"][0]["kernels"]]
        check(verdicts == ["holds"] * 2, f"{launcher}: {verdicts}, expected two that hold: {said}")
        print(f"rechecked with {launcher}: {len(verdicts)} decisions hold", flush=True)


def test(options, work):
    (work / "tmp").mkdir()
    program = RankedProgram(options, work)
    program.compile()
    program.write_samples()
    program.write_trace()
    with Cluster(work / "slurm", NODES, options.cpus) as cluster:
        check_runs(program, cluster)
        for launcher in (["srun", "--mpi=pmix", "--nodes=2", f"--ntasks={RANKS}"],
                         ["srun", "--mpi=none", "--nodes=2", f"--ntasks={RANKS}"],
                         ["mpirun", "--oversubscribe", "-n", str(RANKS)]):
            check_rank_decides(program, cluster, launcher)
        fleet = Fleet(program, cluster)
        fleet.plan(2, "--program-nodes=2")
        fleet.submit()
        print(fleet.merge())
        for result in fleet.results():
            check("srun --mpi=pmix" in result.read_text(), f"{result} was not made by srun")
        check_same(program, fleet)
        check_recheck(program, cluster)
    print("\n| | |\n|-|-|")
    for what, value in fleet.noted.items():
        print(f"| {what} | {value} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--carve-nvcc", required=True, type=os.path.abspath)
    parser.add_argument("--cpus", type=int, default=2, help="of each node")
    parser.add_argument("--work", help="a folder that is kept (default: a temporary one)")
    options = parser.parse_args()
    options.shards, options.seed = 4, 19  # Kernels, and the seed of the samples.
    missing = missing_programs()
    missing += [name for name in ("mpicc", "mpirun") if not shutil.which(name)]
    if not os.environ.get("CARVE_NVCC") and not shutil.which("nvcc", path=NVCC_FOLDERS):
        missing.append("nvcc")
    if missing:
        print(f"skipped: {', '.join(missing)} not found (Debian: slurm-wlm, munge, openmpi-bin, "
              "libopenmpi-dev)")
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
