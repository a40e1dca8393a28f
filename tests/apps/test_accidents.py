#!/usr/bin/python3
"""Killed programs and device processes: what ends with them, and what other programs notice."""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import struct
import time
import unittest

import fabric

# A program learns of its device's death within one second; a machine that runs tests is busy.
PATIENCE = 5.0

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000  # waitpid(2)
CAP_SYS_PTRACE = 1 << 19


def kill(pid):
    os.kill(pid, signal.SIGKILL)


class Killed(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up()
        self.process = self.fabric.device_process()

    def neighbour(self):
        program = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_neighbour"))
        program.wait_for_output("running")
        return program

    def finish(self, neighbour):
        """Ends the neighbour, which must have noticed nothing."""
        self.assertIsNone(neighbour.status, str(neighbour))
        os.kill(neighbour.pid, signal.SIGTERM)
        self.assertEqual(neighbour.wait(), 0, str(neighbour))

    def contexts_of(self, pid):
        return [context for context in self.fabric.status()["contexts"] if pid in context["pids"]]

    def packets_sent(self, pids):
        """By the queue pairs of these processes."""
        contexts = {context["id"] for pid in pids for context in self.contexts_of(pid)}
        queue_pairs = json.loads(self.fabric.run(self.fabric.urnic, "status", "--qps", "--json"))
        return sum(each["packets_sent"] for each in queue_pairs if each["context"] in contexts)

    def program_pids(self, name):
        """The pids of the programs called `name` that have opened a device, as the device process reports them."""
        return {pid for context in self.fabric.status()["contexts"] if name.startswith(context["program"])
                for pid in context["pids"]}


class KilledProgram(Killed):
    def killed_server(self, *command):
        """Kills the server of a pair in the middle of a transfer. Returns the client, which ends on its own."""
        neighbour = self.neighbour()
        before = self.program_pids(command[0])
        server, client = self.fabric.start_pair((*command, "-d", "urnic0"), (*command, "-d", "urnic1"))
        fabric.wait_until(lambda: len(self.program_pids(command[0]) - before) == 2, f"both ends: {server}\n{client}")
        own = self.program_pids(command[0]) - before
        fabric.wait_until(lambda: self.packets_sent(own) > 1000, f"packets between them: {server}\n{client}")
        pids = [context["pids"][0] for context in self.fabric.status()["contexts"]
                if command[0].startswith(context["program"]) and context["device"] == "urnic0"]
        self.assertEqual(len(pids), 1)
        kill(pids[0])
        self.assertEqual(server.wait(), 128 + signal.SIGKILL)
        self.assertNotEqual(client.wait(), 0, str(client))
        self.assertEqual(self.contexts_of(pids[0]), [], "objects are left of a program that was killed")
        self.finish(neighbour)
        self.assertEqual(self.fabric.device_process(), self.process)
        return client.output()

    def test_peer_of_writes_sees_retries_exceeded(self):
        said = self.killed_server("ib_write_bw", "-F", "-x", "1", "-D", "30")
        self.assertRegex(said, r"(?i)status 12\b|transport retry counter exceeded")

    def test_peer_of_sends_sees_retries_exceeded(self):
        said = self.killed_server("ib_send_bw", "-F", "-x", "1", "-D", "30")
        self.assertRegex(said, r"(?i)status 12\b|transport retry counter exceeded")

    def test_peer_of_reads_sees_retries_exceeded(self):
        said = self.killed_server("ib_read_bw", "-F", "-x", "1", "-D", "30")
        self.assertRegex(said, r"(?i)status 12\b|transport retry counter exceeded")

    def test_thousand_times(self):
        """The device process keeps no descriptors and no memory, and the neighbour goes on."""
        neighbour = self.neighbour()
        self.kill_rounds(100)
        descriptors, memory = self.descriptors(), self.memory()
        self.kill_rounds(1000)
        self.assertLessEqual(self.descriptors(), descriptors + 2)
        self.assertLessEqual(self.memory(), memory + 4096, "kB of memory have not come back")
        self.finish(neighbour)
        self.assertEqual(self.fabric.device_process(), self.process)

    def kill_rounds(self, rounds):
        variables = dict(re.findall(r"^export (\w+)='(.*)'$", self.fabric.run(self.fabric.urnic, "env"), re.MULTILINE))
        before = len(self.fabric.status()["contexts"])
        running = []
        for i in range(rounds + 4):
            if i < rounds:
                # Started directly, so that the kill ends the program and not `urnic run`.
                running.append(self.fabric.start(self.fabric.verbs_program("verbs_neighbour"), environment=variables))
            if i >= 4:
                program = running.pop(0)
                program.wait_for_output("running")
                kill(program.pid)
                self.assertEqual(program.wait(), -signal.SIGKILL)
        fabric.wait_until(lambda: len(self.fabric.status()["contexts"]) == before, "the end of all contexts")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process}/fd"))

    def memory(self):
        """The device process's resident memory in kB."""
        text = pathlib.Path(f"/proc/{self.process}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))


class Churn(Killed):
    def test_programs_come_and_go(self):
        """Programs start and end all the time, some by a kill, while others run."""
        neighbours = [self.neighbour() for _ in range(2)]
        deadline = time.monotonic() + 30
        rounds = 0
        while time.monotonic() < deadline:
            short = [self.fabric.start_on_urnic("ibv_devinfo"),
                     self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_many"), "--log_level=error"),
                     self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_neighbour"), "urnic1", "urnic1")]
            short[2].wait_for_output("running")
            short[2].kill()
            for program in short[:2]:
                self.assertEqual(program.wait(), 0, str(program))
            rounds += 1
        self.assertGreater(rounds, 3)
        for neighbour in neighbours:
            self.finish(neighbour)


class KilledDevice(Killed):
    def check(self, how):
        program = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_device_death"), how)
        program.wait_for_output("waiting")
        time.sleep(0.2)
        kill(self.process)
        self.assertEqual(program.wait(PATIENCE), 0, str(program))
        self.assertIn("seen", program.output())

    def test_program_that_polls(self):
        self.check("poll")

    def test_program_that_sleeps_on_a_channel(self):
        self.check("sleep")

    def test_program_that_waits_for_async_events(self):
        self.check("async")

    def test_terminated_device(self):
        program = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_device_death"), "sleep")
        program.wait_for_output("waiting")
        self.fabric.down()
        self.assertEqual(program.wait(PATIENCE), 0, str(program))

    def test_programs_in_the_middle_of_transfers(self):
        """Debian's programs, polling or sleeping, end with an error instead of hanging."""
        pairs = []
        for command in (("ib_write_bw", "-D", "60"), ("ib_send_bw", "-e", "-N", "-n", "5000000"), ("ib_read_lat", "-D", "60")):
            words = (command[0], "-F", "-x", "1", *command[1:])
            pairs.append(self.fabric.start_pair((*words, "-d", "urnic0"), (*words, "-d", "urnic1")))
        neighbour = self.neighbour()
        time.sleep(1)
        for program in (program for pair in pairs for program in pair):
            self.assertIsNone(program.status, str(program))
        kill(self.process)
        self.assertEqual(neighbour.wait(PATIENCE), 1)
        for pair in pairs:
            for program in pair[::-1]:
                if "ib_write_bw" in program.command and program is pair[0]:
                    continue  # the passive end of writes does not poll: it waits for its client over TCP
                self.assertNotEqual(program.wait(PATIENCE), 0, str(program))

    def test_stale_directory_is_cleaned(self):
        kill(self.process)
        fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of the device process")
        self.assertTrue((self.fabric.run_directory / "admin.sock").exists(), "nothing is left that could be stale")
        (self.fabric.run_directory / "dev" / "uverbs7").write_text("left over")
        self.assertIn("urnic0", self.fabric.run_on_urnic("ibv_devices"))
        self.assertFalse((self.fabric.run_directory / "dev" / "uverbs7").exists())
        self.fabric.up()
        self.assertNotEqual(self.fabric.device_process(), self.process)
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1"))

    def test_two_that_start_at_once(self):
        """Programs that start at once share one device process."""
        self.fabric.down()
        programs = [self.fabric.start_on_urnic("sh", "-c", "ibv_devices; sleep 1") for _ in range(6)]
        for program in programs:
            self.assertEqual(program.wait(), 0, str(program))
            self.assertIn("urnic1", program.output())


class EightPairs(Killed):
    def test_eight_pairs_of_different_kinds(self):
        kinds = ("ib_send_bw", "ib_send_lat", "ib_write_bw", "ib_write_lat", "ib_read_bw", "ib_read_lat", "ib_atomic_bw",
                 "ib_atomic_lat")
        pairs = []
        for number, kind in enumerate(kinds):
            devices = fabric.DEVICES if number % 2 else ("urnic1", "urnic1")
            pairs.append(self.fabric.start_pair((kind, "-F", "-x", "1", "-D", "5", "-d", devices[0]),
                                                (kind, "-F", "-x", "1", "-D", "5", "-d", devices[1])))
        neighbour = self.neighbour()
        for server, client in pairs:
            self.assertEqual((client.wait(), server.wait()), (0, 0), f"{client}\n{server}")
        self.finish(neighbour)


class HostileDescriptors(Killed):
    def test_socket_that_lingers_stops_nobody(self):
        """A program decides how long the close of a socket with SO_LINGER and unsent data takes."""
        with socket.create_server(("127.0.0.1", 0)) as listening, \
                socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            lingering = socket.create_connection(listening.getsockname())
            reader, _ = listening.accept()
            with reader:
                lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
                lingering.setblocking(False)
                with self.assertRaises(BlockingIOError):
                    while True:
                        lingering.send(bytes(65536))
                # Only the last close of the socket waits, so the device process must receive the socket after the
                # test has closed it. It may also refuse a connection before the message is there. So it is stopped.
                os.kill(self.process, signal.SIGSTOP)
                connection.connect(str(next((self.fabric.run_directory / "dev").glob("uverbs*"))))
                socket.send_fds(connection, [b"nonsense"], [lingering.fileno()])
                lingering.close()
                os.kill(self.process, signal.SIGCONT)
                self.fabric.run_on_urnic("ibv_devinfo")
                self.assertEqual(self.fabric.status()["pid"], self.process)
                os.kill(self.process, signal.SIGTERM)
                fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of the device process")


class StuckEngine(Killed):
    """An engine that does not move although a program has work for it, like one that copies from memory that does not
    answer."""

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root may stop a thread of a device process")
        super().setUp()
        self.stop_engine()
        # An engine that rests is not asked for anything: this program posts what nobody takes. It has joined the device process
        # when it begins; a command that finds one ending starts another.
        program = self.fabric.start_on_urnic("sh", "-c", f"echo begun; exec {self.fabric.verbs_program('verbs_neighbour')}")
        program.wait_for_output("begun")

    def stop_engine(self):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        for thread in map(int, os.listdir(f"/proc/{self.process}/task")):
            name = pathlib.Path(f"/proc/{self.process}/task/{thread}/comm").read_text(encoding="ascii")
            if not name.startswith("urnic-engine"):
                continue
            for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
                self.assertEqual(self.libc.ptrace(request, thread, None, None), 0, os.strerror(ctypes.get_errno()))
            os.waitpid(thread, WALL)
            self.addCleanup(self.let_go, thread)

    def let_go(self, thread):
        """Takes the exit status of a thread that has ended, so that its process can end; else lets the thread go on."""
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(thread, WALL | os.WNOHANG) == (0, 0):
                self.libc.ptrace(PTRACE_DETACH, thread, None, None)

    def wait_until_stuck(self):
        """A request that needs the engine waits for it, and the control thread with it. That is a status, which then
        ends by its own time limit, or the control thread's own look at the counters; then the watch answers."""
        for _ in range(1000):
            asked = self.fabric.start(self.fabric.urnic, "status")
            if asked.wait() != 0:
                self.assertIn(f"the device process (pid {self.process}) has not answered 'status'", asked.output())
                return
            if "STUCK" in asked.output():
                return
        raise AssertionError("the engine is not needed")

    def check_end(self):
        fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of the device process")
        self.assertFalse((self.fabric.run_directory / "admin.sock").exists())
        self.assertFalse((self.fabric.run_directory / "urnicd.pid").exists())

    def test_status_says_it_and_down_works(self):
        self.wait_until_stuck()
        status = self.fabric.status()
        self.assertEqual(status["pid"], self.process)
        self.assertEqual(status["engine"]["stuck"][0]["devices"], ["urnic0", "urnic1"])
        self.assertIn("STUCK: the engine of urnic0, urnic1", self.fabric.run(self.fabric.urnic, "status"))
        said = self.fabric.run(self.fabric.urnic, "counters", status=1)
        self.assertIn("the engine of urnic0, urnic1 has not moved", said)
        self.fabric.down()
        self.check_end()

    def test_sigterm_works(self):
        self.fabric.start(self.fabric.urnic, "status")
        os.kill(self.process, signal.SIGTERM)
        self.check_end()


class Confined(Killed):
    def test_device_process_has_little_power(self):
        process = pathlib.Path(f"/proc/{self.process}")
        for thread in (process / "task").iterdir():
            said = dict(line.split(":\t", 1) for line in (thread / "status").read_text(encoding="ascii").splitlines())
            self.assertEqual(said["NoNewPrivs"], "1")
            self.assertEqual(said["Seccomp"].strip(), "2", "system calls are not restricted")
            self.assertEqual(int(said["CapEff"], 16) & ~CAP_SYS_PTRACE, 0)
            self.assertEqual(int(said["CapPrm"], 16) & ~CAP_SYS_PTRACE, 0)
        self.assertRegex((process / "limits").read_text(encoding="ascii"), r"Max core file size\s+0\s+0\s")
        # Other processes of this user cannot reach its descriptors, which lead to the memory of all programs.
        self.fabric.run("ls", f"{process}/fd/", status=2)
        if os.geteuid() == 0:
            self.assertEqual(os.readlink(process / "cwd"), "/")
            self.assertEqual({os.readlink(process / "fd" / str(number)) for number in range(3)}, {"/dev/null"})


if __name__ == "__main__":
    unittest.main()
