"""Wins endgames with the tables in a folder and checks every move with python-chess' own reader:
the result is kept, and progress is as fast as possible or a mate is announced.

Usage: smoke_tablebase.py ENGINE FOLDER
"""

import random
import sys

import chess
import chess.engine
import chess.syzygy

ENDINGS = ("KBNvK", "KQvKR", "KRvKP", "KQvK", "KRvK", "KPvK")
STARTS = 50
LIMIT = chess.engine.Limit(nodes=2000)


def won_starts(tables, ending):
    """Positions that White to move wins, the same on every run."""
    pick = random.Random(ending)
    white, black = ending.split("v")
    pieces = [chess.Piece.from_symbol(p) for p in white + black.lower()]
    while True:
        board = chess.Board(None)
        for square, piece in zip(pick.sample(chess.SQUARES, len(pieces)), pieces):
            board.set_piece_at(square, piece)
        if board.is_valid() and tables.probe_wdl(board) == 2:
            yield board


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


def main():
    tables = chess.syzygy.open_tablebase(sys.argv[2])
    engine = chess.engine.SimpleEngine.popen_uci(sys.argv[1])
    engine.configure({"SyzygyPath": sys.argv[2]})
    for ending in ENDINGS:
        starts = won_starts(tables, ending)
        for number in range(STARTS):
            board = next(starts)
            while not board.is_game_over(claim_draw=True):
                result = engine.play(board, LIMIT, game=(ending, number),
                                     info=chess.engine.INFO_SCORE)
                if board.turn == chess.WHITE:
                    mate = result.info["score"].relative.is_mate()
                    own = distance(tables, board, result.move)
                    assert mate or own <= fastest(tables, board), (board.fen(), result.move)
                board.push(result.move)
            assert board.is_checkmate(), (ending, board.fen())
        print(f"{ending}: {STARTS} of {STARTS} won")
    engine.quit()


if __name__ == "__main__":
    main()
