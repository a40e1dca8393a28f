# Runs commands that the host sends on the second serial line: one line each, a number and a command. Answers with lines
# "NUMBER text" for what the command prints, and "NUMBER! STATUS" when it has ended. Commands run side by side.
exec < /dev/ttyS1 > /dev/ttyS1 2>&1
stty raw -echo
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run LANG=C.UTF-8
cd /run
ulimit -l unlimited
run() {
  # A process group of its own, so that all of it can be killed.
  setsid -w bash -c 'echo $$ > /run/group.'"$1"'; eval "$0"' "$2" < /dev/null 2>&1 | sed -u -e "s/^/$1 /" -e '$a\'
  echo "$1! ${PIPESTATUS[0]}"
}
echo "0 ready"
while read -r number command; do
  run "$number" "$command" &
done
