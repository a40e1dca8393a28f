#!/bin/sh
# Whether data crosses from one device to another. Usage: urnic run -- ./reach.sh ONE OTHER [P_KEY_INDEX]
# It runs perftest: a server at ONE, a client at OTHER. The queue pairs of both have the P_Key of that index (default: 0)
# in their port's table.
port=$((20000 + $$ % 10000))
said=$(mktemp)
set -- "$1" "$2" ib_write_bw -F -n 20 -p "$port" --pkey_index "${3:-0}"
one=$1 other=$2
shift 2

timeout 60 "$@" -d "$one" >/dev/null 2>&1 &
server=$!
while true; do
  timeout 60 "$@" -d "$other" 127.0.0.1 >"$said" 2>&1
  status=$?
  grep -q "Couldn't connect" "$said" && kill -0 $server 2>/dev/null || break  # else the server is not ready yet
  sleep 0.1
done
kill $server 2>/dev/null
if [ $status = 0 ]; then
  echo "$one and $other: data has crossed"
else
  echo "$one and $other: nothing crosses"
fi
rm -f "$said"
exit $status
