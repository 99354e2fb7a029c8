# For OpenBench, which runs `make EXE=<name> [EVALFILE=<file>]`, and for short commands.
# Everything else is plain cargo.

EXE ?= pleach
ifeq ($(OS),Windows_NT)
  SUFFIX := .exe
endif
NAME := $(EXE:.exe=)$(SUFFIX)

ifdef EVALFILE
  # build.rs builds this network in.
  export EVALFILE
endif

.PHONY: all pgo book dist check clean

all:
	cargo build --release --locked --target-dir target
	cp target/release/pleach$(SUFFIX) $(NAME)

# Optimised by a profile of `bench`; needs rustup's component llvm-tools.
pgo:
	dist/pgo.sh

check:
	.ci/run

# Brings the book's outputs and drawings up to date, and renders it; needs mdbook (cargo install mdbook).
book:
	cargo build --release --locked
	python3 book/make.py
	mdbook build book

# Archives for users in target/dist, each tried before it is called good. What is missing for that
# (targets, linkers, mdbook, emulators) is said with the command that installs it.
dist:
	python3 dist/archive.py
	python3 dist/try.py

clean:
	cargo clean
