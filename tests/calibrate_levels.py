#!/usr/bin/env python3
"""Plays levels (UCI_Elo) against each other and against another engine's, and prints a table.

Needs fastchess. Levels are searched without a clock, so that nobody waits; the other engine
searches as far as --opponent-limit says. Stockfish 17.1 chooses the move of a level at a certain
depth: 1 for UCI_Elo 1320, 2 for 1500, 4 for 1750, 5 for 2000, 6 for 2250, 7 for 2500, 10 for 2750
and 12 for 2900. Other versions have other depths and another scale.

    tests/calibrate_levels.py --engine target/release/pleach --fastchess fastchess \\
        --openings openings.epd --levels 500,750,1000,1250,1500 --games 200
    tests/calibrate_levels.py ... --opponent stockfish --opponent-limit depth=5 --levels 2000
"""

import argparse
import re
import subprocess
import sys

# More nodes than any level searches: it ends by its own limit.
PLENTY = 100_000_000


def side(command, name, elo, limit, options=()):
    return [
        "-engine", f"cmd={command}", f"name={name}", limit,
        "option.UCI_LimitStrength=true", f"option.UCI_Elo={elo}",
        *(f"option.{option}" for option in options),
    ]


def match(arguments, first, second):
    """The result of first against second: wins, losses, draws, Elo, error."""
    command = [
        arguments.fastchess, *first, *second,
        "-openings", f"file={arguments.openings}", "format=epd", "order=random",
        "-rounds", str(arguments.games // 2), "-repeat", "-srand", str(arguments.seed),
        "-concurrency", str(arguments.concurrency), "-ratinginterval", "0",
        "-draw", "movenumber=60", "movecount=8", "score=10",
        "-maxmoves", "200",
    ]
    text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    elo = re.findall(r"Elo: (\S+) \+/- (\S+?),", text)
    games = re.findall(r"Games: (\d+), Wins: (\d+), Losses: (\d+), Draws: (\d+)", text)
    if not elo or not games:
        sys.exit(f"no result:\n{text[-2000:]}")
    _, wins, losses, draws = map(int, games[-1])
    return wins, losses, draws, float(elo[-1][0]), float(elo[-1][1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--fastchess", default="fastchess")
    parser.add_argument("--openings", required=True, help="EPD file")
    parser.add_argument("--levels", required=True, help="ratings, separated by commas")
    parser.add_argument("--opponent", help="another engine with UCI_Elo; else levels meet neighbours")
    parser.add_argument("--opponent-limit", default="nodes=30000", help="nodes=N or depth=N")
    parser.add_argument("--opponent-option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    levels = [int(level) for level in arguments.levels.split(",")]
    print("| first | second | wins | losses | draws | Elo | error |", flush=True)
    print("|---|---|---|---|---|---|---|", flush=True)
    own = lambda elo: side(arguments.engine, f"level-{elo}", elo, f"nodes={PLENTY}")
    if arguments.opponent:
        other = lambda elo: side(arguments.opponent, f"other-{elo}", elo, arguments.opponent_limit,
                                 arguments.opponent_option)
        pairs = [(own(e), other(e), f"level {e}", f"other {e}") for e in levels]
    else:
        pairs = [(own(b), own(a), f"level {b}", f"level {a}") for a, b in zip(levels, levels[1:])]
    for first, second, one, two in pairs:
        wins, losses, draws, elo, error = match(arguments, first, second)
        print(f"| {one} | {two} | {wins} | {losses} | {draws} | {elo:+.0f} | {error:.0f} |",
              flush=True)


if __name__ == "__main__":
    main()
