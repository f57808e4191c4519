#!/bin/sh
# Measures what the probe costs a program that launches graphs.
#
#   graph-cost.sh PREFIX SOURCES WORKDIR
#
# PREFIX is an installed tree, SOURCES the folder of this script. apps/graph_cost.cu launches a
# graph of NODES nodes LAUNCHES times. It is run alone and tuned, and each run notes its kind: plain,
# traced, timing (launched node by node) or confirmed (with variants in place). Prints a line for
# each kind, tab-separated with a heading: the number of runs, the median of their seconds, and that
# in relation to the plain runs. What was made stays in WORKDIR. RUNS (5, of the plain ones), NODES
# (1000), LAUNCHES (1000) and FLAGS (-O3 -arch=sm_90) may be set.
set -eu
if [ $# -ne 3 ]; then
  sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
  exit 1
fi
prefix=$1 source=$2/apps/graph_cost.cu work=$3
flags=${FLAGS:--O3 -arch=sm_90}
mkdir -p "$work"
export CARVE_STORE="$work/store" CARVE_RUN=none
unset CARVE_ENTRIES CARVE_PROFILE

median() { # of standard input
  sort -n | awk '{ v[NR] = $1 } END { m = int((NR + 1) / 2); print (v[m] + v[NR + 1 - m]) / 2 }'
}
seconds() { # KIND: of each of its runs
  awk -F '\t' -v kind="$1" '$1 == kind { print $3 - $2 }' "$work/runs"
}

# shellcheck disable=SC2086 # The flags are words.
"$prefix/bin/carve-nvcc" $flags "$source" --carve-log="$work/compile.log" -o "$work/graph_cost"
cat > "$work/run.sh" <<SCRIPT
kind=plain
[ -z "\${CUDA_INJECTION64_PATH:-}" ] || kind=traced
[ -z "\${CARVE_PROBE_IMAGES:-}" ] || kind=confirmed
if [ -n "\${CARVE_PROBE_PLAN:-}" ]; then
  # In a confirmation, a plan may say which variant a launch takes.
  kind=\$(awk -F '\t' -v kind="\$kind" '\$1 == "kernel" && \$3 != "dispatch" { kind = "timing" }
    END { print kind }' "\$CARVE_PROBE_PLAN")
fi
begin=\$(date +%s.%N)
"$work/graph_cost" ${NODES:-1000} ${LAUNCHES:-1000}
status=\$?
printf '%s\t%s\t%s\n' "\$kind" "\$begin" "\$(date +%s.%N)" >> "$work/runs"
exit \$status
SCRIPT

rm -f "$work/runs"
run=0
while [ "$run" -lt "${RUNS:-5}" ]; do
  sh "$work/run.sh" > "$work/output"
  run=$((run + 1))
done
"$prefix/bin/carve" tune -- sh "$work/run.sh" > "$work/tuned" 2>&1

printf 'run\truns\tseconds\ttimes_plain\n'
plain=$(seconds plain | median)
for kind in plain traced timing confirmed; do
  count=$(seconds "$kind" | wc -l)
  if [ "$count" -eq 0 ]; then
    printf '%s\t0\t-\t-\n' "$kind"
    continue
  fi
  middle=$(seconds "$kind" | median)
  printf '%s\t%s\t%.2f\t%.2f\n' "$kind" "$count" "$middle" \
    "$(awk -v a="$middle" -v b="$plain" 'BEGIN { print a / b }')"
done
