#!/usr/bin/env bash
# The numbers of docs/numbers.md, each beside its baseline in the same run. SAYSO_BENCH_FULL=1 measures longer and larger; arguments go to the program, such as
# -run resolve for one subject.
set -euo pipefail
cd "$(dirname "$0")/../oracle"
exec go run ./bench "$@"
