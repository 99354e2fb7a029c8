#!/usr/bin/env python3
"""Finds out which search parameters bring a short search's score nearer to that of a long one.

Another engine searches every position once for long (`judge`). Then the engine, a build with the
feature `tune`, searches the positions again and again, each time with every parameter moved up or
down at random (`screen`), so that each search speaks of all of them. `report` compares, for every
parameter, the searches of the same position with it moved up and with it moved down.

    tests/screen_parameters.py judge --engine stockfish --positions fens.txt --out judged.tsv
    tests/screen_parameters.py screen --engine target/fast/pleach --judged judged.tsv \\
        --nodes 10000 --minutes 10 --out screen.tsv
    tests/screen_parameters.py report --judged judged.tsv screen.tsv [screen.tsv ...]

Two engines, networks or values are compared by one search of every position each (`search`, any
engine) and the mean difference of their distances to the long search (`compare`, the others with
the first).

    tests/screen_parameters.py search --engine target/release/pleach --judged judged.tsv \\
        --out shipped.tsv
    tests/screen_parameters.py search --engine target/release/pleach --judged judged.tsv \\
        --option EvalFile=other.pnn --out other.tsv
    tests/screen_parameters.py compare --judged judged.tsv shipped.tsv other.tsv

What a search is measured by is the squared distance of its expected score to the judge's, in
points of percent. The judge should be another engine: one's own long search favours the
parameters it was searched with. What a parameter gains here has still to be confirmed by games.
"""

import argparse
import math
import pathlib
import random
import re
import subprocess
import time

PARAMETERS = pathlib.Path(__file__).parents[1] / "src" / "params.rs"
# Centipawns at which the expected score is 1 / (1 + 1/e), and beyond which nothing changes.
SCALE = 150
MOST = 2000
# The score of a forced mate, in centipawns.
MATE = 30_000


