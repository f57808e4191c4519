#!/usr/bin/env python3
"""Measures how the time of a tuning grows with the number of kernels and of variants. It is not a test.

For each number of kernels it writes a program, builds it with nvcc and with carve-nvcc, tunes it, and builds it with
the decisions. On a machine with a GPU the tuning runs the program. Elsewhere recorded samples take its place: runs then
take no time, and what is left is the time to compile and to decide. The machine should do nothing else.

The columns of seconds: nvcc and build are the first builds by nvcc and by carve-nvcc, tune is the whole tuning, and
rebuild is the build with the decisions. cpu is the processor time of the tuning, which hardly grows if the machine does
something else, too. Between cpu and rebuild are the parts of the tuning: each moment counts for the process that the
tuning began last. registers asks nvcc for register regions, cicc makes PTX of other front ends,
ptxas compiles variants, modules assembles all clones together and decides, and runs is what runs of the program take.
The parts are exact where one follows the other, and approximate where cicc goes on beside the runs."""

import argparse
import datetime
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

LAUNCH = "64,1,1\t256,1,1\t0\t0\t1,1,1\t0"
DEVICE = ("0\tNVIDIA H200\tGPU-0\t9\t0\t132\t150109880320\t65536\t65536\t2048\t32\t233472\t232448\t49152\t1024\t0"
          "\t580.159.03\t0\t0\t0\t0")
PARTS = ("registers", "cicc", "ptxas", "modules", "runs")

HEAD = """
template <int Values> __device__ __forceinline__ void mix(double *Y, const double *X, int N, double Factor) {
  double A[Values];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    A[I] = X[(threadIdx.x * Values + I) % N];
  for (int Round = 0; Round < N; ++Round)
#pragma unroll
    for (int I = 0; I < Values; ++I)
      A[I] = A[(I + 1) % Values] * Factor + A[I];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    Y[threadIdx.x * Values + I] = A[I];
}
"""


def kernel_name(index):
    return f"kernel{index}"


def mangled(index):
    name = kernel_name(index)
    return f"_Z{len(name)}{name}PdPKdi"


def source(kernels):
    """A program whose kernels differ in how many registers they want."""
    text = HEAD
    for index in range(kernels):
        text += (f"__global__ void {kernel_name(index)}(double *Y, const double *X, int N) "
                 f"{{ mix<{36 + index % 4 * 4}>(Y, X, N, 1.0 + {index + 1} / 1024.0); }}\n")
    text += "int main() {\n  constexpr int N = 256;\n  double *X, *Y;\n"
    text += "  if (cudaMalloc(&X, 64 * N * sizeof(double)) || cudaMalloc(&Y, 64 * N * sizeof(double)))\n    return 1;\n"
    text += "  cudaMemset(X, 0, 64 * N * sizeof(double));\n  for (int Turn = 0; Turn < 100; ++Turn) {\n"
    for index in range(kernels):
        text += f"    {kernel_name(index)}<<<64, N>>>(Y, X, N);\n"
    return text + "  }\n  return cudaDeviceSynchronize() != cudaSuccess;\n}\n"


def samples(kernels):
    """Samples in which every kernel has one variant that gains: a register cap of 64."""
    lines = ["carve-samples\t1", "probe\tcarve-probe\t1\t0\t-", "probe\tdevice\t" + DEVICE]
    for index in range(kernels):
        lines.append(f"probe\tkernel\t{mangled(index)}\t{LAUNCH}\t88\t0\t100\t1000000\t9995\t0")
    lines.append("probe\tend")
    for index in range(kernels):
        for variant, nanoseconds in (("default", 1000000), ("control", 1000000), ("untouched", 1000000),
                                     ("r64", 800000)):
            for turn in range(9):
                lines.append(f"sample\t{mangled(index)}\t{variant}\t{nanoseconds + 97 * (turn * 5 % 7)}")
    lines += [f"program\t{420000 + 10 * turn}\t0.25" for turn in range(9)]
    return "\n".join(lines) + "\n"


def part_of(command):
    """The part of a tuning that a logged command belongs to."""
    words = command.split()
    tool = os.path.basename(words[0])
    if tool == "cicc":
        return "cicc"
    if tool == "ptxas" and "--entry" in words:
        return "ptxas"
    if tool == "ptxas" and "--split-compile=0" in words:
        return "modules"
    if tool in ("nvcc", "ptxas", "nvdisasm", "fatbinary"):
        return "registers"
    return "runs"


