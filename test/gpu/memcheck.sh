#!/bin/sh
# Tunes programs with every run of them under compute-sanitizer's memcheck, so that what the probe
# does on the device (save, compare, restore, its own launches, the variants) is checked as well.
#
#   memcheck.sh PREFIX SANITIZER WORKDIR [SOURCE...]
#
# PREFIX is an installed tree, SANITIZER the program compute-sanitizer (the Python package
# nvidia-cuda-sanitizer-api has it, too), SOURCE a program to take instead of the examples. Prints a
# line per program, tab-separated with a heading: runs under memcheck, errors found, launches that
# were replayed and variants that were verified, or why there are none. The exit status is 1 if
# memcheck found an error, and 2 if CUPTI and the sanitizer do not run together. Then nothing of
# the probe was checked, and only `memcheck SnapshotCost` and the address sanitizer remain.
set -eu
if [ $# -lt 3 ]; then
  sed -n '2,15s/^# \{0,1\}//p' "$0" >&2
  exit 1
fi
prefix=$1 sanitizer=$2 work=$3
shift 3
if [ $# -eq 0 ]; then
  set -- "$prefix"/share/carve-nvcc/examples/*.cu
fi
flags=${FLAGS:--O3 -arch=sm_90}
tool=${TOOL:-memcheck}
mkdir -p "$work"
export CARVE_STORE="$work/store" CARVE_RUN=none
errors=0 checked=0

printf 'program\truns\terrors\treplayed\tverified\tresult\n'
for source in "$@"; do
  name=$(basename "$source" .cu)
  app=$work/$name
  # shellcheck disable=SC2086 # The flags are words.
  "$prefix/bin/carve-nvcc" $flags "$source" -o "$app"
  rm -f "$work/$name".*.memcheck
  # One confirmation is enough: it runs what the timing run has left in place.
  if "$prefix/bin/carve" tune --mode="${MODE:-auto}" --max-runs="${MAX_RUNS:-6}" \
    --timeout="${TIMEOUT:-300}" --record="$work/$name.samples" -- \
    "$sanitizer" --tool "$tool" --log-file "$work/$name.%p.memcheck" --error-exitcode 86 "$app" \
    > "$work/$name.out" 2> "$work/$name.err"; then
    result=$(sed -n 's/.*not tuned: //p' "$work/$name.out" | head -n 1)
  else
    result=$(tail -n 1 "$work/$name.err")
  fi
  runs=$(find "$work" -name "$name.*.memcheck" | wc -l)
  bad=$(cat "$work/$name".*.memcheck 2> /dev/null |
    sed -n 's/.*ERROR SUMMARY: \([0-9]*\) error.*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
  count() { grep -c "$(printf '^%s\t' "$1")" "$work/$name.samples" 2> /dev/null || true; }
  replayed=$(count replayed) verified=$(count verified)
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$runs" "$bad" "${replayed:-0}" "${verified:-0}" \
    "${result:-ok}"
  errors=$((errors + bad)) checked=$((checked + ${replayed:-0}))
done
if [ "$errors" -gt 0 ]; then
  exit 1
fi
if [ "$checked" -eq 0 ]; then
  echo "no launch was replayed: see $work/*.err; the sanitizer and CUPTI do not run together here" >&2
  exit 2
fi
