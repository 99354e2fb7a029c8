"""Solves positions of every table in a folder and wins endgames, and checks it with python-chess' own
reader: scores say the result, moves keep it, and progress is as fast as possible or a mate is
announced.

Usage: smoke_tablebase.py ENGINE FOLDER
"""

import pathlib
import random
import sys

import chess
import chess.engine
import chess.syzygy

ENDINGS = ("KBNvK", "KQvKR", "KRvKP", "KQvK", "KRvK", "KPvK")
STARTS = 50
LIMIT = chess.engine.Limit(nodes=2000)
# The suite: so many positions of each table, each searched so far.
SUITE_POSITIONS = 25
SUITE_LIMIT = chess.engine.Limit(nodes=200)
# A tablebase win is shown as 20000 less its plies; wins and losses that the 50-move rule spoils, and
# draws, are near zero.
LEAST_WIN = 15_000
SPOILED = 49


def positions(ending):
    """Positions with an ending's pieces, the same on every run; either side to move."""
    pick = random.Random(ending)
    white, black = ending.split("v")
    pieces = [chess.Piece.from_symbol(p) for p in white + black.lower()]
    while True:
        board = chess.Board(None)
        for square, piece in zip(pick.sample(chess.SQUARES, len(pieces)), pieces):
            board.set_piece_at(square, piece)
        board.turn = pick.random() < 0.5
        if board.is_valid():
            yield board


def won_starts(tables, ending):
    """Positions that White to move wins."""
    return (board for board in positions(ending) if board.turn and tables.probe_wdl(board) == 2)


def says(score, wdl):
    """Whether a score says the result: 2 a win, 1 one that the 50-move rule spoils, 0 a draw."""
    if score.is_mate():
        return wdl == (2 if score.mate() > 0 else -2)
    if abs(wdl) == 2:
        return score.score() * (wdl // 2) >= LEAST_WIN
    return score.score() * wdl > 0 and abs(score.score()) <= SPOILED if wdl else score.score() == 0


def suite(engine, tables, folder):
    """Positions of every table: the score is the exact result, and the move keeps it; a winning move
    is as fast as any, or a mate is announced."""
    solved = {-2: 0, -1: 0, 0: 0, 1: 0, 2: 0}
    endings = sorted(path.stem for path in pathlib.Path(folder).glob("*.rtbw"))
    for ending in endings:
        playable = (board for board in positions(ending) if any(board.legal_moves))
        for _, board in zip(range(SUITE_POSITIONS), playable):
            wdl = tables.probe_wdl(board)
            result = engine.play(board, SUITE_LIMIT, game=ending, info=chess.engine.INFO_SCORE)
            score = result.info["score"].relative
            assert says(score, wdl), (board.fen(), wdl, score)
            after = board.copy()
            after.push(result.move)
            kept = 2 if after.is_checkmate() else 0 if after.is_stalemate() else -tables.probe_wdl(after)
            assert kept == wdl, (board.fen(), result.move, wdl, kept)
            if wdl == 2 and not score.is_mate():
                own = distance(tables, board, result.move)
                assert own <= fastest(tables, board), (board.fen(), result.move)
            solved[wdl] += 1
    print(f"suite: {len(endings)} tables, {solved[2]} wins, {solved[0]} draws, {solved[-2]} losses, "
          f"{solved[1] + solved[-1]} others, all exact")


def fastest(tables, board):
    """The least distance to zeroing after a winning move, counted from the board."""
    distances = []
    for move in board.legal_moves:
        zeroing = board.is_zeroing(move)
        board.push(move)
        if board.is_checkmate():
            distances.append(1)
        elif not board.is_stalemate() and tables.probe_wdl(board) == -2:
            distances.append(1 if zeroing else 1 - tables.probe_dtz(board))
        board.pop()
    return min(distances)


def distance(tables, board, move):
    zeroing = board.is_zeroing(move)
    after = board.copy()
    after.push(move)
    if after.is_checkmate():
        return 1
    assert tables.probe_wdl(after) == -2, f"{board.fen()} {move}: the win is gone"
    return 1 if zeroing else 1 - tables.probe_dtz(after)


def wins(engine, tables, ending):
    """Games from won positions against itself: each ends in mate."""
    starts = won_starts(tables, ending)
    for number in range(STARTS):
        board = next(starts)
        # Black claims draws; the side that wins does not.
        while not board.is_game_over(claim_draw=board.turn == chess.BLACK):
            result = engine.play(board, LIMIT, game=(ending, number), info=chess.engine.INFO_SCORE)
            if board.turn == chess.WHITE:
                mate = result.info["score"].relative.is_mate()
                own = distance(tables, board, result.move)
                assert mate or own <= fastest(tables, board), (board.fen(), result.move)
            board.push(result.move)
        assert board.is_checkmate(), (ending, board.fen())
    print(f"{ending}: {STARTS} of {STARTS} won")


def main():
    tables = chess.syzygy.open_tablebase(sys.argv[2])
    # The context ends the engine where a check fails; otherwise its thread would keep Python alive.
    with chess.engine.SimpleEngine.popen_uci(sys.argv[1]) as engine:
        engine.configure({"SyzygyPath": sys.argv[2]})
        suite(engine, tables, sys.argv[2])
        for ending in ENDINGS:
            wins(engine, tables, ending)


if __name__ == "__main__":
    main()
