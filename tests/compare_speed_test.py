#!/usr/bin/env python3
"""Compares made-up engines of known speed.

    tests/compare_speed_test.py
"""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import compare_speed

# Takes so many milliseconds for so many nodes, and a number of its own where it has searched since
# the last new game. It ends if it has not been told a position that it knows, or is asked for
# another depth than 12 or 9.
ENGINE = """\
    #!/usr/bin/env python3
    import sys, time

    if sys.argv[1:] == ["bench", "1"]:
        print(" 1/2  a2a3   cp 20      depth   1          20 nodes  first position")
        print(" 2/2  a2a3   cp 20      depth   1          20 nodes  second position")
        print("40 nodes 1000 nps")
        sys.exit()
    position, searched = None, False
    for line in sys.stdin:
        words = line.split()
        if words[0] == "ucinewgame":
            searched = False
        elif words[0] == "position":
            position = words[2]
        elif words[0] == "isready":
            print("readyok", flush=True)
        elif words[0] == "go":
            if position not in ("first", "second") or words[2] not in ("12", "9"):
                sys.exit(1)
            time.sleep(({again} if searched else {milliseconds}) / 1000)
            searched = True
            print("info depth", words[2], "nodes {nodes} time 1")
            print("bestmove a2a3", flush=True)
        elif words[0] == "quit":
            break
"""


class SpeedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def made_up_engine(self, milliseconds, nodes, again=1):
        path = self.folder / f"engine-{milliseconds}-{nodes}-{again}"
        numbers = {"milliseconds": milliseconds, "nodes": nodes, "again": again}
        path.write_text(textwrap.dedent(ENGINE).format(**numbers))
        path.chmod(0o755)
        return str(path)

    def compare(self, *words):
        """The words of each line that is printed."""
        said = io.StringIO()
        arguments = sys.argv
        sys.argv = ["compare_speed.py", "--minutes", "0.03", *words]
        try:
            with contextlib.redirect_stdout(said):
                compare_speed.main()
        finally:
            sys.argv = arguments
        return [line.split() for line in said.getvalue().splitlines()]

    def test_the_positions_are_those_of_the_bench(self):
        engine = self.made_up_engine(1, 1000)
        found = compare_speed.bench_positions(engine)
        self.assertEqual(found, ["first position", "second position"])

    def test_more_nodes_in_the_same_time_are_a_higher_speed(self):
        before, after = self.made_up_engine(20, 1000), self.made_up_engine(20, 1100)
        [line] = self.compare(before, after)
        self.assertEqual(line[0], after)
        self.assertAlmostEqual(float(line[1]), 10, delta=5)
        self.assertLess(float(line[3]), 5)
        self.assertEqual(line[-4:], ["1.1000", "times", "the", "nodes"])

    def test_less_time_for_the_same_nodes_is_a_higher_speed(self):
        before, after = self.made_up_engine(40, 1000), self.made_up_engine(20, 1000)
        [line] = self.compare(before, after)
        self.assertAlmostEqual(float(line[1]), 100, delta=30)

    def test_a_build_against_itself_shows_the_noise(self):
        build = self.made_up_engine(5, 1000)
        [line] = self.compare(build, build)
        self.assertAlmostEqual(float(line[1]), 0, delta=20)
        self.assertGreater(float(line[3]), 0)

    def test_with_a_search_before_only_the_second_counts(self):
        before, after = (self.made_up_engine(10, 1000, again) for again in (40, 20))
        [line] = self.compare(before, after)
        self.assertAlmostEqual(float(line[1]), 0, delta=20)
        core = str(min(os.sched_getaffinity(0)))
        [line] = self.compare("--cores", core, "--before", "9", before, after)
        self.assertEqual(line[:3], ["core", f"{core}:", after])
        self.assertAlmostEqual(float(line[3]), 100, delta=30)

    def test_outliers_are_left_out(self):
        rounds = [[{"a": (100, 1.0), "b": (100, 0.5)}] for _ in range(8)]
        rounds[3][0]["b"] = (100, 50.0)
        faster, error, size = compare_speed.compare(rounds, "a", "b")
        self.assertAlmostEqual(faster, 100)
        self.assertAlmostEqual(error, 0)
        self.assertEqual(size, 1)

    def test_what_a_process_is_faster_by_is_not_averaged_out_by_its_positions(self):
        speeds = [1.0, 1.02] * 8
        rounds = [[{"a": (100, 1.0), "b": (100, seconds)}] * 40 for seconds in speeds]
        faster, error, _ = compare_speed.compare(rounds, "a", "b")
        self.assertAlmostEqual(faster, -1, delta=0.1)
        self.assertGreater(error, 0.5)
        self.assertIsNone(compare_speed.compare(rounds[:1], "a", "b")[1])

    def test_an_engine_that_ends_is_reported(self):
        engine = compare_speed.Engine(self.made_up_engine(1, 1000), 1)
        self.addCleanup(engine.quit)
        with self.assertRaises(RuntimeError):
            engine.search("third position", 12, 0)


if __name__ == "__main__":
    unittest.main()
