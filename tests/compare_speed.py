#!/usr/bin/env python3
"""Compares the speed of builds that search the same tree, and says how sure the result is.

A machine's speed wavers by several percent, and one process may be faster than another of the same
build from start to end. So the builds take turns at every position, in random order and on the same
core, and are started again for every round; each is compared with the first at the same position
of the same round.

    tests/compare_speed.py target/release/pleach-before target/release/pleach
    tests/compare_speed.py --cores 0,1 --minutes 2 --depth 12 --before 9 before after

With `--before N` every position is searched to depth N first, and only the search after it, which
finds the transposition table filled, is measured: that is nearer to a search in the middle of a
game than one that starts with an empty table.

The positions are those of the first build's `bench`. Unequal node counts are shown: then the
trees differ, and so may the cost of a node.
"""

import argparse
import math
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import time

# The share of the ratios that is left out on either side of their middle.
OUTLIERS = 1 / 8


class Engine:
    """A UCI engine."""

    def __init__(self, path, hash_mib):
        self.path = path
        self.process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.send("uci", f"setoption name Hash value {hash_mib}")

    def send(self, *commands):
        self.process.stdin.write("".join(command + "\n" for command in commands))
        self.process.stdin.flush()

    def wait_for(self, word):
        """The last line with a node count before one that begins with the word."""
        last = ""
        for line in self.process.stdout:
            words = line.split()
            if words[:1] == [word]:
                return last
            if "nodes" in words:
                last = line
        # A worker of the pool that raised SystemExit would never answer.
        raise RuntimeError(f"{self.path} has ended")

    def search(self, fen, depth, before):
        """Nodes and seconds of one search."""
        self.send("ucinewgame", f"position fen {fen}")
        if before:
            self.send(f"go depth {before}")
            self.wait_for("bestmove")
        self.send("isready")
        self.wait_for("readyok")
        start = time.perf_counter()
        self.send(f"go depth {depth}")
        words = self.wait_for("bestmove").split()
        return int(words[words.index("nodes") + 1]), time.perf_counter() - start

    def quit(self):
        self.process.communicate("quit\n")


def bench_positions(path):
    """The FENs of an engine's `bench`: what follows the node count in each position's line."""
    said = subprocess.run([path, "bench", "1"], capture_output=True, text=True, check=True).stdout
    return [line.split(" nodes  ", 1)[1] for line in said.splitlines() if " nodes  " in line]


def rounds(core, builds, positions, arguments):
    """Rounds until the time is over: each a list of {number of the build: (nodes, seconds)} by
    position."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    dice = random.Random(os.getpid())
    end = time.monotonic() + 60 * arguments.minutes
    done = []
    while not done or time.monotonic() < end:
        engines = [Engine(path, arguments.hash) for path in builds]
        done.append([])
        for fen in positions:
            measured = {}
            for build in dice.sample(range(len(engines)), len(engines)):
                measured[build] = engines[build].search(fen, arguments.depth, arguments.before)
            done[-1].append(measured)
        for engine in engines:
            engine.quit()
    return done


def compare(done, first, other):
    """By how much the other build is faster, in percent, two standard errors of that (None from one
    round alone), and the ratio of both trees' sizes.

    What makes a process faster from start to end is common to all positions of a round, so that the
    error is that of the rounds' means. A ratio far from those of the other rounds at its position is
    moved to the border of their middle part before, and the error widened by as much as that narrows
    it (Tukey and McLaughlin's for trimmed means)."""
    sizes = {first: 0, other: 0}
    means = [0] * len(done)
    for place in range(len(done[0])):
        ratios = []
        for measured in (one[place] for one in done):
            speed = {build: nodes / seconds for build, (nodes, seconds) in measured.items()}
            ratios.append(math.log(speed[other] / speed[first]))
            for build in sizes:
                sizes[build] += measured[build][0]
        in_order = sorted(ratios)
        outliers = int(len(ratios) * OUTLIERS)
        least, most = in_order[outliers], in_order[-1 - outliers]
        for index, ratio in enumerate(ratios):
            means[index] += max(least, min(most, ratio)) / len(done[0])
    mean = statistics.fmean(means)
    error = None
    if len(means) > 1:
        kept = 1 - 2 * int(len(means) * OUTLIERS) / len(means)
        error = 200 * statistics.stdev(means) / math.sqrt(len(means)) / kept
    return 100 * math.expm1(mean), error, sizes[other] / sizes[first]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("builds", nargs="+", help="the others are compared with the first")
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--before", type=int, default=0, help="depth of a search before each")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--cores", help="measure on each of these at once, e.g. 0,1")
    parser.add_argument("--hash", type=int, default=16, help="MiB")
    arguments = parser.parse_args()

    builds = arguments.builds
    positions = bench_positions(builds[0])
    cores = [int(core) for core in arguments.cores.split(",")] if arguments.cores else [None]
    with multiprocessing.Pool(len(cores)) as pool:
        jobs = [(core, builds, positions, arguments) for core in cores]
        try:
            results = pool.starmap(rounds, jobs, chunksize=1)
        except RuntimeError as error:
            sys.exit(str(error))
    for core, done in zip(cores, results):
        for other in range(1, len(builds)):
            faster, error, size = compare(done, 0, other)
            place = "" if core is None else f"core {core}: "
            error = "unknown" if error is None else f"{error:.2f}"
            print(
                f"{place}{builds[other]} {faster:+.2f} +- {error} % nodes a second"
                f" in {len(done)} rounds, {size:.4f} times the nodes"
            )


if __name__ == "__main__":
    main()
