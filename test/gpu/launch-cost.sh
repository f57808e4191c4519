#!/bin/sh
# Measures what the choice among further entries costs at each launch.
#
#   launch-cost.sh PREFIX SOURCES WORKDIR
#
# PREFIX is an installed tree, SOURCES the folder of this script. apps/launch_cost.cu is built by
# nvcc and by carve-nvcc, with one entry that is chosen by the threads of the block, and with three
# that are chosen by an argument, of which launches take the last. Prints a line for each,
# tab-separated with a heading: nanoseconds of a launch, medians over the runs of the least part and
# of the median part, and how much more the latter is than with nvcc. What was made stays in WORKDIR.
# RUNS (5), LAUNCHES (10000000) and FLAGS (-O3 -arch=sm_90) may be set.
set -eu
if [ $# -ne 3 ]; then
  sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
  exit 1
fi
prefix=$1 source=$2/apps/launch_cost.cu work=$3
flags=${FLAGS:--O3 -arch=sm_90}
mkdir -p "$work"
export CARVE_STORE="$work/store" CARVE_RUN=none
unset CARVE_ENTRIES CARVE_PROFILE

entry() { # GUARD LOAD-CACHE
  printf '      - when: {%s}\n        variant: {load-cache: %s}\n' "$1" "$2"
}
profile() { # NAME: with the entries of standard input
  printf 'carve-profile: 1\nkernels:\n  - kernel: launched\n    variant: default\n    entries:\n' \
    > "$work/$1.yaml"
  cat >> "$work/$1.yaml"
}
build() { # NAME ENTRIES: must have so many
  # shellcheck disable=SC2086 # The flags are words.
  "$prefix/bin/carve-nvcc" $flags "$source" --carve-profile="$work/$1.yaml" \
    --carve-log="$work/$1.log" -o "$work/$1"
  found=$(strings -a "$work/$1" | grep '^launched__carve_e[0-9]$' | sort -u | wc -l)
  if [ "$found" -ne "$2" ]; then
    echo "$1 has $found entries, expected $2: see $work/$1.log" >&2
    exit 1
  fi
}
median() { # COLUMN: of standard input
  awk -v column="$1" '{ print $column }' | sort -n |
    awk '{ v[NR] = $1 } END { m = int((NR + 1) / 2); print (v[m] + v[NR + 1 - m]) / 2 }'
}

# shellcheck disable=SC2086
"${NVCC:-nvcc}" $flags "$source" -o "$work/nvcc"
entry 'threads: 256' cg | profile threads
{
  entry 'arguments: [{parameter: 1, bytes: 4, value: 1}]' cg
  entry 'arguments: [{parameter: 1, bytes: 4, value: 3}, {parameter: 3, bytes: 8, value: 31}]' cs
  entry 'arguments: [{parameter: 1, bytes: 4, value: 3}, {parameter: 3, bytes: 8, value: 32}]' noalloc
} | profile arguments
build threads 1
build arguments 3

rm -f "$work"/*.ns
run=0
while [ "$run" -lt "${RUNS:-5}" ]; do
  for name in nvcc threads arguments; do
    "$work/$name" "${LAUNCHES:-10000000}" >> "$work/$name.ns"
  done
  run=$((run + 1))
done

printf 'build\tns_least\tns_median\tns_more\n'
plain=$(median 2 < "$work/nvcc.ns")
for name in nvcc threads arguments; do
  middle=$(median 2 < "$work/$name.ns")
  printf '%s\t%s\t%s\t%s\n' "$name" "$(median 1 < "$work/$name.ns")" "$middle" \
    "$(awk -v a="$middle" -v b="$plain" 'BEGIN { printf "%.1f", a - b }')"
done
