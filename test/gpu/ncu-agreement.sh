#!/bin/sh
# Compares what `carve explain` says about the programs in share/carve-nvcc/examples/limits with
# what Nsight Compute's speed-of-light, scheduler and warp-state sections say about them.
#
# usage: ncu-agreement.sh PREFIX OUT [PROGRAM...]
#   PREFIX  tree with bin/carve and share/carve-nvcc: a build or an install
#   OUT     folder for the output of both: <program>.json, <program>.ncu.csv, <program>.ncu.txt
# Exits with 77 if there is no ncu or it may not count.
set -u
[ $# -ge 2 ] || { sed -n '5,8s/^# //p' "$0" >&2; exit 2; }
Prefix=$1 Out=$2
shift 2
[ $# -gt 0 ] || set -- copy gather fma fp64 special chase narrow spill shared tiny
Ncu=${NCU:-$(command -v ncu || echo /usr/local/cuda/bin/ncu)}
[ -x "$Ncu" ] || { echo "no ncu in PATH or beside nvcc" >&2; exit 77; }
mkdir -p "$Out" || exit 1
export CARVE_STORE="$Out/store" CARVE_RUN=none

Metrics=dram__throughput.avg.pct_of_peak_sustained_elapsed
Metrics=$Metrics,lts__throughput.avg.pct_of_peak_sustained_elapsed
Metrics=$Metrics,l1tex__throughput.avg.pct_of_peak_sustained_elapsed
Metrics=$Metrics,sm__throughput.avg.pct_of_peak_sustained_elapsed
Metrics=$Metrics,sm__inst_issued.avg.pct_of_peak_sustained_elapsed
Metrics=$Metrics,sm__warps_active.avg.per_cycle_active
Metrics=$Metrics,gpu__time_duration.sum

# A metric's value in ncu's table of one metric a line: the last field.
value() {
  awk -v Name="$2" 'index($0, "\"" Name "\"") { N = split($0, F, "\",\""); V = F[N]
    gsub(/[",\r]/, "", V); print V; exit }' "$1"
}
# A number of our JSON, in per cent: `"dram-share": 0.91,`
ours() {
  awk -v Name="\"$2\":" '$1 == Name { V = $2; sub(/,$/, "", V)
    if (V == "null") print "-"; else printf "%.1f\n", 100 * V; exit }' "$1"
}
# What ncu concludes: the title of the speed-of-light rule.
verdict() {
  awk '/^ *(OPT|INF|WRN)/ { sub(/^ *(OPT|INF|WRN) */, ""); print; exit }' "$1" | cut -c1-70
}

printf '%-8s %-13s | %-13s | %-13s | %-13s | %-13s | %-13s | %s\n' program limiter \
  'DRAM % we ncu' 'L2 % we ncu' 'L1 % we ncu' 'issue % we ncu' 'warps we ncu' 'ncu says'
Failed=0
for Program; do
  Source=$Prefix/share/carve-nvcc/examples/limits/$Program.cu
  "$Prefix/bin/carve-nvcc" -O3 -arch=native -o "$Out/$Program" "$Source" || { Failed=1; continue; }
  Json=$Out/$Program.json Csv=$Out/$Program.ncu.csv Text=$Out/$Program.ncu.txt
  "$Prefix/bin/carve" explain "$Program(" --format=json -- "$Out/$Program" >"$Json" 2>"$Json.err" ||
    { cat "$Json.err" >&2; Failed=1; continue; }
  # The second launch: caches and clocks are as they stay. One program's few launches suffice.
  "$Ncu" -k "$Program" -s 1 -c 1 --csv --metrics "$Metrics" "$Out/$Program" 3 >"$Csv" 2>&1
  if grep -q ERR_NVGPUCTRPERM "$Csv"; then
    echo "ncu may not count here (ERR_NVGPUCTRPERM)" >&2
    exit 77
  fi
  "$Ncu" -k "$Program" -s 1 -c 1 --section SpeedOfLight --section SchedulerStats \
    --section WarpStateStats --section Occupancy "$Out/$Program" 3 >"$Text" 2>&1
  Limiter=$(awk '$1 == "\"limit\":" { gsub(/[",]/, "", $2); print $2; exit }' "$Json")
  Warps=$(awk '$1 == "\"active-warps-per-sm\":" { sub(/,$/, "", $2); print $2; exit }' "$Json")
  pct=avg.pct_of_peak_sustained_elapsed
  printf '%-8s %-13s | %6s %6s | %6s %6s | %6s %6s | %6s %6s | %6.6s %6.6s | %s\n' \
    "$Program" "$Limiter" \
    "$(ours "$Json" dram-share)" "$(value "$Csv" dram__throughput.$pct)" \
    "$(ours "$Json" l2-share)" "$(value "$Csv" lts__throughput.$pct)" \
    "$(ours "$Json" l1-share)" "$(value "$Csv" l1tex__throughput.$pct)" \
    "$(ours "$Json" issue-share)" "$(value "$Csv" sm__inst_issued.$pct)" \
    "$Warps" "$(value "$Csv" sm__warps_active.avg.per_cycle_active)" "$(verdict "$Text")"
done
exit $Failed
