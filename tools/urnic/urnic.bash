# bash completion for urnic(1)

_urnic_options() {
  case $1 in
    run) echo "--config --name --capture --points --help --" ;;
    up) echo "--config --name --help" ;;
    down) echo "--name --help" ;;
    status | env) echo "--name --json --help" ;;
    capture) echo "--device --points --name --json --help" ;;
    counters) echo "--device --all --name --json --help" ;;
    *) echo "--help --version" ;;
  esac
}

# Names under which device processes keep their run directories.
_urnic_names() {
  local base
  for base in "${XDG_RUNTIME_DIR:-/nonexistent}/urnic" "/tmp/urnic-$UID"; do
    [[ -d $base ]] && command ls "$base"
  done
}

_urnic_devices() {
  urnic status 2>/dev/null | sed -n 's/^\([^ ]*\)  link .*/\1/p'
}

_urnic() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} subcommand=${COMP_WORDS[1]}
  local i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "run up down status env capture counters --help --version" -- "$current"))
    return
  fi
  for ((i = 2; i < COMP_CWORD; ++i)); do
    if [[ $subcommand == run && ${COMP_WORDS[i]} == -- ]]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      else
        COMPREPLY=($(compgen -A command -A file -- "$current"))
      fi
      return
    fi
  done
  case $previous in
    --config | --capture) COMPREPLY=($(compgen -f -- "$current")) ;;
    --points) COMPREPLY=($(compgen -W "before after dropped" -- "${current##*,}")) ;;
    --name) COMPREPLY=($(compgen -W "$(_urnic_names)" -- "$current")) ;;
    --device) COMPREPLY=($(compgen -W "$(_urnic_devices)" -- "$current")) ;;
    *)
      COMPREPLY=($(compgen -W "$(_urnic_options "$subcommand")" -- "$current"))
      [[ $subcommand == capture && $current != -* ]] && COMPREPLY+=($(compgen -f -- "$current"))
      ;;
  esac
}

complete -o filenames -F _urnic urnic
