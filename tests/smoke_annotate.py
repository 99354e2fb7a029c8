"""Annotates games and reads what comes out with python-chess, whose evaluations must be those of
the file and of the report's pages.

Usage: smoke_annotate.py ENGINE GAMES
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import chess
import chess.engine
import chess.pgn

NODES = "1000"
# What the page shows of a score, from White's side.
PAWNS = re.compile(r"[+-]\d+\.\d\d")
MATE = re.compile(r"#(-?\d+)")


def page_score(text):
    """The score of a page as python-chess has it; None where the game is over."""
    if mate := MATE.fullmatch(text):
        return chess.engine.Mate(int(mate[1]))
    if PAWNS.fullmatch(text):
        return chess.engine.Cp(round(float(text) * 100))
    return None


def check(game, page):
    """Every position after a move has the evaluation that the page shows; returns how many."""
    assert not game.errors, game.errors
    data = re.search(r'<script type="application/json" id="game">(.*?)</script>', page, re.S)
    plies = json.loads(data[1])
    nodes = list(game.mainline())
    assert len(plies) == len(nodes) + 1, (len(plies), len(nodes))
    found = 0
    for node, ply in zip(nodes, plies[1:]):
        assert node.board().board_fen() == ply["board"], (node.board().fen(), ply["board"])
        score = node.eval()
        if node.board().is_checkmate() or node.board().is_stalemate():
            assert score is None, node.comment
            continue
        assert score is not None, node.comment
        assert score.white() == page_score(ply["score"]), (score, ply["score"])
        assert node.eval_depth() is not None
        found += 1
        for variation in node.variations:
            assert variation.move in node.board().legal_moves
    return found


def main():
    engine, games = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        output, pages = directory / "out.pgn", directory / "pages"
        command = [engine, "annotate", games, "-o", output, "--report", pages, "--nodes", NODES]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        total = 0
        files = sorted(pages.glob("game-*.html"))
        with open(output, encoding="utf-8") as stream:
            for file in files:
                total += check(chess.pgn.read_game(stream), file.read_text(encoding="utf-8"))
            assert chess.pgn.read_game(stream) is None, "more games than pages"
        with open(output, encoding="utf-8") as stream:
            first = next(iter(chess.pgn.read_game(stream).mainline()))
        assert first.clock() == 600, first.comment
    print(f"{len(files)} games, {total} evaluations")


if __name__ == "__main__":
    main()
