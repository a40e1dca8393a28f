#!/usr/bin/python3
"""The lessons: `urnic lesson`, every command of every page, every check with the files that a lesson begins with, with
wrong solutions, and with the solution.

ctest runs `test_lessons.py Command Sample`; ctest -C lessons -L lessons runs all, `test_lessons.py Lesson05` one.
"""

import re
import shutil
import unittest

import fabric
import lesson_pages
from lesson_mistakes import MISTAKES

LESSONS = fabric.tree() / "share" / "urnic" / "lessons"
TRIES = 5  # of checks that may find a mistake without consequences (lesson_mistakes.py)
FOLDERS = sorted(LESSONS.glob("[0-9][0-9]-*"))


class Learner(unittest.TestCase):
    """A learner with a home directory and devices."""

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def lesson(self, *words, status=0):
        return self.fabric.run(self.fabric.urnic, "lesson", *words, status=status)

    def put(self, folder, name):
        """A copy of a lesson's folder that belongs to the learner; returns it."""
        copy = self.fabric.home / name
        shutil.copytree(folder, copy)
        for path in [copy, *copy.iterdir()]:
            if self.fabric.user is not None:
                shutil.chown(path, self.fabric.user, self.fabric.user)
        return copy

    def verdicts(self, number, folder, status, which=("--check",)):
        """What --check says of each exercise, by number, as (verdict, text)."""
        said = self.lesson(number, folder, *which, status=status)
        parts = re.split(r"(?m)^exercise (\d+) +", said)
        return {int(exercise): tuple(re.split(" +", text, maxsplit=1)) if text.startswith("right") else ("not yet", text)
                for exercise, text in zip(parts[1::2], parts[2::2])}

    def verdict_on(self, mistake, files, tries):
        """The check's verdict that is not "right", if one of the tries has such a verdict."""
        try:
            return self.verdicts(mistake.lesson, files, 1, ("--exercise", mistake.exercise))[mistake.exercise]
        except AssertionError:
            if tries == 1:
                raise
            return self.verdict_on(mistake, files, tries - 1)

    # What is true of each lesson.

    def begins_with_nothing_right(self, number, folder):
        verdicts = self.verdicts(number, self.put(folder / "start", "start"), 1)
        self.assertEqual({exercise for exercise, (verdict, _) in verdicts.items() if verdict == "right"}, set())
        self.assertEqual(sorted(verdicts), list(range(1, len(verdicts) + 1)))
        for exercise, (_, text) in verdicts.items():
            self.assertRegex(text, r"(?s)\n +hint +\S", f"exercise {exercise} has no hint")
        page = (folder / "README.md").read_text()
        self.assertEqual(re.findall(r"(?m)^\*\*Exercise (\d+)\.\*\*", page), [str(n) for n in sorted(verdicts)])

    def solution_is_right(self, number, folder):
        verdicts = self.verdicts(number, self.put(folder / "solution", "solution"), 0)
        self.assertEqual({verdict for verdict, _ in verdicts.values()}, {"right"})

    def mistakes_are_seen(self, number, folder):
        for count, mistake in enumerate(mistake for mistake in MISTAKES if mistake.lesson == number):
            with self.subTest(f"exercise {mistake.exercise}: {mistake.name}"):
                files = self.put(folder / "solution", f"mistake-{count}")
                text = (files / mistake.file).read_text()
                self.assertIn(mistake.old, text)
                (files / mistake.file).write_text(text.replace(mistake.old, mistake.new))
                verdict, said = self.verdict_on(mistake, files, TRIES if mistake.is_matter_of_time else 1)
                self.assertEqual(verdict, "not yet")
                self.assertIn(mistake.said, " ".join(said.split()))

    def page_is_true(self, number, folder):
        home = self.fabric.home / "work"
        self.lesson(number, home)
        with lesson_pages.Shell(self.fabric, home) as shell:
            for command in lesson_pages.commands((folder / "README.md").read_text()):
                status, output = shell.run(command)
                place = f"line {command.line}: {command.text}\n{output}\n{self.fabric.log()}"
                self.assertEqual(status, 0, place)
                self.assertIsNone(lesson_pages.missing(command.shown, output), place)


