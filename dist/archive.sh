#!/bin/sh
# Packs what users download: program, README, licence and, if mdbook is installed, the book.
# Usage: dist/archive.sh [target]...   (Rust target triples; the machine's own if none is named)
# The machine's own program is built with profile-guided optimisation where llvm-tools is
# installed. Other targets need `rustup target add` and a linker, which cargo finds through
# CARGO_TARGET_<TRIPLE>_LINKER; the usual ones of Debian are set below.
set -eu
cd "$(dirname "$0")/.."
: "${CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER:=aarch64-linux-gnu-gcc}"
: "${CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER:=x86_64-w64-mingw32-gcc}"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER

profile=${PROFILE:-release}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
host=$(rustc -vV | sed -n 's/^host: //p')
[ $# -gt 0 ] || set -- "$host"

if command -v mdbook >/dev/null 2>&1; then
    mdbook build book
fi

for target in "$@"; do
    suffix=
    case $target in *windows*) suffix=.exe ;; esac
    program=target/$target/$profile/pleach$suffix
    tools=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
    if [ "$target" = "$host" ] && [ -x "$tools" ]; then
        program=$(dist/pgo.sh "$profile" | tail -n 1)
    else
        cargo build --locked --bin pleach --profile "$profile" --target "$target"
    fi
    name=pleach-$version-$target
    place=target/dist/$name
    rm -rf "$place"
    mkdir -p "$place"
    cp "$program" README.md LICENSE "$place"
    if [ -d book/book ]; then
        cp -r book/book "$place/book"
    fi
    case $target in
        *windows*) (cd target/dist && rm -f "$name.zip" && python3 -m zipfile -c "$name.zip" "$name") ;;
        *) tar -C target/dist -czf "target/dist/$name.tar.gz" "$name" ;;
    esac
done
ls -l target/dist/*.tar.gz target/dist/*.zip 2>/dev/null || true
