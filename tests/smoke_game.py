"""Plays and analyses with the engine through python-chess, a UCI client that checks what it gets:
an illegal move, an undeclared option or a broken line raises an error or is logged as a warning,
and either fails this test.

Usage: smoke_game.py ENGINE [ARGUMENT...]   (an emulator and the engine, say)
"""

import logging
import sys

import chess
import chess.engine

# A game that has not ended by then is a shuffle that python-chess would have ended.
MOST_PLIES = 400


class Complaints(logging.Handler):
    """Collects what python-chess warns of."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.records = []

    def emit(self, record):
        self.records.append(record.getMessage())


def play_game(engine, board, limit, game, ponder=False):
    """One game of the engine against itself, to its end by the rules."""
    while not board.is_game_over(claim_draw=True) and board.ply() < MOST_PLIES:
        result = engine.play(board, limit, info=chess.engine.INFO_ALL, game=game, ponder=ponder)
        assert result.move in board.legal_moves, (board.fen(), result.move)
        assert "score" in result.info, (board.fen(), result.info)
        board.push(result.move)
    print(f"{game}: {board.result(claim_draw=True)} after {board.ply()} plies")


def analyse(engine):
    """Several lines, some moves only, a mate, and the end of a game."""
    board = chess.Board()
    lines = engine.analyse(board, chess.engine.Limit(depth=8), multipv=3)
    assert [line["multipv"] for line in lines] == [1, 2, 3]
    assert len({line["pv"][0] for line in lines}) == 3
    only = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h4")]
    info = engine.analyse(board, chess.engine.Limit(nodes=2000), root_moves=only)
    assert info["pv"][0] in only
    mate = chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")
    info = engine.analyse(mate, chess.engine.Limit(mate=1))
    assert info["score"].relative.mate() == 1, info
    mated = chess.Board("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
    assert engine.play(mated, chess.engine.Limit(depth=3)).move is None
    with engine.analysis(board) as analysis:
        for number, _ in enumerate(analysis):
            if number >= 5:
                analysis.stop()
                break


def main():
    complaints = Complaints()
    logging.getLogger("chess.engine").addHandler(complaints)
    clock = chess.engine.Limit(white_clock=2, black_clock=2, white_inc=0.02, black_inc=0.02)
    with chess.engine.SimpleEngine.popen_uci(sys.argv[1:]) as engine:
        engine.configure({"Hash": 32, "Move Overhead": 20, "UCI_ShowWDL": True})
        analyse(engine)
        play_game(engine, chess.Board(), chess.engine.Limit(nodes=3000), "nodes")
        engine.configure({"Threads": 2})
        play_game(engine, chess.Board(), clock, "clock, two threads")
        play_game(engine, chess.Board(), chess.engine.Limit(time=0.02), "ponder", ponder=True)
        board = chess.Board.from_chess960_pos(518 // 2)
        play_game(engine, board, chess.engine.Limit(depth=5), "Chess960")
    if complaints.records:
        sys.exit("python-chess complains:\n" + "\n".join(complaints.records))


if __name__ == "__main__":
    main()
