# bash completion for urnic(1)

_urnic_options() {
  case $1 in
    run) echo "--config --udp --name --capture --wireshark --faults --points --help --" ;;
    up) echo "--config --udp --name --help" ;;
    down) echo "--name --help" ;;
    status) echo "--name --json --qps --help" ;;
    env) echo "--name --wrapper --json --help" ;;
    capture) echo "--device --points --name --json --help" ;;
    trace) echo "--qp --opcode --host --filter --only --device --count --name --json --help" ;;
    ladder) echo "--qp --from --to --output --svg --text --ascii --width --help" ;;
    script) echo "--virtual --live --device --set --patience --tolerance --settle --script-mac --script-gid --lan --agent --device-mac --device-gid --check --verbose --json --name --help" ;;
    plot) echo "--qp --from --to --output --width --help" ;;
    lesson) echo "--check --exercise --solution --help" ;;
    doctor) echo "--name --json --list-devices --help --" ;;
    counters) echo "--device --all --name --json --help" ;;
    "link show" | "link list" | "fault load" | "fault list" | "fault clear" | "gid show" | "gid add" | "gid remove")
      echo "--name --json --help" ;;
    "link set") echo "--direction --name --json --help" ;;
    "set recovery") echo "--device --qp --name --help" ;;
    web) echo "--port --listen --host --token-file --name --help" ;;
    "wireshark install" | "wireshark remove") echo "--help" ;;
    link | fault | gid | set | wireshark) echo "--help" ;;
    *) echo "--help --version" ;;
  esac
}

# The subcommands of a command.
_urnic_second_words() {
  case $1 in
    link) echo "show list set" ;;
    fault) echo "load list clear" ;;
    gid) echo "show add remove" ;;
    set) echo "recovery" ;;
    wireshark) echo "install remove" ;;
  esac
}

_urnic_link_settings() {
  printf '%s=\n' state recovery rate_gbps delay_us jitter_us queue_packets loss burst_start burst_length burst_loss \
    duplicate reorder reorder_packets reorder_hold_us corrupt ecn_threshold_packets seed
}

# Names under which device processes keep their run directories.
_urnic_names() {
  local base
  for base in "${XDG_RUNTIME_DIR:-/nonexistent}/urnic" "/run/user/$UID/urnic" /run/urnic "/tmp/urnic-$UID."*; do
    [[ -O $base ]] || continue
    [[ -d $base ]] && command ls "$base"
  done
}

_urnic_devices() {
  urnic status 2>/dev/null | sed -n 's/^\([^ ]*\)  link .*/\1/p'
  # An address belongs to one device; all else may name all devices.
  [[ $1 == @(add|remove) ]] || echo all
}

# Words of `urnic trace --only` (analysis/flows/verdict_text.cpp).
_urnic_verdicts() {
  echo new gap retransmission duplicate out-of-order lost unanswered refused ack nak rnr sack response congestion fault
}

_urnic() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} subcommand=${COMP_WORDS[1]}
  local i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "run up down status env capture trace ladder plot counters doctor lesson link fault gid script set web wireshark --help --version" -- "$current"))
    return
  fi
  for ((i = 2; i < COMP_CWORD; ++i)); do
    if [[ $subcommand == @(run|doctor) && ${COMP_WORDS[i]} == -- ]]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      else
        COMPREPLY=($(compgen -A command -A file -- "$current"))
      fi
      return
    fi
  done
  [[ $current == -* ]] && previous=  # an option is asked for, whatever is before it
  case $previous in
    --config | --capture | --faults | --wrapper | --output | -o | --token-file | load) COMPREPLY=($(compgen -f -- "$current")) ;;
    --points) COMPREPLY=($(compgen -W "before after dropped" -- "${current##*,}")) ;;
    --only) COMPREPLY=($(compgen -W "$(_urnic_verdicts)" -- "${current##*,}")) ;;
    --direction) COMPREPLY=($(compgen -W "tx rx both" -- "$current")) ;;
    recovery) COMPREPLY=($(compgen -W "gbn selective irn sack" -- "$current")) ;;
    --name) COMPREPLY=($(compgen -W "$(_urnic_names)" -- "$current")) ;;
    --device) COMPREPLY=($(compgen -W "$(_urnic_devices)" -- "$current")) ;;
    *)
      if [[ $subcommand == @(link|fault|gid|set|wireshark) ]]; then
        if ((COMP_CWORD == 2)); then
          COMPREPLY=($(compgen -W "$(_urnic_second_words "$subcommand") $(_urnic_options "$subcommand")" -- "$current"))
          return
        fi
        ((COMP_CWORD == 3)) && [[ $subcommand == @(link|gid) && $current != -* ]] &&
          COMPREPLY=($(compgen -W "$(_urnic_devices "$previous")" -- "$current")) && return
        if [[ $subcommand == link && ${COMP_WORDS[2]} == set && $current != -* ]]; then
          compopt -o nospace 2>/dev/null  # fails if the shell calls this outside of a completion
          COMPREPLY=($(compgen -W "$(_urnic_link_settings)" -- "$current"))
          return
        fi
        subcommand+=" ${COMP_WORDS[2]}"
      fi
      COMPREPLY=($(compgen -W "$(_urnic_options "$subcommand")" -- "$current"))
      if [[ $subcommand == lesson && $current != -* ]]; then  # a lesson's number, then a folder
        ((COMP_CWORD == 2)) && COMPREPLY+=($(compgen -W "1 2 3 4 5 6 7 8 9 10" -- "$current")) || COMPREPLY+=($(compgen -d -- "$current"))
      fi
      [[ $subcommand == @(capture|trace|ladder|plot|script|web) && $current != -* ]] && COMPREPLY+=($(compgen -f -- "$current"))
      ;;
  esac
}

complete -o filenames -F _urnic urnic
