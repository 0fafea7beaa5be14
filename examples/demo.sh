#!/bin/sh
# Starts a real program, traces it by its pid while it runs, and prints the result with the account of what it cost.
# usage: demo.sh DVM LOOPER
set -eu
dvm=$1
looper=$2

if [ "$(id -u)" != 0 ]; then
  echo "demo: kernel uprobes need root; run:  sudo ./bootstrap demo" >&2
  exit 1
fi

fifo=$(mktemp -u)
mkfifo "$fifo"
trap 'rm -f "$fifo"' EXIT

"$looper" 3000000 wait <"$fifo" &
pid=$!
exec 3>"$fifo"

echo "\$ dvm run --account examples/looper-strings.d -p $pid"
"$dvm" run --account "$(dirname "$0")/looper-strings.d" -p "$pid" &
tracer=$!

# The loop begins when it reads a line; give the tracer the time to attach.
sleep 1
echo go >&3
wait "$pid"
wait "$tracer"
