# Completion of dvm for bash. `dvm complete` knows the candidates; more of the word may follow one whose text is three dots.

# Fills COMPREPLY with what completes the line, without the text before. `more` is that text if more may follow the last one.
_dvm_candidates() {
  local program=$1 line=$2 quote=$3 before=$4 word text
  COMPREPLY=()
  more=
  while IFS=$'\t' read -r word text; do
    # Outside of single quotes the shell would expand $, and " would end double quotes.
    [[ $quote == \' ]] || word=${word//\$/\\\$}
    [[ $quote != \" ]] || word=${word//\"/\\\"}
    COMPREPLY+=("${word#"$before"}")
    [[ $word != *[:=] && $text != ... ]] || more=${word#"$before"}
  done < <("$program" complete "$line" 2>/dev/null)
}

_dvm() {
  local program=$1
  if [[ ${1##*/} == dtrace ]]; then  # a link to dvm, or another program of that name
    program=$(readlink -f "$(type -P "$1")")
    [[ ${program##*/} == dvm ]] || return 0
  fi
  local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]} quote= before= whole more=
  whole=${line##*[[:space:]]}
  if [[ $current == [\'\"]* ]]; then
    quote=${current:0:1}
  elif [[ $whole == *[:=]* ]]; then
    before=${whole%"${whole##*[:=]}"}  # outside of quotes bash completes only what follows the last : or =
  fi
  _dvm_candidates "$program" "$line" "$quote" "$before"
  [[ ${#COMPREPLY[@]} == 1 && -n $more ]] || return 0
  if [[ -z $quote ]]; then
    compopt -o nospace 2>/dev/null
  else
    # bash ends the quotes behind a single candidate, and keeps them open behind what two have in common.
    COMPREPLY+=("$more...")
  fi
}
complete -o default -F _dvm dvm dtrace
