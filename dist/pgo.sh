#!/bin/sh
# Builds the engine twice: once to count what `bench` executes, once optimised by the counts.
# Usage: dist/pgo.sh [profile]   (a cargo profile; release if none is named)
# The result is target/pgo/<host>/<profile>/pleach.
set -eu
cd "$(dirname "$0")/.."
profile=${1:-release}
host=$(rustc -vV | sed -n 's/^host: //p')
folder=$profile
[ "$profile" = dev ] && folder=debug

counts=$(dist/counts.sh "$profile")
RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-use=$counts" cargo build --locked --bin pleach \
    --profile "$profile" --target "$host" --target-dir target/pgo
echo "target/pgo/$host/$folder/pleach"
