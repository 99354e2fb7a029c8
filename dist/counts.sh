#!/bin/sh
# Counts what `bench` executes, for a build that is optimised by the counts (profile-guided
# optimisation).
# Usage: dist/counts.sh [profile]   (a cargo profile; release if none is named)
# Prints the name of the file with the counts.
set -eu
cd "$(dirname "$0")/.."
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
rm -rf "$counts"
# A target of its own keeps the flag away from build scripts and from other builds.
RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-generate=$counts" cargo build --locked --bin pleach \
    --profile "$profile" --target "$host" --target-dir target/pgo
"target/pgo/$host/$folder/pleach" bench >/dev/null
"$merge" merge -o "$counts/merged.profdata" "$counts"
echo "$counts/merged.profdata"
