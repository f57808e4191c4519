# shellcheck shell=bash
# Sourced by run: one cell of the table is one build made twice, by nvcc and by carve-nvcc, in a
# directory of one name, so that names of directories cannot make a difference.

Failures=0
Rows=()

# say TOOL VERSION GENERATOR FEATURE RESULT [DETAIL]
row() {
  local Line
  Line=$(printf '%s\t%s\t%s\t%s\t%s\t%s' "$1" "$2" "$3" "$4" "$5" "${6:-}")
  Rows+=("$Line")
  printf '%s\n' "$Line" >>"$Work/rows.tsv"
  printf '%-12s %-12s %-20s %-28s %s%s\n' "$1" "$2" "$3" "$4" "$5" "${6:+ ($6)}" >&2
}

skipped() { row "$1" "$2" "$3" "$4" skipped "$5"; }

# Runs FUNCTION in $Work/b with Compiler set to COMPILER, and moves what it made to $Work/$1.
# Its output becomes the file transcript, its status the file status.
runOnce() { # TREE COMPILER FUNCTION [ARGUMENT...]
  local Tree=$Work/$1 Status=0
  Compiler=$2
  shift 2
  rm -rf "$Work/b" "$Tree"
  mkdir "$Work/b"
  (
    cd "$Work/b" || exit
    # Not the caller's: nothing of it may decide what nvcc does.
    unset CXX CC CUDAHOSTCXX CUDACXX CUDAARCHS MAKEFLAGS MAKELEVEL
    "$@"
  ) >"$Work/transcript" 2>&1 </dev/null || Status=$?
  mv "$Work/transcript" "$Work/b/transcript"
  echo "$Status" >"$Work/b/status"
  mv "$Work/b" "$Tree"
}

# Builds both trees; Cell names them.
runCell() { # FUNCTION [ARGUMENT...]
  CellCommand=("$@")
  Cell=c$((++CellCount))
  export CARVE_STORE=$Work/$Cell.store
  rm -rf "$CARVE_STORE"
  runOnce "$Cell.nvcc" "$Nvcc" "$@"
  runOnce "$Cell.carve" "$CarveNvcc" "$@"
}

# What carve-nvcc did in the last cell: how many units it recorded and what it left to nvcc.
unitsNote() {
  local Stats
  Stats=$("$Carve" store stats 2>/dev/null) || return 0
  sed -nE 's/^units +([0-9]+)$/\1 units/p; s/^  ([-a-z]+)  ([0-9]+)$/\2 \1/p' <<<"$Stats" |
    paste -sd, | sed 's/,/, /g'
}

# Takes out of the differences those files that two builds by nvcc differ in too: device debug
# information holds names of temporaries.
dropNvccsOwn() { # PATTERN
  local Name Own=0
  [[ -d $Work/$Cell.again ]] || runOnce "$Cell.again" "$Nvcc" "${CellCommand[@]}"
  compareTrees "$Work/$Cell.nvcc" "$Work/$Cell.again" "$1" | cut -f1 >"$Work/own"
  while read -r Name; do
    grep -vF "$Name"$'\t' "$Work/differences" >"$Work/left" || true
    cmp -s "$Work/left" "$Work/differences" || Own=$((Own + 1))
    mv "$Work/left" "$Work/differences"
  done <"$Work/own"
  ((Own == 0)) || Detail="$Own of them never the same from nvcc itself${Detail:+, $Detail}"
}

# Judges the files of the last cell that match PATTERN and makes a row of it. With Known set, a
# difference is no failure: that is why there is one.
judge() { # TOOL VERSION GENERATOR FEATURE PATTERN [DETAIL]
  local A=$Work/$Cell.nvcc B=$Work/$Cell.carve Differences Detail=${6:-}
  compareTrees "$A" "$B" "$5" >"$Work/differences"
  [[ ! -s $Work/differences || -n ${Known:-} ]] || dropNvccsOwn "$5"
  Differences=$(<"$Work/differences")
  if [[ -n $Differences ]]; then
    if [[ -n ${Known:-} ]]; then
      row "$1" "$2" "$3" "$4" no "$Known"
      return
    fi
    Failures=$((Failures + 1))
    row "$1" "$2" "$3" "$4" no "$(head -n 3 <<<"$Differences" | tr '\t\n' ': ')"
    return
  fi
  if ((Compared == 0)) || [[ $Detail == '0 units' ]]; then
    Failures=$((Failures + 1))
    row "$1" "$2" "$3" "$4" no "nothing to compare, or carve-nvcc was never called"
    return
  fi
  if [[ $(<"$A/status") != 0 ]]; then
    Detail="nvcc fails too: $({ grep -iE -m 1 'error|fatal' "$A/transcript" || true; } | normalised)"
    if [[ -z ${MayFail:-} ]]; then
      Failures=$((Failures + 1))
      row "$1" "$2" "$3" "$4" no "$Detail"
      return
    fi
  fi
  row "$1" "$2" "$3" "$4" yes "$Compared files${Detail:+, $Detail}"
}

# One row for the whole of a build.
cell() { # TOOL VERSION GENERATOR FEATURE FUNCTION [ARGUMENT...]
  local Tool=$1 Version=$2 Generator=$3 Feature=$4
  wanted "$Tool $Version $Generator $Feature" || return 0
  shift 4
  runCell "$@"
  judge "$Tool" "$Version" "$Generator" "$Feature" . "$(unitsNote)"
  tidy
}

# Trees are kept only where they are to be looked at.
tidy() { [[ -n ${Keep:-} ]] || rm -rf "${Work:?}/$Cell.nvcc" "$Work/$Cell."{carve,again,store}; }

wanted() { [[ -z ${Only:-} || $1 =~ $Only ]]; }

# Runs COMMAND once more and notes which files it wrote, which should be none.
nullBuild() { # COMMAND [ARGUMENT...]
  local Before After
  Before=$(timesOfOutputs)
  "$@"
  After=$(timesOfOutputs)
  diff <(echo "$Before") <(echo "$After") | sed -n 's/^> \([^ ]*\) .*/made again: \1/p' >>null-build
  touch null-build
  if grep -q . null-build; then
    echo "a build with nothing to do made:" "$(cat null-build)"
  fi
}

timesOfOutputs() {
  find . -type f \( -name '*.o' -o -name '*.so*' -o -name '*.a' -o -name '*.ptx' -o -name '*.cubin' \
    -o -name '*.fatbin' -o -name '*.d' -o -perm -u+x \) -printf '%P %T@\n' | sort
}
