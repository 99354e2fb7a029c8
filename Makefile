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

.PHONY: all pgo book check clean

all:
	cargo build --release --locked
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

clean:
	cargo clean
