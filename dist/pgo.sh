#!/bin/sh
# Builds the engine twice: once to count what `bench` executes, once optimised by the counts.
# Usage: dist/pgo.sh [--counts] [profile]   (a cargo profile; release if none is named)
# The result is target/pgo/<host>/<profile>/pleach; with --counts only the counts are made.
# Prints the name of the result.
set -eu
cd "$(dirname "$0")/.."
only_counts=
if [ "${1:-}" = --counts ]; then
    only_counts=yes
    shift
fi
profile=${1:-release}
host=$(rustc -vV | sed -n 's/^host: //p')

merge=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
if [ ! -x "$merge" ]; then
    echo 'llvm-profdata is missing: rustup component add llvm-tools' >&2
    exit 1
fi

folder=$profile
[ "$profile" = dev ] && folder=debug
counts=$PWD/target/pgo/counts
engine=target/pgo/$host/$folder/pleach
rm -rf "$counts"
build() {
    # A target of its own keeps these flags away from build scripts and from other builds.
    # Encoded, a flag may hold spaces; this character is between two flags.
    between=$(printf '\037')
    others=$(printf '%s' "${RUSTFLAGS:-}" | tr -s ' ' "$between")
    CARGO_ENCODED_RUSTFLAGS="${others:+$others$between}$1" \
        cargo build --locked --bin pleach --profile "$profile" \
        --target "$host" --target-dir target/pgo
}
build "-Cprofile-generate=$counts"
"$engine" bench >/dev/null
"$merge" merge -o "$counts/merged.profdata" "$counts"
if [ -n "$only_counts" ]; then
    echo "$counts/merged.profdata"
    exit
fi
build "-Cprofile-use=$counts/merged.profdata"
echo "$engine"
