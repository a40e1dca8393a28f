#!/usr/bin/python3
"""urnic script: packet scripts with a device that runs, what it says of errors, queue pairs of other programs."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import unittest

import fabric

SCRIPTS = pathlib.Path(__file__).resolve().parents[1] / "scripts"
FAILED, USAGE = 1, 2


class Scripts(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        # Where the ordinary user can read them.
        self.scripts = self.fabric.home / "scripts"
        shutil.copytree(SCRIPTS, self.scripts)

    def script(self, *words, status=0):
        return self.fabric.run(self.fabric.urnic, "script", *words, status=status)

    def results(self, *words, status=0):
        return json.loads(self.script("--json", *words, status=status))

    def write(self, text, name="a.packets"):
        file = self.fabric.home / name
        file.write_text(text)
        return file

    def test_all_scripts_live(self):
        self.fabric.up()
        results = self.results("--live", self.scripts)
        self.assertEqual([result["file"] for result in results if not result["passed"] and not result["left_out"]], [])
        # Few need what only virtual time has.
        left_out = [result["file"] for result in results if result["left_out"]]
        self.assertLess(len(left_out), len(results) / 10, left_out)
        # Every script has left the device process as it was.
        fabric.wait_until(lambda: not self.fabric.status()["contexts"], "the end of all contexts")
        self.assertEqual(self.fabric.status()["leases"], 0)

    def test_a_script_starts_the_device_process_that_it_needs(self):
        self.script("--live", self.scripts / "examples" / "01-a-write.packets")
        fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of the device process")

    def test_another_device(self):
        self.fabric.up()
        self.script("--live", "--device", "urnic1", self.scripts / "examples")
        said = self.script("--live", "--device", "urnic7", self.scripts / "examples", status=FAILED)
        self.assertIn('there is no device "urnic7"', said)

    def test_a_mismatch_shows_line_field_values_and_ladder(self):
        script = self.write("mr m length=64\nqp a\nsend a write_only psn=105\nexpect a ack psn=99\n")
        for where in ("--virtual", "--live"):
            with self.subTest(where):
                said = self.script(where, script, status=FAILED)
                self.assertIn(f"{script}:4:14: bth.psn: expected 99, seen 100\n     4 | expect a ack psn=99\n", said)
                self.assertRegex(said, "1 RC RDMA Write Only 105.*\n.*2 RC Acknowledge 100")
                failure = self.results(where, script, status=FAILED)[0]["failure"]
                self.assertEqual((failure["line"], failure["column"], failure["field"], failure["expected"], failure["seen"]),
                                 (4, 14, "bth.psn", "99", "100"))

    def test_errors_name_line_and_column(self):
        script = self.write("qp a\nsned a write_only\n")
        self.assertIn(f"{script}:2:1: there is no statement sned", self.script(script, status=FAILED))
        self.assertIn("cannot be read", self.script(self.fabric.home / "nothing.packets", status=FAILED))
        (self.fabric.home / "empty").mkdir()
        self.assertIn("there is no script in it", self.script(self.fabric.home / "empty", status=FAILED))
        self.assertIn("NAME=NUMBER", self.script("--set", "x", script, status=USAGE))
        self.script("--virtual", "--live", script, status=USAGE)

    def test_each_statement_is_shown(self):
        said = self.script("-v", self.scripts / "examples" / "05-times.packets")
        self.assertRegex(said, r"(?m)^ +0\.000000 ms +3  qp a ")
        self.assertRegex(said, r"(?m)^ +67\.108864 ms +\d+  send a ack$")

    def test_what_a_script_sends_is_in_a_capture(self):
        self.fabric.up()
        file = self.fabric.home / "seen.pcap"
        capture = self.fabric.start(self.fabric.urnic, "capture", file)
        fabric.wait_until(lambda: self.fabric.status()["captures"] == 1, "the capture")
        self.script("--live", self.scripts / "examples" / "03-a-hole.packets")
        capture.process.terminate()
        capture.wait()
        shown = self.fabric.run(self.fabric.urnic, "trace", file)
        for packet in ("Write Only", "NAK"):
            self.assertIn(packet, shown)

    def test_a_queue_pair_of_another_program(self):
        """The script is the peer of a queue pair that a program has made, and is told its number, address and key."""
        self.fabric.up()
        gid = next(gid for gid in self.fabric.status()["devices"][0]["gids"] if gid.startswith("::ffff:"))
        port, file = fabric.free_port(), self.fabric.home / "token"
        program = self.fabric.start_on_urnic(self.fabric.prefix / "libexec" / "urnic" / "urnic-script-agent", "--device", "urnic0",
                                             "--gid", gid, "--peer", "::ffff:192.0.2.153", "--listen", port, "--token-file", file)
        fabric.wait_until(lambda: fabric.is_listening(port) or program.status is not None, f"a listening program: {program}")
        with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rw") as lines:
            lines.write(f"token {file.read_text()}")
            lines.flush()
            self.assertEqual(lines.readline(), "ok\n")
            # One waits for the script's port: its address is known only while the script runs.
            region = self.ask(lines, "mr m 0 length=64 access=15")
            script = self.write("let number = 0\nlet address = 0\nlet key = 0\n"
                                "qp a attach=number peer_qpn=0x123456 rq_psn=7 sq_psn=9\n"
                                "send a write_only va=address rkey=key payload=text(\"done\")\n"
                                "expect a ack psn=7 kind=ack msn=1\n")
            with self.port_of_a_script():
                made = self.ask(lines, "qp a 0 service=2 state=3 mtu=1024 rq_psn=7 sq_psn=9 timeout=14 retry=7 rnr_retry=7 "
                                       "min_rnr_timer=12 max_reads=1 max_dest_reads=1 access=15 peer_qpn=1193046")
            recovery = self.recovery_of(made["qpn"])
            self.assertNotEqual(recovery, "gbn")  # a script's own queue pairs have it
            self.script("--live", "--set", f"number={made['qpn']}", "--set", f"address={region['addr']}",
                        "--set", f"key={region['rkey']}", script)
            self.assertEqual(self.recovery_of(made["qpn"]), recovery)
            named = self.write("let number = 0\nqp a attach=number peer_qpn=0x123456 rq_psn=8 sq_psn=9 recovery=gbn\n", "named.packets")
            self.script("--live", "--set", f"number={made['qpn']}", named)
            self.assertEqual(self.recovery_of(made["qpn"]), "gbn")
            lines.write("memory m 0 @m:0:4\n")
            lines.flush()
            self.assertEqual(lines.readline(), f"ok #{b'done'.hex()}\n")
        said = self.script("--virtual", script, status=FAILED)
        self.assertIn("live runs only", said)

    def test_an_agent_lets_in_who_has_the_token(self):
        """Others are closed, also when they say nothing or very much; they keep nobody out, and cost no process."""
        self.fabric.up()
        gid = next(gid for gid in self.fabric.status()["devices"][0]["gids"] if gid.startswith("::ffff:"))
        agent = (self.fabric.prefix / "libexec" / "urnic" / "urnic-script-agent", "--device", "urnic0", "--gid", gid, "--peer",
                 "::ffff:192.0.2.153", "--listen")
        port, file = fabric.free_port(), self.fabric.home / "token"
        self.assertIn("--token-file", self.fabric.run_on_urnic(*agent, port, status=1))
        program = self.fabric.start_on_urnic(*agent, port, "--token-file", file)
        fabric.wait_until(lambda: fabric.is_listening(port) or program.status is not None, f"a listening program: {program}")
        listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()
                     if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"]
        self.assertEqual(listening, [f"0100007F:{port:04X}"])
        token = file.read_text()
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)

        def connection():
            made = socket.create_connection(("127.0.0.1", port), timeout=60)
            self.addCleanup(made.close)
            return made

        silent = [connection() for _ in range(100)]
        for wrong in ("token wrong\n", "\n", token.replace("\n", "x\n"), "x" * 1000):
            with self.subTest(wrong=wrong):
                stranger = connection()
                stranger.sendall(f"{wrong}".encode())
                with contextlib.suppress(ConnectionError):
                    self.assertEqual(stranger.recv(100), b"")
        mine = connection()
        mine.sendall(f"token {token}".encode())
        self.assertEqual(mine.recv(100), b"ok\n")
        with contextlib.suppress(ConnectionError):
            self.assertEqual(silent[0].recv(100), b"")

    def test_congestion_control_of_a_live_device(self):
        """The rates of scripts/congestion change faster than a live script can look."""
        self.fabric.up()
        marked = "mr m length=64\nqp a congestion={}\nsend a write_only ip.ecn=3 payload=4\n{}expect a ack\n"
        self.script("--live", self.write(marked.format("off", "")))
        self.script("--live", self.write(marked.format("dcqcn", "expect a cnp psn=0 becn=1 payload=zeros(16)\n")))
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))["urnic0"]
        self.assertEqual((counters["np_ecn_marked_roce_packets"], counters["np_cnp_sent"]), (1, 1))
        self.script("--live", self.write("mr m length=64\nqp a congestion=rtt\nqp b congestion=off\nsend a cnp\nsend b cnp\n"
                                         "send a write_only payload=4\nexpect a ack\nsend b write_only payload=4\nexpect b ack\n"))
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))["urnic0"]
        self.assertEqual((counters["rp_cnp_handled"], counters["rp_cnp_ignored"]), (1, 1))

    def test_a_client_of_rping(self):
        """From the connection manager's REQ to its DREP, with the same unmodified server that a real client would have."""
        self.fabric.up()
        port = fabric.free_port()
        server = self.fabric.start_on_urnic("rping", "-s", "-a", "192.0.2.1", "-p", port)
        fabric.wait_until(lambda: "LISTEN" in self.fabric.run_on_urnic("rdma", "resource", "show", "cm_id"), f"a listener: {server}")
        self.script("--live", "--set", f"port={port}", self.fabric.copy_home("rping_client.packets"))
        server.wait()
        self.assertIn("server DISCONNECT EVENT", server.output())

    def recovery_of(self, qpn):
        """The loss recovery of a queue pair of the device process."""
        all_pairs = json.loads(self.fabric.run(self.fabric.urnic, "status", "--qps", "--json"))
        return next(pair["requester"]["recovery"] for pair in all_pairs if pair["qpn"] == qpn)

    def ask(self, lines, call):
        lines.write(call + "\n")
        lines.flush()
        answer = lines.readline().split()
        self.assertEqual(answer[0], "ok", answer)
        return {name: int(value) for name, value in (word.split("=") for word in answer[1:])}

    @contextlib.contextmanager
    def port_of_a_script(self):
        """The port that a script would have, as long as the context lasts."""
        with socket.socket(socket.AF_UNIX) as admin:
            # The device process answers its own user only: the one at the time of the connection.
            own = os.geteuid()
            if own == 0:
                os.seteuid(fabric.ORDINARY_USER)
            try:
                admin.connect(str(self.fabric.run_directory / "admin.sock"))
            finally:
                os.seteuid(own)
            admin.sendall(json.dumps({"cmd": "station", "device": "urnic0", "mac": "02:00:00:00:00:99",
                                      "gid": "::ffff:192.0.2.153"}).encode() + b"\n")
            self.assertIn(b'"ok":true', admin.recv(4096))
            yield


if __name__ == "__main__":
    unittest.main(verbosity=2)
