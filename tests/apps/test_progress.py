#!/usr/bin/python3
"""What takes longer than two seconds says so on a terminal, and only there; the line goes at the end."""

import os
import pathlib
import signal
import struct
import time
import unittest

import fabric
import terminal

PATIENCE = 2.0  # tools/urnic/progress.cpp
ERASED = "\r\x1b[K"


class Progress(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def stopped_device_process(self):
        """A device process that does nothing, until it is continued."""
        self.fabric.up()
        pid = self.fabric.device_process()
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(self.go_on, pid)
        return pid

    def go_on(self, pid):
        if self.fabric.device_process() == pid:
            os.kill(pid, signal.SIGCONT)

    def test_waiting(self):
        pid = self.stopped_device_process()
        with terminal.Terminal(self.fabric, self.fabric.urnic, "down", only_errors=True) as down:
            down.read_until(lambda: " 3 s" in down.shown, "the seconds")
            self.go_on(pid)
            self.assertEqual(down.read_to_end(), 0)
        self.assertRegex(down.shown, r"^\rurnic: waiting for the end of the device process: 2 s\x1b\[K\r")
        self.assertTrue(down.shown.endswith(ERASED), repr(down.shown))

    def test_a_late_answer(self):
        pid = self.stopped_device_process()
        with terminal.Terminal(self.fabric, self.fabric.urnic, "counters", only_errors=True) as counters:
            counters.read_until(lambda: " 2 s" in counters.shown, "the seconds")
            self.go_on(pid)
            self.assertEqual(counters.read_to_end(), 0)
        self.assertEqual(counters.shown.split(" s")[0], "\rurnic: waiting for the device process: 2")

    def test_nothing_without_a_terminal(self):
        pid = self.stopped_device_process()
        down = self.fabric.start(self.fabric.urnic, "down")
        time.sleep(PATIENCE + 1.5)
        self.assertIsNone(down.status)
        self.go_on(pid)
        self.assertEqual(down.wait(), 0)
        self.assertEqual(down.output(), "")

    def test_nothing_of_what_is_fast(self):
        with terminal.Terminal(self.fabric, self.fabric.urnic, "up", only_errors=True) as up:
            self.assertEqual(up.read_to_end(), 0)
        self.assertEqual(up.shown, "")

    def capture(self):
        """A capture of 500,000 packets: those of a pingpong, again and again."""
        small, large = self.fabric.home / "small.pcap", self.fabric.home / "large.pcap"
        self.fabric.run(self.fabric.urnic, "run", "--capture", small, "--", "sh", "-c",
                        "ibv_rc_pingpong -d urnic0 -g 1 -n 50 & sleep 0.5; ibv_rc_pingpong -d urnic1 -g 1 -n 50 localhost; wait")
        data = small.read_bytes()
        packets, at = 0, 24
        while at < len(data):
            at += 16 + struct.unpack_from("<I", data, at + 8)[0]
            packets += 1
        self.assertGreater(packets, 50)
        large.write_bytes(data[:24] + data[24:] * (500_000 // packets))
        return large

    def test_percentage_of_a_file(self):
        """The program is held in the middle of the file until its patience is over."""
        file = self.capture()
        size = file.stat().st_size
        for words in (("trace", "--only", "fault"), ("ladder", "-o", "ladder.txt"), ("plot", "-o", "plot.svg")):
            with self.subTest(words), terminal.Terminal(self.fabric, self.fabric.urnic, *words, file, only_errors=True) as program:
                self.hold_within(program.process.pid, file, size)
                time.sleep(PATIENCE)
                os.kill(program.process.pid, signal.SIGCONT)
                self.assertEqual(program.read_to_end(), 0)
                said = program.shown.split(ERASED)[0]
                self.assertRegex(said, r"^\rurnic: reading .*/large.pcap: [1-9]\d? %\x1b\[K")

    def hold_within(self, pid, file, size):
        """Stops the process once it has read a part of the file."""
        def position():
            for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
                if os.readlink(entry) == str(file):
                    return int(pathlib.Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text().split()[1])
            return 0

        def is_within():
            try:
                return position() > size / 20
            except OSError:  # the descriptor has just been opened or closed
                return False

        deadline = time.monotonic() + fabric.PATIENCE
        while not is_within() and time.monotonic() < deadline:
            pass
        os.kill(pid, signal.SIGSTOP)
        self.assertLess(position(), size / 2, "the program was too fast for this test")

    def test_lines_of_output_have_the_terminal(self):
        """Progress gives way to lines that are printed."""
        file = self.capture()
        with terminal.Terminal(self.fabric, self.fabric.urnic, "trace", "--count", "1000", file) as program:
            self.hold_within(program.process.pid, file, file.stat().st_size)
            time.sleep(PATIENCE)
            os.kill(program.process.pid, signal.SIGCONT)
            self.assertEqual(program.read_to_end(), 0)
        self.assertIn("reading", program.shown)
        self.assertEqual(program.shown.count(" %\x1b[K"), program.shown.count(" %\x1b[K\r"), program.shown[:2000])
        lines = program.shown.replace(ERASED, "\n").split("\n")
        self.assertEqual(len([line for line in lines if " > " in line]), 1000)


class Lesson(unittest.TestCase):
    def test_exercise(self):
        """The check of an exercise says how long it has taken."""
        program = ("import sys, time; sys.path.insert(0, sys.argv[1]); from checking.progress import Progress\n"
                   "with Progress('exercise 3'): time.sleep(2.5)")
        with fabric.Fabric() as own:
            words = ("/usr/bin/python3", "-B", "-c", program, fabric.tree() / "share" / "urnic" / "tutor")
            with terminal.Terminal(own, *words, only_errors=True) as check:
                self.assertEqual(check.read_to_end(), 0)
            self.assertEqual(check.shown, f"\rexercise 3: 2 s\x1b[K{ERASED}")
            self.assertEqual(own.run(*words), "")


if __name__ == "__main__":
    unittest.main()
