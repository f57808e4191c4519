#!/bin/sh
# Measures the examples: nvcc's build against the tuned one.
#
#   measure.sh PREFIX COMPARE WORKDIR [EXAMPLE...]
#
# PREFIX is an installed tree, COMPARE the program of that name built beside the GPU tests. Prints a
# line per example, tab-separated with a heading: GPU milliseconds of nvcc's build and of the tuned
# one, the ratio (above 1: tuned is faster) with its interval, whether the outputs are equal, the
# runs and seconds that tuning took and the seconds of one plain run. What was made stays in WORKDIR.
# PAIRS (9) and FLAGS (-O3 -arch=sm_90) may be set.
set -eu
if [ $# -lt 3 ]; then
  sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
  exit 1
fi
prefix=$1 compare=$2 work=$3
shift 3
examples=$prefix/share/carve-nvcc/examples
if [ $# -eq 0 ]; then
  for source in "$examples"/*.cu; do
    set -- "$@" "$(basename "$source" .cu)"
  done
fi
flags=${FLAGS:--O3 -arch=sm_90}
mkdir -p "$work"
export CARVE_STORE="$work/store" CARVE_TEST_PREFIX="$prefix"

field() { # NAME COLUMN: of the last comparison
  awk -F '\t' -v name="$1" -v column="$2" '$1 == name { print $column }' "$work/compared"
}
number() { # NAME: of the last report
  sed -n "s/^  \"$1\": \([0-9.e+-]*\),*\$/\1/p" "$work/report.json"
}

printf 'program\tgpu_ms_default\tgpu_ms_tuned\tratio\tlow\thigh\toutput\truns\ttuning_s\tplain_s\n'
for name in "$@"; do
  # shellcheck disable=SC2086 # The flags are words.
  CARVE_RUN=none "$prefix/bin/carve-nvcc" $flags "$examples/$name.cu" -o "$work/$name.default"
  # shellcheck disable=SC2086
  CARVE_RUN=auto "$prefix/bin/carve-nvcc" $flags "$examples/$name.cu" -o "$work/$name.tuned" \
    --carve-log="$work/$name.log"
  "$prefix/bin/carve" report --format=json > "$work/report.json"
  "$compare" --pairs="${PAIRS:-9}" "$work/$name.default" "$work/$name.tuned" > "$work/compared" || true
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$(field gpu-ms-a 2)" \
    "$(field gpu-ms-b 2)" "$(field gpu-ratio 2)" "$(field gpu-ratio 3)" "$(field gpu-ratio 4)" \
    "$(field output 2)" "$(number runs)" "$(number wall-s)" "$(number plain-wall-s)"
done
