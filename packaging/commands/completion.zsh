# _urnic_suggest [OPTION OF compadd...] WHAT: words that urnic knows.
_urnic_suggest() {
  local -a found=(${(f)"$(urnic --suggest $@[-1] 2>/dev/null)"})
  # What is given to a setting stands right behind it.
  local -a settings=(${(M)found:#*=})
  compadd "${@[1,-2]}" -S '' -a settings
  found=(${found:#*=})
  compadd "${@[1,-2]}" -a found
}

_urnic "$@"