def parts(log, seconds):
    """The seconds of each part of a tuning that took so many seconds, by its log. The log has only that tuning."""
    starts = []
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split(" ", 3)
            if len(words) == 4 and words[2] == "run:":
                starts.append((datetime.datetime.fromisoformat(words[0]).timestamp(), part_of(words[3])))
    taken = dict.fromkeys(PARTS, 0.0)
    if not starts:
        return taken
    for (begin, part), (end, _) in zip(starts, starts[1:]):
        taken[part] += end - begin
    taken[starts[-1][1]] += max(0.0, seconds - (starts[-1][0] - starts[0][0]))
    return taken


def processor_seconds():
    """The processor time of all processes that this program has run and waited for, and of theirs."""
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def took(command, work, environment):
    """Runs a command; returns its seconds and its standard output. Ends this program if it fails."""
    begin = time.monotonic()
    ended = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    if ended.returncode:
        sys.exit(f"tuning_time.py: {' '.join(command)} ended with {ended.returncode}:\n{ended.stderr}")
    return seconds, ended.stdout


def measure(options, kernels, arguments, with_gpu):
    with tempfile.TemporaryDirectory(prefix="tuning-time-") as work:
        with open(os.path.join(work, "program.cu"), "w", encoding="utf-8") as file:
            file.write(source(kernels))
        with open(os.path.join(work, "samples"), "w", encoding="utf-8") as file:
            file.write(samples(kernels))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CARVE_")}
        environment.update(CARVE_STORE=os.path.join(work, "store"), CARVE_RUN="none", CARVE_NVCC=options.nvcc)
        carve, carve_nvcc = (os.path.join(options.bin_dir, name) for name in ("carve", "carve-nvcc"))
        words = ["-O3", "-arch=native" if with_gpu else "-arch=sm_90", "program.cu", "-o", "program"]
        row = {"kernels": kernels}
        row["nvcc"], _ = took([options.nvcc, *words], work, environment)
        row["build"], _ = took([carve_nvcc, *words], work, environment)
        tune = [carve, "tune", "--format=json", *arguments]
        if not with_gpu:
            tune += ["--mode=fixed", "--samples=samples"]
        log = os.path.join(work, "log")
        before = processor_seconds()
        row["tune"], text = took([*tune, "--", "./program"], work, {**environment, "CARVE_LOG": log})
        row["cpu"] = processor_seconds() - before
        row["rebuild"], _ = took([carve_nvcc, *words], work, environment)
        report = json.loads(text)
        row.update(variants=report["variants-compiled"], timed=report["variants-timed"], runs_made=report["runs"],
                   tuned=sum(kernel["tuned"] for kernel in report["kernels"]))
        row.update(parts(log, row["tune"]))
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin-dir", default="build/bin", help="the programs to measure (default: %(default)s)")
    parser.add_argument("--nvcc", default=shutil.which("nvcc"), help="the real nvcc (default: the one in PATH)")
    parser.add_argument("--kernels", default="1,2,5,10,20,50,100", help="numbers of kernels (default: %(default)s)")
    parser.add_argument("--tune", default="", help="more options of carve tune, such as '--effort=0' or "
                        "'--points=all', which has ten times as many variants")
    options = parser.parse_args()
    if not options.nvcc:
        sys.exit("tuning_time.py: nvcc is not in PATH; name it with --nvcc")
    options.bin_dir, options.nvcc = os.path.abspath(options.bin_dir), os.path.realpath(options.nvcc)
    with_gpu = os.path.exists("/dev/nvidiactl")
    print("with the GPU of this machine" if with_gpu else "with recorded samples: runs take no time")
    titles = "".join(f"{part:>10}" for part in PARTS)
    print(f"kernels variants timed tuned    nvcc   build    tune     cpu{titles}  rebuild")
    for kernels in map(int, options.kernels.split(",")):
        row = measure(options, kernels, options.tune.split(), with_gpu)
        seconds = "".join(f"{row[part]:10.2f}" for part in PARTS)
        print(f"{row['kernels']:7} {row['variants']:8} {row['timed']:5} {row['tuned']:5} {row['nvcc']:7.2f} "
              f"{row['build']:7.2f} {row['tune']:7.2f} {row['cpu']:7.2f}{seconds}  {row['rebuild']:7.2f}", flush=True)


if __name__ == "__main__":
    main()
