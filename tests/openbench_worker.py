"""Does with the engine what OpenBench's worker does: builds it with make, runs several benches at
once, reads nodes and speed from what they print, asks for openings, and looks at its options.

Usage: openbench_worker.py [--evalfile NET] [--here]

Without --here the newest commit is unpacked into a folder of its own and built from scratch, as a
worker does. With it `make` runs in this clone, which is quick where the release build is done.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import chess

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A bench that takes longer is ended by the worker.
BENCH_SECONDS = 60
# A request for openings that prints nothing for so long is ended.
SILENT_SECONDS = 15
# Benches at once; a worker runs as many as it has threads.
COPIES = 2
# What the worker looks for, in this order, in the output's lines from the last one upwards.
NODES = [r"(\d+)\s+nodes", r"nodes\s+(\d+)", r"nodes searched\s+(\d+)"]
SPEED = [r"(\d+)\s+nps", r"nps\s+(\d+)", r"nodes second\s+(\d+)"]
# Options that every test of OpenBench sets.
OPTIONS = ["Threads", "Hash", "SyzygyPath", "SyzygyProbeLimit"]
OPENINGS = [
    "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    "rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2",
]


def unpack(place):
    """The newest commit without its history, as the worker gets it from a code host."""
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", place], input=packed.stdout, check=True)
    return pathlib.Path(place)


def build(source, engine, evalfile):
    """`make -j EXE=... [EVALFILE=...]`: exit code 0, and that file."""
    words = ["make", "-j", f"EXE={engine}"]
    if evalfile:
        words.append(f"EVALFILE={evalfile.resolve()}")
    done = subprocess.run(words, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert engine.is_file(), f"{words} made no {engine}"


def scan(text, patterns):
    """The number that the worker finds."""
    for line in reversed(text.splitlines()):
        for pattern in patterns:
            found = re.search(pattern, line.lower().replace(":", ""))
            if found:
                return int(found[1])
    raise AssertionError(f"no number in {text!r}")


def benches(engine, *arguments):
    """Benches at once, each to its end by itself: their nodes, which must agree, and their speeds."""
    started = time.monotonic()
    running = [
        subprocess.Popen(
            [engine, "bench", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )
        for _ in range(COPIES)
    ]
    printed = []
    for process in running:
        left = max(BENCH_SECONDS - (time.monotonic() - started), 1)
        printed.append(process.communicate(timeout=left)[0])
        assert process.returncode == 0, printed
    nodes = {scan(text, NODES) for text in printed}
    assert len(nodes) == 1, nodes
    speeds = [scan(text, SPEED) for text in printed]
    assert min(speeds) > 0, printed
    return nodes.pop(), speeds


def expected():
    log = subprocess.run(["git", "log", "--format=%B"], cwd=ROOT, capture_output=True, text=True).stdout
    found = re.search(r"^Bench: (\d+)", log, re.MULTILINE)
    return int(found[1]) if found else None


def openings(engine, count, seed, book):
    """`genfens`: that many legal positions, and an end by itself."""
    done = subprocess.run(
        [engine, f"genfens {count} seed {seed} book {book}", "quit"], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=SILENT_SECONDS,
    )
    assert done.returncode == 0, done
    fens = re.findall(r"^info string genfens (.*)$", done.stdout, re.MULTILINE)
    assert len(fens) == count, done.stdout
    for fen in fens:
        board = chess.Board(fen)
        assert board.is_valid() and any(board.legal_moves), fen
    return fens


def options(engine):
    done = subprocess.run(
        [engine], input="uci\nisready\nquit\n", capture_output=True, text=True, timeout=BENCH_SECONDS
    )
    for name in OPTIONS:
        assert f"option name {name} type" in done.stdout, name


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--evalfile", type=pathlib.Path, help="another network, built in")
    parser.add_argument("--here", action="store_true", help="build in this clone")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        engine = pathlib.Path(place) / ("Pleach-0123ABCD" + (".exe" if os.name == "nt" else ""))
        source = ROOT
        if not arguments.here:
            source = unpack(pathlib.Path(tempfile.mkdtemp(dir=place)))
        build(source, engine, arguments.evalfile)
        nodes, speeds = benches(engine)
        print(f"bench: {nodes} nodes, {' and '.join(map(str, speeds))} nps")
        if not arguments.evalfile and expected():
            assert nodes == expected(), f"bench is {nodes}, the history says {expected()}"
        # Other engines' order: MiB of hash, threads, depth. The default's own values change nothing.
        assert benches(engine, "16", "1", "12")[0] == nodes
        assert benches(engine, "16", "1", "6")[0] < nodes
        options(engine)
        first = openings(engine, 8, 42, "None")
        assert first == openings(engine, 8, 42, "None") != openings(engine, 8, 43, "None")
        book = pathlib.Path(place) / "book.epd"
        book.write_text("".join(f"{fen}\n" for fen in OPENINGS))
        openings(engine, 8, 1, book)
        print("options and openings as a worker needs them")


if __name__ == "__main__":
    main()