class Engine:
    """A UCI engine that searches positions on its own."""

    def __init__(self, arguments):
        self.process = subprocess.Popen(
            [arguments.engine], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.send("uci", f"setoption name Hash value {arguments.hash}")
        for option in arguments.option:
            name, _, value = option.partition("=")
            self.send(f"setoption name {name} value {value}")
        self.check_options()

    def check_options(self):
        """Ends the program if an option sent so far was refused: the engine would play on."""
        self.send("isready")
        for line in self.process.stdout:
            if line.split() == ["readyok"]:
                return
            if line.startswith(("info string no option", "info string option")):
                self.quit()
                raise SystemExit(line.strip())
        raise SystemExit("the engine has ended")

    def send(self, *commands):
        self.process.stdin.write("".join(command + "\n" for command in commands))
        self.process.stdin.flush()

    def score(self, fen, nodes):
        """The score of the last iteration in centipawns, for the side to move; None without one."""
        self.send("ucinewgame", f"position fen {fen}", f"go nodes {nodes}")
        score = None
        for line in self.process.stdout:
            words = line.split()
            if words[:1] == ["bestmove"]:
                return score
            if "score" in words and "lowerbound" not in words and "upperbound" not in words:
                kind, value = words[words.index("score") + 1:][:2]
                score = centipawns(kind, int(value))
        raise SystemExit("the engine has ended")

    def quit(self):
        self.process.communicate("quit\n")


def centipawns(kind, value):
    """A score of UCI, `cp` or `mate`, in centipawns. In a mate in 0 the side to move is mated."""
    if kind == "cp":
        return value
    return MATE if value > 0 else -MATE


def parameters():
    """Name, default, least, most and step of every parameter that steps by more than one."""
    line = re.compile(r"^\s+(\w+) = (-?[\d_]+), (-?[\d_]+), (-?[\d_]+), ([\d_]+);", re.MULTILINE)
    found = [(name, *map(int, numbers)) for name, *numbers in line.findall(PARAMETERS.read_text())]
    return [p for p in found if p[4] > 1 and not p[0].startswith("time_")]


def expected(score):
    """The expected score in percent."""
    return 100 / (1 + math.exp(-max(-MOST, min(MOST, score)) / SCALE))


def judge(arguments):
    engine = Engine(arguments)
    with open(arguments.positions) as positions, open(arguments.out, "w") as out:
        for fen in filter(None, map(str.strip, positions)):
            score = engine.score(fen, arguments.nodes)
            if score is not None:
                print(fen, score, sep="\t", file=out, flush=True)
    engine.quit()


def read_judged(path):
    with open(path) as lines:
        return [(fen, expected(float(score))) for fen, score in (l.split("\t") for l in lines)]


def screen(arguments):
    judged = read_judged(arguments.judged)
    engine = Engine(arguments)
    moving = parameters()
    dice = random.Random(arguments.seed)
    end = time.monotonic() + 60 * arguments.minutes
    with open(arguments.out, "a") as out:
        while time.monotonic() < end:
            place = dice.randrange(len(judged))
            signs = [dice.choice("+-") for _ in moving]
            for (name, default, least, most, step), sign in zip(moving, signs):
                moved = default + int(sign + "1") * round(arguments.steps * step)
                engine.send(f"setoption name {name} value {max(least, min(most, moved))}")
            engine.check_options()
            score = engine.score(judged[place][0], arguments.nodes)
            if score is not None:
                print(place, score, "".join(signs), sep="\t", file=out, flush=True)
    engine.quit()


def search(arguments):
    engine = Engine(arguments)
    with open(arguments.out, "w") as out:
        for place, (fen, _) in enumerate(read_judged(arguments.judged)):
            score = engine.score(fen, arguments.nodes)
            if score is not None:
                print(place, score, sep="\t", file=out, flush=True)
    engine.quit()


def line_of_best_fit(xs, ys):
    """Intercept and slope. Without them, parameters that only stretch all scores would gain."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys))
    slope = covariance / sum((x - mean_x) ** 2 for x in xs)
    return mean_y - slope * mean_x, slope


def read_searches(paths, judged):
    """The rows of these files, the places of their positions and their squared distances."""
    texts = [pathlib.Path(path).read_text() for path in paths]
    rows = [line.split() for text in texts for line in text.splitlines()]
    places = [int(row[0]) for row in rows]
    scores = [expected(float(row[1])) for row in rows]
    targets = [judged[place][1] for place in places]
    intercept, slope = line_of_best_fit(scores, targets)
    return rows, places, [(t - intercept - slope * s) ** 2 for s, t in zip(scores, targets)]


def compare(arguments):
    judged = read_judged(arguments.judged)
    distances = []
    for path in arguments.searches:
        _, places, errors = read_searches([path], judged)
        distances.append(dict(zip(places, errors)))
    first = distances[0]
    print("positions  root mean square  further off than the first  +- 2 standard errors  file")
    for path, those in zip(arguments.searches, distances):
        both = first.keys() & those.keys()
        further = [those[place] - first[place] for place in both]
        mean = sum(further) / len(both)
        error = math.sqrt(sum((f - mean) ** 2 for f in further)) / len(both)
        root = math.sqrt(sum(those[place] for place in both) / len(both))
        print(f"{len(both):9} {root:17.2f} {mean:27.2f} {2 * error:21.2f}  {path}")


def report(arguments):
    judged = read_judged(arguments.judged)
    rows, places, errors = read_searches(arguments.screens, judged)

    totals, counts = [0.0] * len(judged), [0] * len(judged)
    for place, error in zip(places, errors):
        totals[place] += error
        counts[place] += 1
    # What is left of each search's error when its position's mean is taken off.
    rest = [e - totals[p] / counts[p] for p, e in zip(places, errors)]

    found = []
    for index, (name, default, _, _, step) in enumerate(parameters()):
        gains = [-r if row[2][index] == "+" else r for r, row in zip(rest, rows)]
        mean = sum(gains) / len(gains)
        error = math.sqrt(sum((g - mean) ** 2 for g in gains)) / len(gains)
        found.append((mean / error, name, default, step, 2 * mean))
    chance = math.sqrt(2 * len(found))
    squares = sum(z * z for z, *_ in found)
    print(f"{len(rows)} searches; root mean square {math.sqrt(sum(errors) / len(errors)):.2f} points")
    print(f"sum of squared clarities {squares:.0f}; chance gives {len(found)} +- {chance:.0f}")
    print("parameter                  default  step   gain of up over down  clarity")
    for z, name, default, step, gain in sorted(found, key=lambda row: -abs(row[0])):
        print(f"{name:26} {default:7} {step:5} {gain:22.3f} {z:8.1f}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    engine = argparse.ArgumentParser(add_help=False)
    engine.add_argument("--engine", required=True)
    engine.add_argument("--hash", type=int, default=16, help="MiB")
    engine.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="may be repeated"
    )
    engine.add_argument("--out", required=True)
    judged = argparse.ArgumentParser(add_help=False)
    judged.add_argument("--judged", required=True, help="what judge wrote")

    tasks = parser.add_subparsers(required=True)
    task = tasks.add_parser("judge", parents=[engine], help="search every position for long")
    task.set_defaults(run=judge)
    task.add_argument("--positions", required=True, help="file of FENs, one a line")
    task.add_argument("--nodes", type=int, default=500_000)
    task = tasks.add_parser(
        "screen",
        parents=[engine, judged],
        help="search with parameters moved at random; the engine is a build with the feature tune",
    )
    task.set_defaults(run=screen)
    task.add_argument("--nodes", type=int, default=10_000)
    task.add_argument("--minutes", type=float, default=10)
    task.add_argument("--steps", type=float, default=2, help="how many steps to move by")
    task.add_argument("--seed", type=int, default=1, help="another one for every run")
    task = tasks.add_parser("report", parents=[judged], help="print what every parameter gains")
    task.set_defaults(run=report)
    task.add_argument("screens", nargs="+")
    task = tasks.add_parser(
        "search", parents=[engine, judged], help="search every position once, as the engine is"
    )
    task.set_defaults(run=search)
    task.add_argument("--nodes", type=int, default=10_000)
    task = tasks.add_parser(
        "compare", parents=[judged], help="print how much further off than the first the others are"
    )
    task.set_defaults(run=compare)
    task.add_argument("searches", nargs="+")
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
