#!/usr/bin/env bash
# Installs what the tests need beside Go and Node: a C compiler (for -race), Chromium, PostgreSQL (the tests start a
# server of their own), the packages of tools/package-lock.json, staticcheck, govulncheck and the Go vulnerability data. Everything but the Debian
# packages goes to .tools/ and is reused. A tool that cannot be had is named; under CI=true that is a failure.
set -uo pipefail
cd "$(dirname "$0")/.."
T=$PWD/.tools
mkdir -p "$T/bin" "$T/node"
missing=()

STATICCHECK=v0.8.2
GOVULNCHECK=v1.9.0
VULNDB=v0.0.0-20261105234957-e22db6528018

have() { command -v "$1" >/dev/null 2>&1; }
lost() { missing+=("$1"); echo "tools: $1 is missing: $2"; }

# Debian keeps the programs of a PostgreSQL server outside PATH.
there() { have "$1" || compgen -G "/usr/lib/postgresql/*/bin/$1" >/dev/null; }

debian() { # debian COMMAND PACKAGE...
  there "$1" && return 0
  local cmd=$1; shift
  if [ "$(id -u)" = 0 ] && have apt-get; then
    [ -n "${apt_updated:-}" ] || { apt-get update -qq >"$T/apt.log" 2>&1; apt_updated=1; }
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >>"$T/apt.log" 2>&1
  fi
  there "$cmd" || lost "$cmd" "install the Debian package $* (log: .tools/apt.log)"
}

debian gcc gcc libc6-dev
debian chromium chromium
debian postgres postgresql

if have npm; then
  if ! cmp -s tools/package-lock.json "$T/node/.installed"; then
    cp tools/package.json tools/package-lock.json "$T/node/"
    # `npm ci` refuses this lock: one optional package for another system, named by a dependency, is not to be had.
    if (cd "$T/node" && npm install --ignore-scripts --no-audit --no-fund --loglevel=error >"$T/npm.log" 2>&1) &&
      cmp -s tools/package-lock.json "$T/node/package-lock.json"; then
      cp tools/package-lock.json "$T/node/.installed"
    else
      lost "npm packages" "npm install failed (log: .tools/npm.log)"
    fi
  fi
else
  lost npm "install Node.js with npm"
fi

gotool() { # gotool NAME PACKAGE VERSION
  [ -x "$T/bin/$1" ] && [ "$(cat "$T/bin/.$1" 2>/dev/null)" = "$3" ] && return 0
  if GOBIN=$T/bin go install "$2@$3" >"$T/$1.log" 2>&1; then echo "$3" >"$T/bin/.$1"; else lost "$1" "go install failed (log: .tools/$1.log)"; fi
}
gotool staticcheck honnef.co/go/tools/cmd/staticcheck $STATICCHECK
gotool govulncheck golang.org/x/vuln/cmd/govulncheck $GOVULNCHECK

if [ "$(cat "$T/vulndb/.version" 2>/dev/null)" != "$VULNDB" ]; then
  rm -rf "$T/vulndb"
  if dir=$(go mod download -json "golang.org/x/vulndb@$VULNDB" 2>"$T/vulndb.log" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p') && [ -n "$dir" ] &&
    go run "golang.org/x/vulndb/cmd/indexdb@$VULNDB" -vulns "$dir/data/osv" -out "$T/vulndb" >>"$T/vulndb.log" 2>&1; then
    echo "$VULNDB" >"$T/vulndb/.version"
  else
    lost "vulnerability data" "see .tools/vulndb.log"
  fi
fi

if [ ${#missing[@]} -gt 0 ] && [ "${CI:-}" = true ]; then
  echo "tools: under CI=true nothing may be missing" >&2
  exit 1
fi
exit 0
