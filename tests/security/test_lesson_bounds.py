#!/usr/bin/python3
"""`urnic lesson --check` with learners' programs that misbehave: the check ends, says why in words, takes little memory, and
leaves nothing behind."""

import contextlib
import os
import pathlib
import re
import time
import unittest

import fabric

# Seconds that a program may take, and MiB that it may fill.
PATIENCE, SPACE = 6, 64
MOST_MEMORY = 200 << 20  # of the check itself, in bytes
MARK = "URNIC_TEST_MARK"

HEAD = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
"""


class Program:
    """One that a learner hands in: its `body` in place of `main`, or as it is if it is a whole file."""

    def __init__(self, name, body, said, lesson=1, file="first.c", of_compiler=False):
        self.name, self.body, self.said = name, body, said
        self.lesson, self.file, self.of_compiler = lesson, file, of_compiler

    @property
    def text(self):
        return self.body if self.of_compiler else f"{HEAD}{self.body}\nreturn 0;\n}}\n"


PROGRAMS = [
    Program("never ends", "for (;;) pause();", "first had not ended after 6 seconds: it printed nothing"),
    Program("never ends, and has said something", 'puts("waiting"); fflush(stdout); for (;;) pause();',
            "first had not ended after 6 seconds: waiting"),
    Program("does not listen to signals", "for (int i = 1; i < 65; ++i) signal(i, SIG_IGN); for (;;) pause();",
            "first had not ended after 6 seconds"),
    Program("stops itself", "raise(SIGSTOP);", "first had not ended after 6 seconds"),
    Program("closes its output and goes on", "close(1); close(2); for (;;) pause();", "first had not ended after 6 seconds"),
    Program("prints lines without end", 'for (;;) puts("again");', "first printed more than 8 MiB: again"),
    Program("prints one line without end", "for (;;) putchar('x');", "first printed more than 8 MiB: xxx"),
    Program("leaves a child with its output", 'if (fork() == 0) { setsid(); for (;;) pause(); } puts("gone"); exit(3);',
            "ended with status 3: gone"),
    Program("leaves children of children",
            "for (int i = 0; i < 20; ++i) if (fork() == 0) { setsid(); if (fork() == 0) { setsid(); for (;;) pause(); } _exit(0); }"
            "exit(4);", "ended with status 4"),
    Program("leaves a child that prints without end",
            'if (fork() == 0) { setsid(); for (;;) puts("again"); } exit(5);', "first"),
    Program("fills the disk",
            'char block[65536] = {1}; int file = open("big", O_CREAT | O_WRONLY, 0600);'
            "for (;;) if (write(file, block, sizeof block) < 0) pause();",
            "first filled more than 64 MiB of the check's folder"),
    Program("writes to the terminal", r'printf("\033[2J\302\233\342\200\256end\a\n"); exit(3);', "ended with status 3: ?[2J??end?"),
    Program("writes no text", r'write(1, "\377\376\0", 3); exit(3);', "ended with status 3"),
    Program("is an endless file", '#include "/dev/zero"\nint main(void) { return 0; }\n', "does not compile", of_compiler=True),
    Program("a server that says nothing", "for (;;) pause();", "the server, greet, had printed no line after 1 seconds", 9, "greet.c"),
    Program("a server that says something else", 'puts("hello"); fflush(stdout); for (;;) pause();',
            "the server does not get ready: it says 'hello'", 9, "greet.c"),
    Program("a server that prints without end", 'puts("listening"); for (;;) puts("again");', "", 9, "greet.c"),
    Program("a server that ends", 'puts("listening"); return 0;', "", 9, "greet.c"),
]
WITHOUT_END = Program("makes processes without end", "for (;;) if (fork() == 0) setsid();",
                      "first made more than 128 processes")


def marked(mark):
    """The processes that were started below a check, wherever they are now."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdecimal() and f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(f"{folder.name} {(folder / 'comm').read_text().strip()}")
    return found


class LessonCheck(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.checks = 0

    def folder_with(self, lesson, file, text):
        folder = self.fabric.home / f"lesson-{self.checks}"
        self.fabric.run(self.fabric.urnic, "lesson", lesson, folder)
        (folder / file).write_text(text)
        return folder

    def start_check(self, lesson, folder):
        self.checks += 1
        mark = f"{os.getpid()}-{self.checks}"
        bounds = {"URNIC_LESSON_PATIENCE": str(PATIENCE), "URNIC_LESSON_SPACE_MIB": str(SPACE), MARK: mark}
        return mark, self.fabric.start(self.fabric.urnic, "lesson", lesson, folder, "--exercise", 1, environment=bounds)

    def most_memory_of(self, program):
        """The most that it has had in memory, in bytes, once it has ended."""
        most = 0
        while program.status is None:
            with contextlib.suppress(OSError, StopIteration):
                lines = pathlib.Path(f"/proc/{program.pid}/status").read_text().splitlines()
                most = int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) << 10
            time.sleep(0.02)
        return most

    def require_nothing_left(self, mark):
        self.assertEqual(marked(mark), [])
        self.assertEqual([path.name for path in self.fabric.temporary.iterdir()], [])

    def require_bounds(self, program):
        folder = self.folder_with(program.lesson, program.file, program.text)
        began = time.monotonic()
        mark, check = self.start_check(program.lesson, folder)
        memory = self.most_memory_of(check)
        self.assertLess(time.monotonic() - began, 60)
        said = check.output()
        self.assertEqual(check.status, 1, said)
        self.assertRegex(said, r"(?m)^exercise 1 +not yet +\S")
        self.assertRegex(said, r"(?m)^ +hint +\S")
        self.assertIn(program.said, " ".join(said.split()))
        self.assertIsNone(re.search(r"[^\n\t -~\u00a0-\u2000\u2010-\u2027\u2030-\u205f\u2070-\uffff]", said))
        self.assertLess(len(said), 3000)
        self.assertLess(memory, MOST_MEMORY)
        self.require_nothing_left(mark)


class ProcessesWithoutEnd(LessonCheck):
    """Alone on the machine: beside hundreds of processes that call fork again and again, all others stand still."""

    def test_program(self):
        self.require_bounds(WITHOUT_END)


class LessonBounds(LessonCheck):
    def test_programs(self):
        for program in PROGRAMS:
            with self.subTest(program.name):
                self.require_bounds(program)

    def test_a_source_that_is_no_file(self):
        folder = self.folder_with(1, "first.c", "")
        (folder / "first.c").unlink()
        os.mkfifo(folder / "first.c")
        mark, check = self.start_check(1, folder)
        self.assertEqual(check.wait(), 1)
        self.assertIn("there is no file first.c", check.output())
        self.require_nothing_left(mark)

    def test_a_check_that_is_interrupted(self):
        text = Program("", "setsid(); if (fork() == 0) setsid(); for (;;) pause();", "").text
        folder = self.folder_with(1, "first.c", text)
        for signal_number, status in ((2, 130), (15, 143), (1, 129)):
            with self.subTest(signal_number):
                mark, check = self.start_check(1, folder)
                fabric.wait_until(lambda: len([line for line in marked(mark) if line.endswith(" first")]) == 2, "two processes")
                os.kill(check.pid, signal_number)
                self.assertEqual(check.wait(), status)
                self.require_nothing_left(mark)


if __name__ == "__main__":
    unittest.main()
