# Completion of dvm for bash. `dvm complete` knows the candidates.
_dvm() {
  local line=${COMP_LINE:0:COMP_POINT} word text whole before=
  COMPREPLY=()
  whole=${line##*[[:space:]]}
  # Outside of quotes bash completes only what follows the last : or =.
  if [[ ${COMP_WORDS[COMP_CWORD]} != [\'\"]* && $whole == *[:=]* ]]; then
    before=${whole%"${whole##*[:=]}"}
  fi
  while IFS=$'\t' read -r word text; do
    COMPREPLY+=("${word#"$before"}")
  done < <("$1" complete "$line" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:=] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -o default -F _dvm dvm
