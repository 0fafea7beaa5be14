# Completion of dvm for bash. `dvm complete` knows the candidates.

# Fills COMPREPLY with what completes the line, without the text before. Outside of single quotes the shell would expand $.
_dvm_candidates() {
  local program=$1 line=$2 quote=$3 before=$4 word text
  COMPREPLY=()
  while IFS=$'\t' read -r word text; do
    [[ $quote == \' ]] || word=${word//\$/\\\$}
    COMPREPLY+=("${word#"$before"}")
  done < <("$program" complete "$line" 2>/dev/null)
}

_dvm() {
  local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]} quote= before= whole only
  whole=${line##*[[:space:]]}
  if [[ $current == [\'\"]* ]]; then
    quote=${current:0:1}
  elif [[ $whole == *[:=]* ]]; then
    before=${whole%"${whole##*[:=]}"}  # outside of quotes bash completes only what follows the last : or =
  fi
  _dvm_candidates "$1" "$line" "$quote" "$before"
  # bash ends the quotes behind a single candidate: those of the next field keep them open.
  while [[ -n $quote && ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: && $line != *"$quote${COMPREPLY[0]}" ]]; do
    only=${COMPREPLY[0]}
    line=${line%"$current"}$quote$only
    current=$quote$only
    _dvm_candidates "$1" "$line" "$quote" ""
    [[ ${#COMPREPLY[@]} != 0 ]] || COMPREPLY=("$only")
  done
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:=] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o default -F _dvm dvm
