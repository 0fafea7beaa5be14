#!/bin/sh
# Every benchmark, one after the other.  usage: bench/run.sh BUILD_FOLDER [FILTER of Google benchmark]
set -eu
build=$1
filter=${2:-.}

for program in "$build"/bench/*/*bench*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  echo "== $(basename "$program")"
  "$program" --benchmark_filter="$filter" --benchmark_repetitions=9 --benchmark_report_aggregates_only=true
done

echo "== whole commands, beside bpftrace"
python3 "$(dirname "$0")/commands.py" "$build/cmd/dvm" "$build/tests/programs"

echo "== one firing in the traced thread, beside bpftrace"
for program in "$build"/bench/runtime/firing*; do
  if [ -x "$program" ]; then "$program"; fi
done
