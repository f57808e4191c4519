#!/bin/bash
# Measures what carve-nvcc costs compared with nvcc, as ratios of runs that alternate with nvcc's
# own. It is not a test.
#   overhead.sh CARVE_NVCC [ROUNDS]
# CARVE_NVCC is the driver to measure. The nvcc to compare with is $CARVE_NVCC_REAL, or else the one
# in PATH.
# The columns are the medians in milliseconds, the median of the paired differences, and the median
# paired ratio.
set -eu
sources=$(realpath "$(dirname "$0")")/measured-sources.sh
carve=$(realpath "${1:?usage: overhead.sh CARVE_NVCC [ROUNDS]}")
rounds=${2:-9}
nvcc=$(realpath "${CARVE_NVCC_REAL:-$(command -v nvcc)}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck source-path=SCRIPTDIR disable=SC1091
. "$sources"
export CARVE_NVCC=$nvcc CARVE_STORE=$work/store CARVE_RUN=none
unset CARVE_PROFILE CARVE_LOG NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS

for kernel in 'small(float*, int)' 'own(float*, int)'; do
  file=${kernel%%(*}.yaml
  printf 'carve-profile: 1\nkernels:\n  - kernel: "%s"\n    variant: {cap: 24}\n' "$kernel" >"$file"
done

# Prints the milliseconds that a command takes.
took() {
  local start=$EPOCHREALTIME end
  "$@" >/dev/null 2>&1 || { echo "failed: $*" >&2; exit 1; }
  end=$EPOCHREALTIME
  echo $((${end/./} - ${start/./})) | awk '{ printf "%.3f\n", $1 / 1000 }'
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# compare NAME ROUNDS PROFILE ARGUMENTS... prints one line of the table.
compare() {
  local name=$1 count=$2 profile=$3 i a b
  shift 3
  : >plain; : >ours
  took "$nvcc" "$@" >/dev/null
  CARVE_PROFILE=$profile took "$carve" "$@" >/dev/null
  for ((i = 0; i < count; ++i)); do
    if ((i % 2)); then
      a=$(took "$nvcc" "$@")
      b=$(CARVE_PROFILE=$profile took "$carve" "$@")
    else
      b=$(CARVE_PROFILE=$profile took "$carve" "$@")
      a=$(took "$nvcc" "$@")
    fi
    echo "$a" >>plain
    echo "$b" >>ours
  done
  paste plain ours | awk '{ print $2 - $1 }' | median >difference
  paste plain ours | awk '{ print $2 / $1 }' | median >ratio
  printf '%-32s %9.1f %9.1f %9.1f %7.3f\n' "$name" "$(median <plain)" "$(median <ours)" \
    "$(cat difference)" "$(cat ratio)"
}

object=(-O3 -arch=sm_90 -c -o out.o)
printf '%-32s %9s %9s %9s %7s\n' command nvcc/ms ours/ms more/ms ratio
compare '--version' $((rounds * 10)) '' --version
compare '-E small.cu (passthrough)' $((rounds * 2)) '' -E small.cu
compare '-c small.cu' $((rounds * 2)) '' "${object[@]}" small.cu
compare '-c small.cu, with a decision' $((rounds * 2)) small.yaml "${object[@]}" small.cu
compare '-c heavy.cu' "$rounds" '' "${object[@]}" heavy.cu
compare '-c heavy.cu, with a decision' "$rounds" own.yaml "${object[@]}" heavy.cu
