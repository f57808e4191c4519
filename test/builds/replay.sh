# shellcheck shell=bash
# Sourced by run: commands of build systems that need not be here, from
# test/Inputs/commands/<tool>-<version>.txt.

# Runs every command of FILE in one directory; a line that begins with ! has to fail.
buildRecorded() { # FILE
  local Line
  copySources
  cp -p "$Here"/projects/cmake/include/* .
  mkdir -p out
  # shellcheck disable=SC2034 # Read by the commands.
  NVCC=$Compiler CUDA=$(dirname "$(dirname "$Nvcc")")
  while IFS= read -r Line; do
    [[ -n $Line && $Line != \#* ]] || continue
    echo "\$ $Line"
    if [[ $Line == !* ]]; then
      ! eval "${Line#!}" || return
    else
      eval "$Line" || return
    fi
  done <"$1"
}

replayCells() {
  local File Name
  for File in "$Inputs"/commands/*.txt; do
    Name=$(basename "$File" .txt)
    cell "${Name%-*}" "${Name##*-}" - 'recorded commands' buildRecorded "$File"
  done
}
