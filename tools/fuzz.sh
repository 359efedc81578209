#!/usr/bin/env bash
# Runs every fuzz target for the given number of executions each (5000x). A time (60s) is taken, too; but when it ends, Go may report
# "context deadline exceeded" for a target that found nothing, so what decides about a change counts executions. A target that hangs is ended.
# The program of a package is built once, and what its targets found before is kept where go test keeps it; a failing input is written to testdata/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
amount=${1:-100000x}
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
corpus=$(go env GOCACHE)/fuzz
grep -rlE '^func Fuzz' --include='*_test.go' . | grep -v '^./oracle/' | xargs -n1 dirname | sort -u | while read -r dir; do
  go test -c -vet=off -fuzz=. -o "$built/fuzz.test" "$dir"
  package=$(go list "$dir")
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/func //'); do
    echo "$dir $target"
    (cd "$dir" && timeout 900 "$built/fuzz.test" -test.run='^$' -test.fuzz="^$target\$" -test.fuzztime="$amount" -test.fuzzminimizetime=5x -test.parallel=2 \
      -test.fuzzcachedir="$corpus/$package" -test.paniconexit0)
  done
done