class Command(Learner):
    """The command itself."""

    def test_list(self):
        said = self.lesson()
        for number, folder in enumerate(FOLDERS, 1):
            self.assertEqual(int(folder.name[:2]), number)
            self.assertRegex(said, rf"(?m)^ +{number}  \S.*\n +\S.*\?$")

    def test_page_is_as_wide_as_the_terminal(self):
        for width in (60, 100):
            said = self.fabric.run(self.fabric.urnic, "lesson", 3, environment={"COLUMNS": str(width)})
            lines = [line for line in said.splitlines() if not line.startswith("    ")]  # others are commands
            self.assertLessEqual(max(map(len, lines)), width)
            self.assertGreater(max(map(len, lines)), width - 10)

    def test_begins_without_overwriting(self):
        self.assertIn("new there: first.c, first.py", self.lesson(1))
        mine = self.fabric.home / "urnic-lesson-1"
        (mine / "first.c").write_text("mine")
        (mine / "first.py").unlink()
        self.assertIn("new there: first.py", self.lesson(1))
        self.assertIn("stay as they are", self.lesson(1))
        self.assertEqual((mine / "first.c").read_text(), "mine")

    def test_solution(self):
        self.lesson(1)
        said = self.lesson(1, "--solution")
        self.assertIn("Exercise 2.", said)
        self.assertIn("+++ solution/first.c", said)
        self.assertTrue((self.fabric.home / "urnic-lesson-1" / "solution" / "first.c").exists())

    def test_refusals(self):
        self.assertIn("there is no lesson '99'", self.lesson(99, status=2))
        self.assertIn("there is no lesson 'one'", self.lesson("one", status=2))
        self.assertIn("there is no folder urnic-lesson-1", self.lesson(1, "--check", status=2))
        self.assertIn("which lesson?", self.lesson("--check", status=2))
        self.assertIn("has no exercise 9", self.lesson(1, FOLDERS[0] / "start", "--exercise", 9, status=2))
        self.assertIn("ask for one of them", self.lesson(1, "--check", "--solution", status=2))

    def test_program_that_does_not_compile(self):
        self.lesson(1)
        with open(self.fabric.home / "urnic-lesson-1" / "first.c", "a") as file:
            file.write("this is no C\n")
        self.assertRegex(self.lesson(1, "--check", status=1), r"does not compile:\s+.*error")

    def test_lines_of_pages(self):
        self.assertIsNone(lesson_pages.missing(["a 12 b", "...", "end of..."], "x\na  0x7f b\ny\nend of it\n"))
        self.assertEqual(lesson_pages.missing(["one 1", "two 2"], "two 2\none 1\n"), "two 2")
        self.assertEqual(lesson_pages.missing(["right"], "wrong"), "right")
        self.assertIsNone(lesson_pages.missing(["  1.5 us ├──▶│", "GID ::ffff:192.0.2.1"], "21.334 ms ├─────▶│\nGID ::ffff:192.0.2.2\n"))


def _lesson_tests(number, folder):
    """The tests of one lesson."""
    return type(f"Lesson{number:02}", (Learner,), {
        f"test_{name}": lambda self, name=name: getattr(self, name)(number, folder)
        for name in ("begins_with_nothing_right", "solution_is_right", "mistakes_are_seen", "page_is_true")})


for _number, _folder in enumerate(FOLDERS, 1):
    globals()[f"Lesson{_number:02}"] = _lesson_tests(_number, _folder)


class Sample(Learner):
    """A part of the lessons that takes seconds."""

    def test_first_lesson(self):
        self.begins_with_nothing_right(1, FOLDERS[0])
        self.page_is_true(1, FOLDERS[0])

    def test_lost_packets(self):
        self.solution_is_right(5, FOLDERS[4])
        self.page_is_true(5, FOLDERS[4])


if __name__ == "__main__":
    unittest.main()
