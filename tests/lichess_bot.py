#!/usr/bin/env python3
"""Lets lichess-bot itself play with the engine, from its own default configuration, on a server on
this machine that imitates lichess (lichess_server.py).

    lichess_bot.py LICHESS_BOT ENGINE [--rounds N] [--opponent ENGINE]

LICHESS_BOT is the folder of lichess-bot's source; run this with a Python that has its requirements.
A round is 17 games: standard chess, Chess960 and given positions, both colours, fast clocks, draw
offers, an abort, a resignation, a takeback asked for, a stream that breaks off. Then lichess-bot is
interrupted in the middle of a game, and started again with resigning switched on. The engine's part
of the conversation is read from lichess-bot's log.
"""

import argparse
import collections
import contextlib
import datetime
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import chess
import chess.engine
import yaml

import lichess_server
from lichess_server import Plan

ROOK_ENDING = "8/5k2/8/4r3/8/3K4/8/6R1 w - - 0 1"
PAWN_ENDING = "4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1"
MIDDLE_GAME = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R b KQ - 3 8"
BARE_KING = "3qk3/8/8/8/8/8/8/K7 w - - 0 1"
# The opponent thinks so little that it loses most games.
OPPONENT_NODES = 2000
GAME_SECONDS = 400
# How long engines may live after lichess-bot was interrupted.
QUIT_SECONDS = 10
# The log's lines: time, logger, place, level, text.
LOG_LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (\S+) \((.*?)\) (\w+) (.*)$")
TRAFFIC = re.compile(r"^<UciProtocol \(pid=(\d+)\)>: (<<|>>) (.*)$")
# python-chess complains of lines that answer an option, while lichess-bot checks its configuration.
EXPECTED = re.compile(r"Unexpected engine output: 'info string (SyzygyPath|Found)")
# What lichess-bot passes to the engine when its own overhead has used the clock up, in milliseconds.
LEAST_CLOCK = 1


def chess960(number):
    return chess.Board.from_chess960_pos(number).fen()


def plans(seed):
    """The games of a round."""
    return [
        Plan("standard"),
        Plan("standard", bot_white=False),
        Plan("standard, no increment", seconds=30, increment=0, bot_white=seed % 2 == 0),
        Plan("standard, bot's clock used up", seconds=2, increment=0.4),
        Plan("standard, bot's clock used up", bot_white=False, seconds=2, increment=0.4),
        Plan("Chess960", "chess960", chess960((seed * 131 + 7) % 960)),
        Plan("Chess960", "chess960", chess960((seed * 257 + 300) % 960), bot_white=False),
        Plan("Chess960", "chess960", chess960((seed * 389 + 700) % 960), seconds=4, increment=0.3),
        Plan("pawn ending", "fromPosition", PAWN_ENDING),
        Plan("middle game", "fromPosition", MIDDLE_GAME, bot_white=False),
        Plan("rook ending, draws accepted", "fromPosition", ROOK_ENDING, accepts_draws=True),
        Plan("rook ending, draw offered", "fromPosition", ROOK_ENDING, bot_white=False, offer_draw_at=3),
        Plan("aborted", bot_white=False, abort_at=0),
        Plan("resigned", resign_at=13),
        Plan("takeback asked for", bot_white=False, takeback_at=6),
        Plan("stream broken off", cut_stream_at=15),
        Plan("atomic", "atomic"),
    ]


class Opponent:
    """Moves of the other side."""

    def __init__(self, command):
        self.engine = chess.engine.SimpleEngine.popen_uci(command, timeout=60)

    def __call__(self, board):
        return self.engine.play(board, chess.engine.Limit(nodes=OPPONENT_NODES)).move


def configuration(folder, engine, url, changes):
    """lichess-bot's default configuration with the engine, the server, and variants to play."""
    settings = yaml.safe_load((folder / "config.yml.default").read_text())
    settings["token"], settings["url"] = "token", url
    settings["engine"]["dir"], settings["engine"]["name"] = str(engine.parent), engine.name
    settings["challenge"]["variants"] = ["standard", "chess960", "fromPosition"]
    settings["pgn_directory"] = "games"
    for path, value in changes.items():
        *parents, key = path.split(".")
        place = settings
        for parent in parents:
            place = place[parent]
        place[key] = value
    return settings


@contextlib.contextmanager
def session(arguments, place, name, changes):
    """A running lichess-bot that has connected: the server, the process, and its log."""
    folder = pathlib.Path(arguments.lichess_bot).resolve()
    lichess = lichess_server.Lichess(Opponent(arguments.opponent or arguments.engine))
    server = lichess_server.serve(lichess)
    url = f"http://127.0.0.1:{server.server_port}/"
    here = place / name
    here.mkdir()
    settings = configuration(folder, pathlib.Path(arguments.engine).resolve(), url, changes)
    (here / "config.yml").write_text(yaml.safe_dump(settings))
    with (here / "output.txt").open("w") as output:
        bot = subprocess.Popen(
            [sys.executable, folder / "lichess-bot.py"], cwd=here, stdout=output, stderr=output)
        try:
            assert lichess.connected.wait(60), (here / "output.txt").read_text()
            yield lichess, bot, here / "lichess_bot_auto_logs" / "lichess-bot.log"
        finally:
            if bot.poll() is None:
                bot.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    bot.wait(20)
                bot.kill()
            server.shutdown()
            lichess.choose.engine.quit()


