# bash completion for carve and carve-nvcc. It reads the words from the tools' own help (a few
# milliseconds), so that they are those of the installed version.

# _carve_words HELP: the options in HELP, those with a value ending in "=".
_carve_words() {
  grep -oE -- '--?[a-zA-Z][a-z-]*(=|\b)' <<<"$1" | sort -u
}

# _carve_values HELP OPTION: the values that HELP lists for OPTION, as in --mode=auto|fixed.
_carve_values() {
  grep -oE -- "$2=[a-z0-9|-]+" <<<"$1" | head -n 1 | cut -d= -f2 | tr '|' ' '
}

# After an option with a value: offers its values, otherwise files. False if the word is no such
# option. bash divides words at "=", so that "=" is a word of its own in COMP_WORDS.
_carve_complete_value() {
  local Help=$1 Option Value Values
  if [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
    Option=${COMP_WORDS[COMP_CWORD - 1]} Value=
  elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    Option=${COMP_WORDS[COMP_CWORD - 2]} Value=${COMP_WORDS[COMP_CWORD]}
  else
    return 1
  fi
  [[ $Option == -* ]] || return 1
  Values=$(_carve_values "$Help" "$Option")
  if [[ $Values == *' '* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$Values" -- "$Value")
  else
    compopt -o default
  fi
}

_carve_complete_option() {
  mapfile -t COMPREPLY < <(compgen -W "$(_carve_words "$1")" -- "$2")
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}

_carve() {
  local Program=$1 Word=$2 Help Command=${COMP_WORDS[1]} I
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    Help=$("$Program" --help 2>/dev/null)
    mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' <<<"$Help" | sort -u)
      --help --version" -- "$Word")
    return
  fi
  # What follows -- is another command, with its own options.
  for ((I = 2; I < COMP_CWORD; ++I)); do
    if [[ ${COMP_WORDS[I]} == -- ]]; then
      if type -t _command_offset >/dev/null; then
        _command_offset $((I + 1))
      else
        compopt -o default
      fi
      return
    fi
  done
  Help=$("$Program" "$Command" --help 2>/dev/null)
  _carve_complete_value "$Help" && return
  if [[ $Word == -* ]]; then
    _carve_complete_option "$Help" "$Word"
  elif [[ $Command == store && $COMP_CWORD -eq 2 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "stats verify prune clear" -- "$Word")
  else
    compopt -o default
  fi
}

# Offers nvcc's options and ours.
_carve_nvcc() {
  local Program=$1 Word=$2 Help
  COMPREPLY=()
  Help=$("$Program" --carve-help 2>/dev/null)
  _carve_complete_value "$Help" && return
  case $Word in
  --c*) _carve_complete_option "$Help" "$Word" ;;
  -*) _carve_complete_option "$Help $("$Program" --help 2>/dev/null | grep -oE '^--[a-z-]+')" "$Word" ;;
  *) compopt -o default ;;
  esac
}

complete -F _carve carve
complete -F _carve_nvcc carve-nvcc
