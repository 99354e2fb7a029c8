#!/usr/bin/env python3
"""Measures how quickly the engine starts, stops and quits, and draws the distribution as text.

Usage: latency.py ENGINE [--stops N] [--threads N] [--hash MIB] [--busy] [--check]

Times are milliseconds of wall time, from the moment a command is written to the moment its answer
is read. With --busy, as many processes as there are cores spin beside the engine. With --check the
exit code is 1 if a limit of LIMITS is broken.
"""

import argparse
import multiprocessing
import os
import random
import subprocess
import sys
import time

# Longest times in milliseconds: median to `uciok` and to the first `readyok`; the share of stops
# within SOON, and the worst stop. For as many threads as cores: with more they wait for each other.
LIMITS = {"uciok": 100, "readyok": 200, "stop": 25, "quit": 25}
SOON, SOON_SHARE = 20, 0.999
# Seeds the positions and the waits before each stop, so that two runs stop the same searches.
SEED = 1
POSITIONS = [
    "startpos",
    "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "fen r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
]
# Upper ends of the histogram's rows, in milliseconds.
ROWS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 25, 50, 100, 1000]
BAR = 50


class Engine:
    """A running engine, spoken to line by line."""

    def __init__(self, path):
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def expect(self, beginning):
        """Reads lines up to the first that begins so."""
        for line in self.process.stdout:
            if line.startswith(beginning):
                return line
        raise SystemExit(f"the engine ended before '{beginning}'")


def milliseconds_since(start):
    return (time.perf_counter() - start) * 1000


def spin():
    while True:
        pass


def starts(path, times):
    """Times from the start of the process to `uciok` and to the first `readyok`."""
    uciok, readyok = [], []
    for _ in range(times):
        engine = Engine(path)
        engine.send("uci")
        engine.expect("uciok")
        uciok.append(milliseconds_since(engine.started))
        engine.send("isready")
        engine.expect("readyok")
        readyok.append(milliseconds_since(engine.started))
        engine.send("quit")
        engine.process.wait()
    return uciok, readyok


def configured(path, threads, hash_mib):
    engine = Engine(path)
    engine.send("uci")
    engine.expect("uciok")
    engine.send(f"setoption name Threads value {threads}")
    engine.send(f"setoption name Hash value {hash_mib}")
    engine.send("isready")
    engine.expect("readyok")
    return engine


def stops(path, times, threads, hash_mib, chance):
    """Times from `stop` to `bestmove`, each after up to 40 ms of search."""
    engine = configured(path, threads, hash_mib)
    found = []
    for _ in range(times):
        engine.send(f"position {chance.choice(POSITIONS)}")
        engine.send("go infinite")
        time.sleep(chance.uniform(0, 0.04))
        start = time.perf_counter()
        engine.send("stop")
        engine.expect("bestmove")
        found.append(milliseconds_since(start))
    engine.send("quit")
    engine.process.wait()
    return found


def quits(path, times, threads, hash_mib, chance):
    """Times from `quit` during a search to the end of the process."""
    found = []
    for _ in range(times):
        engine = configured(path, threads, hash_mib)
        engine.send("go infinite")
        time.sleep(chance.uniform(0, 0.04))
        start = time.perf_counter()
        engine.send("quit")
        engine.process.wait()
        found.append(milliseconds_since(start))
    return found


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def describe(name, values):
    print(
        f"{name}: {len(values)} times, median {quantile(values, 0.5):.2f} ms, "
        f"99.9 % {quantile(values, 0.999):.2f} ms, worst {max(values):.2f} ms"
    )


def histogram(values):
    low = 0.0
    for high in ROWS:
        count = sum(low <= value < high for value in values)
        if count:
            bar = "#" * max(1, round(BAR * count / len(values)))
            print(f"  {low:6.1f} to {high:6.1f} ms {count:6d} {bar}")
        low = high


def broken(figures):
    """The limits that the figures break."""
    faults = []
    for name in ("uciok", "readyok"):
        median = quantile(figures[name], 0.5)
        if median > LIMITS[name]:
            faults.append(f"{name} after {median:.1f} ms")
    for name in ("stop", "quit"):
        worst = max(figures[name])
        if worst > LIMITS[name]:
            faults.append(f"{name} took {worst:.1f} ms")
    soon = sum(value < SOON for value in figures["stop"]) / len(figures["stop"])
    if soon < SOON_SHARE:
        faults.append(f"only {soon:.2%} of stops within {SOON} ms")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine")
    parser.add_argument("--stops", type=int, default=2000)
    parser.add_argument("--quits", type=int, default=50)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--hash", type=int, default=1024)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    chance = random.Random(SEED)
    neighbours = []
    if wanted.busy:
        for _ in range(os.cpu_count() or 1):
            neighbours.append(multiprocessing.Process(target=spin, daemon=True))
            neighbours[-1].start()
    try:
        figures = dict(zip(("uciok", "readyok"), starts(wanted.engine, wanted.starts)))
        setting = (wanted.threads, wanted.hash, chance)
        figures["stop"] = stops(wanted.engine, wanted.stops, *setting)
        figures["quit"] = quits(wanted.engine, wanted.quits, *setting)
    finally:
        for neighbour in neighbours:
            neighbour.terminate()
    for name, values in figures.items():
        describe(name, values)
    print("from stop to bestmove:")
    histogram(figures["stop"])
    faults = broken(figures)
    if wanted.check and faults:
        sys.exit("too slow: " + "; ".join(faults))


if __name__ == "__main__":
    main()
