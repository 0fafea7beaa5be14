#!/bin/sh
# usage: tests/fuzz/run.sh BUILD SECONDS SEED [TARGET...]
#
# Runs the libFuzzer targets of the build folder BUILD, one on each processor, SECONDS in all, each on its seed corpus and on what earlier
# runs found. SEED 0 is another one each time. Inputs that are new go to BUILD/corpus/TARGET, those that fail to BUILD/failed/.
set -eu

here=$(dirname "$0")

# What else is in the tree that a target can start from.
more_seeds() {
  case $1 in
    parser | compiler) echo "$here/../golden/parse $here/../golden/sema $here/../golden/lower" ;;
  esac
}

# The words of the language that a target reads, if it reads one.
dictionary() {
  echo "# words of $1"
  case $1 in
    parser | compiler) python3 "$here/dictionary.py" ;;
    assembler) python3 "$here/dictionary.py" --dif ;;
  esac
}

run() {
  target=$1 log=$build/failed/$1.log
  mkdir -p "$build/corpus/$target" "$build/failed"
  dictionary "$target" >"$build/corpus/$target.dict"
  set -- -seed="$seed" -max_total_time="$each" -timeout=25 -rss_limit_mb=3072 -max_len=8192 -dict="$build/corpus/$target.dict" -print_final_stats=1 \
    -artifact_prefix="$build/failed/$target-" "$build/corpus/$target" "$here/corpus/$target"
  # shellcheck disable=SC2046  # folders without blanks
  if ! "$build/tests/fuzz/targets/fuzz_$target" "$@" $(more_seeds "$target") >"$log" 2>&1; then
    grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse)' "$log" | tail -60
    echo "fuzz $target: failed, the input is in $build/failed; the log is $log"
    return 1
  fi
  echo "fuzz $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions"
}

# This script calls itself for each target, with these variables.
if [ "$1" = --target ]; then
  run "$2"
  exit
fi

seconds=$2
export build="$1" seed="$3"
shift 3
[ $# -gt 0 ] || for file in "$here"/targets/*.cpp; do set -- "$@" "$(basename "$file" .cpp)"; done
jobs=$(nproc)
[ "$jobs" -le $# ] || jobs=$#
each=$((seconds * jobs / $#))
[ "$each" -gt 0 ] || each=1
export each
printf '%s\n' "$@" | xargs -n 1 -P "$jobs" "$0" --target
