"""Tests of the rows of bench/gate, and of its exit status."""

import contextlib
import io
import shlex
import unittest
from pathlib import Path

from programs import BENCH, load

gate = load("gate")


class Rows(unittest.TestCase):
    def setUp(self):
        self.inputs = gate.Inputs("/bin/comb", BENCH, BENCH / "run.py")

    def test_each_has_a_name_of_its_own(self):
        names = [row.name for row in gate.ROWS]
        self.assertEqual(len(set(names)), len(names))

    def test_commands_are_of_the_program_under_test_and_of_the_input(self):
        for row in gate.ROWS:
            ours, *theirs = self.inputs.job(row).programs
            for program in (ours, *theirs):
                self.assertNotIn("FILE", program.command)
                self.assertTrue(shlex.split(program.command))
            self.assertIn("/bin/comb ", ours.command)
            self.assertEqual(" --index=never " in ours.command, row.input == "tree")

    def test_those_without_their_input_are_left_out(self):
        inputs = gate.Inputs("/bin/comb", None, Path("/none/access.log"))
        reasons = {row.input: inputs.lacks(row) for row in gate.ROWS}
        self.assertEqual(reasons["tree"], "no --tree")
        self.assertIn("access.log", reasons["log"])


class Statuses(unittest.TestCase):
    def status(self, *, met: bool = True, difference: str | None = None, left_out: bool = False) -> int:
        program = gate.Program("comb", "comb", seconds=[1.0])
        verdict = gate.Verdict("row", "goal", 0.5, met, program)
        outcome = gate.Outcome(gate.ROWS[0], [] if difference else [verdict], program, difference=difference)
        with contextlib.redirect_stdout(io.StringIO()):
            return gate.summarise([outcome], {"row": "no --tree"} if left_out else {}, 1.0)

    def test_a_missed_goal_or_a_difference_matters_more_than_a_row_that_was_left_out(self):
        self.assertEqual(self.status(), 0)
        self.assertEqual(self.status(left_out=True), 2)
        self.assertEqual(self.status(met=False, left_out=True), 1)
        self.assertEqual(self.status(difference="output differs", left_out=True), 1)


if __name__ == "__main__":
    unittest.main()
