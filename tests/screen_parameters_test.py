#!/usr/bin/env python3
"""Screens a made-up engine of which it is known what every parameter does.

    tests/screen_parameters_test.py
"""

import argparse
import contextlib
import io
import pathlib
import random
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import screen_parameters as screens

# Its score is 10 times a position's number, which is all there is in place of a FEN, if a parameter
# has the right value, and off by a centipawn for each unit that it is away from that.
ENGINE = """\
    #!/usr/bin/env python3
    import sys

    value, number = {right}, 0
    for line in sys.stdin:
        words = line.split()
        if words[0] == "setoption" and words[2] == "{name}":
            value = int(words[4])
        elif words[0] == "setoption" and words[2] == "Missing":
            print("info string no option 'Missing'")
        elif words[0] == "isready":
            print("readyok", flush=True)
        elif words[0] == "position":
            number = int(words[2])
        elif words[0] == "go":
            score = 10 * number + (value - {right}) * (1 if number % 2 else -1)
            print("info depth 1 score cp 7000 lowerbound")
            print("info depth 1 score cp", score)
            print("bestmove a2a3", flush=True)
        elif words[0] == "quit":
            break
"""


class ScreenTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.judged = self.folder / "judged.tsv"

    def made_up_engine(self, name, right):
        path = self.folder / "engine"
        path.write_text(textwrap.dedent(ENGINE).format(name=name, right=right))
        path.chmod(0o755)
        return str(path)

    def run_task(self, *words):
        """What a task prints."""
        said = io.StringIO()
        arguments = sys.argv
        sys.argv = ["screen_parameters.py", *map(str, words)]
        try:
            with contextlib.redirect_stdout(said):
                screens.main()
        finally:
            sys.argv = arguments
        return said.getvalue()

    def test_a_refused_option_ends_the_program(self):
        engine = self.made_up_engine("rfp_margin", 0)
        positions = self.folder / "fens.txt"
        positions.write_text("1\n")
        with self.assertRaisesRegex(SystemExit, "no option 'Missing'"):
            self.run_task(
                "judge", "--engine", engine, "--positions", positions, "--out", self.judged,
                "--option", "Missing=1",
            )

    def judge(self, name, right, count):
        """The engine that has judged so many positions."""
        positions = self.folder / "fens.txt"
        positions.write_text("".join(f"{number}\n" for number in range(count)))
        engine = self.made_up_engine(name, right)
        self.run_task("judge", "--engine", engine, "--positions", positions, "--out", self.judged)
        return engine

    def test_parameters_are_those_of_the_source_that_step_by_more_than_one(self):
        found = screens.parameters()
        self.assertGreater(len(found), 20)
        for name, default, least, most, step in found:
            self.assertTrue(least <= default <= most, name)
            self.assertGreater(step, 1, name)

    def test_the_judge_s_last_exact_score_counts(self):
        name, default, *_ = screens.parameters()[0]
        self.judge(name, default, 5)
        lines = self.judged.read_text().splitlines()
        self.assertEqual(lines, [f"{number}\t{10 * number}" for number in range(5)])

    def test_a_mate_in_0_is_lost(self):
        mates = [screens.centipawns("mate", moves) for moves in (3, 0, -1)]
        self.assertEqual(mates, [screens.MATE, -screens.MATE, -screens.MATE])
        self.assertEqual(screens.centipawns("cp", -7), -7)

    def test_the_one_parameter_that_matters_is_found(self):
        """Its right value is below the default, so that searches with it moved up are worse."""
        name, default, least, *_ = screens.parameters()[0]
        self.assertLess(least, default)
        engine = self.judge(name, least, 20)
        out = self.folder / "screen.tsv"
        self.run_task(
            "screen", "--engine", engine, "--judged", self.judged, "--minutes", 0.05, "--out", out
        )
        said = self.run_task("report", "--judged", self.judged, out).splitlines()
        best = said[3].split()
        self.assertEqual(best[0], name)
        self.assertLess(float(best[-1]), -5, "moved up, searches are further from the judge's")
        self.assertEqual(len(said), 3 + len(screens.parameters()))

    def test_searches_are_compared_with_the_first(self):
        name, default, *_ = screens.parameters()[0]
        engine = self.judge(name, default, 20)
        right, wrong = self.folder / "right.tsv", self.folder / "wrong.tsv"
        common = ["search", "--engine", engine, "--judged", self.judged, "--out"]
        self.run_task(*common, right)
        self.run_task(*common, wrong, "--option", f"{name}={default + 30}")
        said = self.run_task("compare", "--judged", self.judged, right, wrong).splitlines()[1:]
        itself, other = (list(map(float, line.split()[:4])) for line in said)
        self.assertEqual(itself, [20, 0, 0, 0])
        count, root, further, error = other
        self.assertEqual(count, 20)
        self.assertAlmostEqual(root ** 2, further, places=0)
        self.assertGreater(further, error)

    def test_an_engine_that_ends_is_reported(self):
        path = self.folder / "short-lived"
        path.write_text("#!/bin/sh\nread a; read b; read c; echo readyok; read d; read e; read f\n")
        path.chmod(0o755)
        engine = screens.Engine(argparse.Namespace(engine=str(path), hash=1, option=[]))
        self.addCleanup(engine.quit)
        with self.assertRaises(SystemExit):
            engine.score("8/8/8/8/8/8/8/8 w - - 0 1", 1)

    def test_the_best_line_is_found(self):
        dice = random.Random(1)
        xs = [dice.uniform(0, 100) for _ in range(50)]
        intercept, slope = screens.line_of_best_fit(xs, [7 + 0.5 * x for x in xs])
        self.assertAlmostEqual(intercept, 7)
        self.assertAlmostEqual(slope, 0.5)


if __name__ == "__main__":
    unittest.main()
