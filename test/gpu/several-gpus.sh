#!/bin/sh
# Measures how much faster a tuning searches on several GPUs at once.
#
#   several-gpus.sh PREFIX SOURCES WORKDIR [GPUS...]
#
# PREFIX is an installed tree, SOURCES the folder of this script. apps/many_kernels.cu is built once
# and tuned with each of GPUS as --gpus (0 0,1 0,1,2,3), every time with a store that knows no
# decision. Prints a line for each, tab-separated with a heading: GPUs that took part, seconds of the
# timing runs, of the tuning and of one plain run, how many times as fast as with the first GPUS the
# timing runs were, variants timed, kernels tuned, and kernels whose winner is another than with the
# first GPUS and whose intervals do not overlap. What was made stays in WORKDIR.
# KERNELS (60), LAUNCHES (20), OPTIONS (--effort=0 --budget=3600) and FLAGS (-O3 -arch=sm_90) may be
# set.
set -eu
if [ $# -lt 3 ]; then
  sed -n '2,15s/^# \{0,1\}//p' "$0" >&2
  exit 1
fi
prefix=$1 source=$2/apps/many_kernels.cu work=$3
shift 3
[ $# -gt 0 ] || set -- 0 0,1 0,1,2,3
flags=${FLAGS:--O3 -arch=sm_90}
mkdir -p "$work"
unset CARVE_PROFILE

# shellcheck disable=SC2086 # The flags are words.
CARVE_STORE="$work/built" CARVE_RUN=none "$prefix/bin/carve-nvcc" $flags \
  "-DKERNELS=${KERNELS:-60}" "$source" -o "$work/many"
printf 'gpus\ttook_part\ttiming_s\ttuning_s\tplain_s\ttimes_as_fast\ttimed\ttuned\tdifferent\n'
first=
for gpus in "$@"; do
  rm -rf "$work/store"
  cp -R "$work/built" "$work/store"
  report=$work/report-$gpus.json
  # shellcheck disable=SC2086 # The options are words.
  CARVE_STORE="$work/store" "$prefix/bin/carve" tune "--gpus=$gpus" --format=json \
    ${OPTIONS:---effort=0 --budget=3600} -- "$work/many" "${LAUNCHES:-20}" > "$report"
  first=${first:-$report}
  python3 - "$gpus" "$report" "$first" <<'PYTHON'
import json
import sys

gpus, report, first = sys.argv[1], *(json.load(open(path)) for path in sys.argv[2:])


def ratio(kernel):
    return kernel["ratio"] if kernel["pairs"] else {"low": 1, "high": 1}


def differ(one, other):
    """Whether two tunings chose different variants that are not equally fast."""
    a, b = ratio(one), ratio(other)
    return one["variant"] != other["variant"] and (a["high"] < b["low"] or b["high"] < a["low"])


before = {kernel["mangled"]: kernel for kernel in first["kernels"]}
different = sum(
    kernel["mangled"] not in before or differ(kernel, before[kernel["mangled"]])
    for kernel in report["kernels"]
)
print(
    gpus,
    len(report.get("timed-on", [])),
    *(f"{report[name]:.2f}" for name in ("timing-wall-s", "wall-s", "plain-wall-s")),
    f"{first['timing-wall-s'] / max(report['timing-wall-s'], 1e-9):.2f}",
    report["variants-timed"],
    sum(kernel["tuned"] for kernel in report["kernels"]),
    different,
    sep="\t",
)
PYTHON
done