def play(lichess, plan):
    """One game to its end."""
    game = lichess.challenge(plan)
    assert game.ended.wait(GAME_SECONDS), (plan, game.status, game.board.fen())
    result = f"{game.winner} won" if game.winner else "no winner"
    lost = f", {game.lost_on_time_by} lost on time" if game.lost_on_time_by else ""
    print(f"{plan.name}, bot {lichess_server.colour(plan.bot_white)}: {game.status}, {result}, "
          f"{len(game.board.move_stack)} plies, draw offers of the bot {game.bot_offers}{lost}", flush=True)
    time.sleep(1.5)  # lichess-bot leaves the game.
    return game


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def interrupted(lichess, bot, log):
    """lichess-bot is interrupted while its engine ponders or searches: no engine is left."""
    game = lichess.challenge(Plan("interrupted", seconds=60))
    while len(game.board.move_stack) < 9:
        time.sleep(0.1)
        assert game.status in ("created", "started"), game.status
    pids = [int(pid) for pid in re.findall(r"has pid=(\d+)", log.read_text())]
    assert any(map(runs, pids)), "no engine is seen running"
    bot.send_signal(signal.SIGINT)
    bot.send_signal(signal.SIGINT)
    bot.wait(30)
    started = time.monotonic()
    while any(map(runs, pids)):
        assert time.monotonic() - started < QUIT_SECONDS, "an engine still runs"
        time.sleep(0.05)
    print(f"interrupted: the engine was gone {time.monotonic() - started:.1f} s after lichess-bot")


def seconds_of(text):
    return datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f").timestamp()


def report(log):
    """Counts what went between lichess-bot and the engine; returns what is not as it should be."""
    counts, wrong = collections.Counter(), []
    options, strings, began, slowest = collections.Counter(), collections.Counter(), {}, 0.0
    for line in log.read_text(errors="replace").splitlines():
        found = LOG_LINE.match(line)
        if not found:
            continue
        stamp, logger, _, level, text = found.groups()
        if level in ("WARNING", "ERROR", "CRITICAL") and not EXPECTED.search(text):
            wrong.append(f"{level} {logger}: {text}")
        traffic = TRAFFIC.match(text)
        if not traffic:
            continue
        pid, way, words = traffic.groups()
        first = words.split(" ", 1)[0]
        if way == "<<":
            counts["go ponder" if words.startswith("go ponder") else first] += 1
            if first == "setoption":
                options[words.removeprefix("setoption name ")] += 1
            clocks = re.search(r"wtime (\d+) btime (\d+)", words)
            if first == "go" and clocks and "ponder" not in words and str(LEAST_CLOCK) in clocks.groups():
                began[pid] = seconds_of(stamp)
                counts["go with a clock of 1 ms"] += 1
        elif first == "bestmove":
            counts[first] += 1
            if pid in began:
                slowest = max(slowest, seconds_of(stamp) - began.pop(pid))
        elif words.startswith("info string"):
            strings[words] += 1
    for title, each in (("sent and received", counts), ("options", options), ("info string", strings)):
        print(f"{title}: " + "; ".join(f"{key} {number}" for key, number in sorted(each.items())))
    print(f"slowest answer to a clock of 1 ms: {1000 * slowest:.0f} ms")
    if not counts["ponderhit"] or not counts["stop"]:
        wrong.append("no pondering was seen")
    return wrong


def rounds(arguments, place):
    """The rounds of games with the default configuration; what went wrong."""
    wrong = []
    with session(arguments, place, "default", {}) as (lichess, bot, log):
        for seed in range(arguments.rounds):
            for plan in plans(seed):
                game = play(lichess, plan)
                bot_side = lichess_server.colour(plan.bot_white)
                if game.lost_on_time_by == bot_side:
                    wrong.append(f"{plan.name}: lost on time")
                if (plan.variant == "atomic") != (game.status == "declined"):
                    wrong.append(f"{plan.name}: {game.status}")
        interrupted(lichess, bot, log)
        wrong += lichess.errors + report(log)
    played = sum(game.status != "declined" for game in lichess.games.values())
    print(f"{played} games, declined {list(lichess.declined.values())}")
    return wrong


def resigning(arguments, place):
    """The bot resigns where its configuration says so."""
    changes = {"engine.draw_or_resign.resign_enabled": True}
    with session(arguments, place, "resigning", changes) as (lichess, _, _):
        game = play(lichess, Plan("lost ending", "fromPosition", BARE_KING))
    return [] if game.status == "resign" and game.winner == "black" else [f"not resigned: {game.status}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("lichess_bot", help="folder of lichess-bot's source")
    parser.add_argument("engine")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--opponent", help="the other side's engine (the same one if none is named)")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for configurations and logs")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        place = arguments.keep or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place.mkdir(exist_ok=True)
        wrong = rounds(arguments, place) + resigning(arguments, place)
    for line in wrong:
        print(f"WRONG: {line}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
