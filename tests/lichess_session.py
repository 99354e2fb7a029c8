"""Imitates lichess-bot's sessions with its default configuration: its options, a first move by
movetime, pondering, clocks down to a millisecond, dead-drawn scores, Chess960, games from a
position, and quit.

Usage: lichess_session.py ENGINE
"""

import sys
import time

import chess
import chess.engine

# What lichess-bot's default configuration sets; the folder of tables need not exist.
OPTIONS = {
    "Move Overhead": 100,
    "Threads": 4,
    "Hash": 512,
    "SyzygyPath": "./syzygy/",
    "UCI_ShowWDL": True,
}
# lichess-bot's first move takes ten seconds; here a fraction shows the same.
FIRST_MOVE = chess.engine.Limit(time=0.3)
MOST_PLIES = 300


def clock_limit(clocks, increment):
    return chess.engine.Limit(
        white_clock=clocks[chess.WHITE], black_clock=clocks[chess.BLACK],
        white_inc=increment, black_inc=increment,
    )


def play_game(engine, board, seconds, increment, game):
    """The engine against itself, as lichess-bot asks it: the first move of each side by movetime
    and without pondering, then by the clock and pondering."""
    clocks = {chess.WHITE: seconds, chess.BLACK: seconds}
    first_moves = board.ply() + 2
    while not board.is_game_over(claim_draw=True) and board.ply() < MOST_PLIES:
        first = board.ply() < first_moves
        limit = FIRST_MOVE if first else clock_limit(clocks, increment)
        started = time.monotonic()
        result = engine.play(board, limit, game=game, info=chess.engine.INFO_ALL, ponder=not first)
        assert result.move in board.legal_moves, (board.fen(), result)
        assert "score" in result.info and "wdl" in result.info, result.info
        if not first:
            left = clocks[board.turn] - (time.monotonic() - started) + increment
            clocks[board.turn] = max(left, 0.001)
        board.push(result.move)
    print(f"{game}: {board.result(claim_draw=True)} after {board.ply()} plies, "
          f"clocks {clocks[chess.WHITE]:.2f} and {clocks[chess.BLACK]:.2f} s")


def last_milliseconds(engine):
    """lichess-bot takes its own overhead off the clock and leaves at least a millisecond."""
    board = chess.Board()
    for seconds in (0.001, 0.002, 0.05):
        clocks = {chess.WHITE: seconds, chess.BLACK: seconds}
        started = time.monotonic()
        result = engine.play(board, clock_limit(clocks, 0), info=chess.engine.INFO_ALL)
        assert result.move in board.legal_moves and "score" in result.info
        assert time.monotonic() - started < 5, seconds
        board.push(result.move)


def dead_draws(engine):
    """Draws are offered where ten scores in a row are exactly zero."""
    for fen in ("8/8/4k3/8/8/3K4/8/8 w - - 0 1", "8/5k2/8/4b3/8/3K4/8/6B1 w - - 40 90"):
        info = engine.analyse(chess.Board(fen), chess.engine.Limit(nodes=5000))
        assert info["score"].relative == chess.engine.Cp(0), (fen, info["score"])


def main():
    # The context ends the engine where a check fails; otherwise its thread would keep Python alive.
    with chess.engine.SimpleEngine.popen_uci(sys.argv[1], timeout=60) as engine:
        engine.configure(OPTIONS)
        last_milliseconds(engine)
        dead_draws(engine)
        play_game(engine, chess.Board(), 1.0, 0.01, "bullet")
        play_game(engine, chess.Board.from_chess960_pos(101), 1.0, 0.01, "Chess960")
        ending = chess.Board("4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1")
        play_game(engine, ending, 1.0, 0.01, "from position")
        engine.ping()


if __name__ == "__main__":
    main()
