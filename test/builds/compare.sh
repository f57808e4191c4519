# shellcheck shell=bash
# Sourced by run: whether two build trees hold the same. What two runs of nvcc itself differ in is
# taken out first.

# Text on standard input without the compiler's name, times, and names made up for one run.
normalised() {
  sed -E \
    -e 's#tmpxft_[0-9a-f]+_[0-9a-f]+-[0-9]+_##g; s#carve-nvcc-[0-9]+/[0-9a-f]+(-[0-9])?/##g' \
    -e "s#$Work/view#$(dirname "$(dirname "$Nvcc")")#g; s#$Work/nvcc#$Nvcc#g" \
    -e "s#$CarveNvcc#@NVCC@#g; s#$Nvcc#@NVCC@#g; s#carve-nvcc#nvcc#g" \
    -e "s#$(dirname "$CarveNvcc")#@BIN@#g; s#$(dirname "$Nvcc")#@BIN@#g" \
    -e 's#(cmTC_|TryCompile-|CMakeTmp/|tmp)[0-9A-Za-z]{5,}#\1X#g' \
    -e 's#\([0-9.]+ ?s\)##; s#Compile time = [0-9.]+ ms##' \
    -e 's#^\[ *[0-9]+(%|/[0-9]+)\] ?##'
}

# Lines of parallel builds come in any order.
sortedText() { normalised <"$1" | sort; }

# A depfile's rules with one prerequisite a line, without the files of decisions, which are
# prerequisites in the first rule and have empty rules at the end.
depfileText() {
  sed -e ':a; /\\$/ { N; s/\\\n//; ba }' "$1" |
    awk -v Store="$CARVE_STORE" 'index($1, Store) == 0 {
      for (I = 1; I <= NF; ++I)
        if (index($I, Store) == 0)
          print $I
    }' | normalised
}

# What ninja remembers of depfiles that it has deleted; the number of files is not compared, since
# the file of decisions is one more.
ninjaDependencies() {
  sed 's/#deps [0-9]*, deps mtime [0-9]*//' "$1" | grep -vF "$CARVE_STORE" | normalised | sort
}

isElf() { [[ $(head -c 4 "$1" | tr -d '\0') == $'\x7fELF' ]]; }
isArchive() { [[ $(head -c 7 "$1" | tr -d '\0') == '!<arch>' ]]; }

# Symbols, debug information and the build identifier hold names of nvcc's temporaries.
strippedDigest() { # FILE
  local Copy=$Work/stripped
  strip -D -R .note.gnu.build-id -o "$Copy" "$1" 2>/dev/null || cp "$1" "$Copy"
  md5sum <"$Copy"
}

# Device code of an object or program: equal, or where it is not.
deviceNote() { # A B
  local Tool
  Tool=$(dirname "$Nvcc")/cuobjdump
  [[ -x $Tool ]] || return 0
  if cmp -s <("$Tool" -elf -ptx "$1" 2>&1) <("$Tool" -elf -ptx "$2" 2>&1); then
    printf ' (device code is equal)'
  fi
}

# Says why A and B are not the same; nothing where they are.
differenceOf() { # NAME A B
  local Name=$1 A=$2 B=$3
  if cmp -s "$A" "$B"; then return; fi
  case $Name in
  *.ptx | *.cubin | *.fatbin) printf 'other bytes\n' ;;
  *.d) textDifference depfileText "$A" "$B" ;;
  *ninja-deps) textDifference ninjaDependencies "$A" "$B" ;;
  *)
    if isElf "$A" || isArchive "$A"; then
      [[ $(strippedDigest "$A") == $(strippedDigest "$B") ]] ||
        printf 'other code%s\n' "$(deviceNote "$A" "$B")"
    else
      textDifference sortedText "$A" "$B"
    fi
    ;;
  esac
}

# The first line that one of them has and the other lacks.
textDifference() { # FILTER A B
  local Lines
  Lines=$(diff <("$1" "$2") <("$1" "$3") | grep '^[<>]' | head -n 2 | tr '\n' ' ')
  [[ -z $Lines ]] || printf '%s\n' "${Lines:0:240}"
}

# Files of the tree $1 that are compared, relative to it. Left out: what a build system notes for
# itself, logs with times, and what the compiler's identification leaves.
artefacts() {
  (cd "$1" && find . -type f \
    ! -path '*/CompilerId*' ! -path '*/CMakeScratch/*' ! -path '*/CMakeTmp/*' ! -path './try/*' \
    ! -path '*/.libs/*.la*' ! -path '*/autom4te.cache/*' ! -path '*/meson-logs/*' \
    ! -path '*/meson-private/*' ! -path '*/__pycache__/*' \
    ! -name '.ninja_*' ! -name 'CMake*.log' ! -name 'CMakeConfigureLog.yaml' ! -name '*.rule' \
    ! -name 'TargetDirectories.txt' ! -name 'Makefile2' ! -name config.log ! -name 'config.status' \
    ! -name 'compiler_depend.*' ! -name 'depend.internal' ! -name 'CMakeRuleHashes.txt' \
    ! -name progress.marks ! -name '*.tar' ! -name 'InstallScripts.json' ! -name '*-intro*.json' \
    -printf '%P\n' | sort)
}

# Lines `FILE<tab>REASON` for what differs between two trees, of files whose names match the
# extended regular expression PATTERN; the number of files compared goes to Compared.
compareTrees() { # A B PATTERN
  local A=$1 B=$2 Name Why
  Compared=0
  while read -r Name; do
    [[ $Name =~ $3 ]] || continue
    if [[ ! -e $A/$Name ]]; then
      printf '%s\tonly carve-nvcc leaves it\n' "$Name"
    elif [[ ! -e $B/$Name ]]; then
      printf '%s\tonly nvcc leaves it\n' "$Name"
    else
      Compared=$((Compared + 1))
      Why=$(differenceOf "$Name" "$A/$Name" "$B/$Name")
      [[ -z $Why ]] || printf '%s\t%s\n' "$Name" "$Why"
    fi
  done < <(sort -u <(artefacts "$A") <(artefacts "$B"))
}
