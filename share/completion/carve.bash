# bash completion for carve and carve-nvcc. It asks the tools which words they take (a few
# milliseconds), so that these are those of the installed version: `carve --help=words` prints the
# commands, `carve COMMAND --help=words` and `carve-nvcc --carve-help=words` a line for each option,
# as in `--mode= auto fixed`: with "=" if it takes a value, then the words that the value can be. A
# line that begins with "=" alone has the words that the first argument can be.

# _carve_values LINES NAME: the words after NAME on its line.
_carve_values() {
  local Name Words
  while read -r Name Words; do
    if [[ $Name == "$2" ]]; then
      printf '%s\n' "$Words"
      return
    fi
  done <<<"$1"
}

# After an option with a value: offers its values, otherwise files. False if the word is no such
# option. bash divides words at "=", so that "=" is a word of its own in COMP_WORDS.
_carve_complete_value() {
  local Lines=$1 Option Value Values
  if [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
    Option=${COMP_WORDS[COMP_CWORD - 1]} Value=
  elif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    Option=${COMP_WORDS[COMP_CWORD - 2]} Value=${COMP_WORDS[COMP_CWORD]}
  else
    return 1
  fi
  [[ $Option == -* ]] || return 1
  Values=$(_carve_values "$Lines" "$Option=")
  if [[ -n $Values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$Values" -- "$Value")
  else
    compopt -o default
  fi
}

_carve_complete_option() {
  mapfile -t COMPREPLY < <(compgen -W "$(cut -d ' ' -f 1 <<<"$1" | grep '^-')" -- "$2")
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}

_carve() {
  local Program=$1 Word=$2 Lines Values I
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$("$Program" --help=words 2>/dev/null)" -- "$Word")
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
  Lines=$("$Program" "${COMP_WORDS[1]}" --help=words 2>/dev/null)
  _carve_complete_value "$Lines" && return
  Values=$(_carve_values "$Lines" =)
  if [[ $Word == -* ]]; then
    _carve_complete_option "$Lines" "$Word"
  elif [[ -n $Values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$Values" -- "$Word")
  else
    compopt -o default
  fi
}

# Offers nvcc's options and ours.
_carve_nvcc() {
  local Program=$1 Word=$2 Lines
  COMPREPLY=()
  Lines=$("$Program" --carve-help=words 2>/dev/null)
  _carve_complete_value "$Lines" && return
  case $Word in
  --c*) _carve_complete_option "$Lines" "$Word" ;;
  -*)
    Lines+=$'\n'$("$Program" --help 2>/dev/null | grep -oE '^--[a-z-]+')
    _carve_complete_option "$Lines" "$Word"
    ;;
  *) compopt -o default ;;
  esac
}

complete -F _carve carve
complete -F _carve_nvcc carve-nvcc
