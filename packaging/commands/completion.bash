# _urnic_offer "KIND CHOICE..." WORD: what begins with WORD.
_urnic_offer() {
  local kind=${1%% *} choices=${1#* } word=$2 file
  case $kind in
    "" | any) ;;
    choices) COMPREPLY+=($(compgen -W "$choices" -- "$word")) ;;
    list) COMPREPLY+=($(compgen -P "${word%"${word##*,}"}" -W "$choices" -- "${word##*,}")) ;;
    file) COMPREPLY+=($(compgen -f -- "$word")) ;;
    folder) COMPREPLY+=($(compgen -d -- "$word")) ;;
    program) COMPREPLY+=($(compgen -A command -A file -- "$word")) ;;
    capture) # captures and folders, or anything if there are none
      while read -r file; do
        [[ -d $file || $file == *.pcap || $file == *.pcapng ]] && COMPREPLY+=("$file")
      done < <(compgen -f -- "$word")
      [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY+=($(compgen -f -- "$word")) ;;
    *)
      COMPREPLY+=($(compgen -W "$(urnic --suggest "$kind" 2>/dev/null)" -- "$word"))
      # fails if the shell calls this outside of a completion
      [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null ;;
  esac
}

_urnic() {
  local current=${COMP_WORDS[COMP_CWORD]} command= option= kind= word i arguments=0
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == = ]]; then # bash makes three words of KEY=VALUE
      ((++i))
    elif [[ -n $option ]]; then
      option=
    elif [[ $word == -?* && $word != -- ]]; then
      [[ -z $(_urnic_value "$command $word") ]] || option=$word
    elif [[ " $(_urnic_commands "$command") " == *" $word "* ]]; then
      command+=${command:+ }$word
    elif [[ $(_urnic_argument "$command 1") == program ]]; then # the rest is a command line of its own
      [[ $word != -- ]] || ((++i))
      if declare -F _command_offset >/dev/null; then
        _command_offset "$i"
      else
        ((i == COMP_CWORD)) && kind=program || kind=file
        _urnic_offer "$kind" "$current"
      fi
      return
    else
      ((++arguments))
    fi
  done
  if [[ $current == -* ]]; then # an option is asked for, whatever is before it
    COMPREPLY=($(compgen -W "$(_urnic_options "$command")" -- "$current"))
    return
  fi
  if [[ -n $option ]]; then
    _urnic_offer "$(_urnic_value "$command $option")" "$current"
    return
  fi
  kind=$(_urnic_argument "$command $((arguments + 1))")
  kind=${kind:-$(_urnic_repeated "$command")}
  _urnic_offer "$kind" "$current"
  COMPREPLY+=($(compgen -W "$(_urnic_commands "$command")" -- "$current"))
  [[ -n $current || -n $kind ]] || COMPREPLY+=($(compgen -W "$(_urnic_options "$command")" -- "$current"))
}

complete -o filenames -F _urnic urnic
