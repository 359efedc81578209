#!/usr/bin/env bash
# Runs every fuzz target for the given time each.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-60s}
grep -rlE '^func Fuzz' --include='*_test.go' . | grep -v '^./oracle/' | xargs -n1 dirname | sort -u | while read -r dir; do
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/func //'); do
    echo "$dir $target"
    go test "$dir" -run='^$' -fuzz="^$target\$" -fuzztime="$time" -fuzzminimizetime=5x -parallel=2
  done
done
