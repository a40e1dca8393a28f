#!/usr/bin/python3
"""Congestion control with real programs: two senders into one receiver, by each algorithm. What marks packets, what
answers marks, and what the senders do, in counters, in `urnic status` and in a capture as tshark reads it."""

import json
import os
import signal
import time
import unittest

import fabric
from test_capture import tshark

ALGORITHMS = ("off", "dcqcn", "rtt", "timely")
# One sender fills the receiver's line, too: on a busy machine two may not run at one time. The queue marks early.
LINKS = """
[[link]]
device = "all"
rate_gbps = 1
ecn_min_bytes = 5000
ecn_max_bytes = 20000
ecn_probability = 0.1
[[link]]
device = "urnic0"
direction = "rx"
rate_gbps = 0.5

# Round trips of a busy machine with few processors are milliseconds.
[congestion]
least_rate_mbps = 100
rtt_headroom_us = 1000
timely_low_us = 20000
timely_high_us = 200000

[[devices]]
name = "urnic0"
[[devices]]
name = "urnic1"
[[devices]]
name = "urnic2"
"""
CNP = 0x81
COUNTERS = ("np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "rp_cnp_ignored")


class Congestion(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def up(self, algorithm):
        self.fabric.up(f'[device]\ncongestion = "{algorithm}"\n{LINKS}')

    def urnic(self, *words, status=0):
        return self.fabric.run(self.fabric.urnic, *words, status=status)

    def counters(self):
        """Of all devices together."""
        devices = json.loads(self.urnic("counters", "--json"))
        return {name: sum(values[name] for device, values in devices.items() if device.startswith("urnic"))
                for name in COUNTERS}

    def start_pair(self, program, receiver, sender, *options):
        port = fabric.free_port()
        common = (program, "-x", "1", "-F", "-s", 65536, "-n", 60, "-p", port, *options)
        server = self.fabric.start_on_urnic(*common, "-d", receiver)
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a server: {server}")
        return server, self.fabric.start_on_urnic(*common, "-d", sender, "127.0.0.1")

    def two_into_one(self, program="ib_write_bw", *options):
        """In a READ the client's data comes from the server."""
        into = [("urnic0", "urnic1"), ("urnic0", "urnic2")]
        if program == "ib_read_bw":
            into = [(sender, receiver) for receiver, sender in into]
        pairs = [self.start_pair(program, *ends, *options) for ends in into]
        for server, client in pairs:
            self.assertEqual((client.wait(), server.wait()), (0, 0), f"{client}\n{server}\n{self.fabric.log()}")

    def test_all_algorithms_and_programs_go_together(self):
        for algorithm in ALGORITHMS:
            self.up(algorithm)
            for program in ("ib_write_bw", "ib_send_bw", "ib_read_bw"):
                with self.subTest(algorithm=algorithm, program=program):
                    before = self.counters()
                    self.two_into_one(program)
                    after = self.counters()
                    told = {name: after[name] - before[name] for name in COUNTERS}
                    if algorithm in ("off", "timely"):
                        self.assertEqual(sum(told.values()), 0, told)
                        continue
                    self.assertEqual(told["rp_cnp_ignored"], 0)
                    # The last ones may find that the program has ended.
                    self.assertLessEqual(told["rp_cnp_handled"], told["np_cnp_sent"])
                    self.assertGreaterEqual(told["np_ecn_marked_roce_packets"], told["np_cnp_sent"])
                    # Round trips may keep the queue so short that nothing is marked.
                    if algorithm == "dcqcn":
                        self.assertGreater(told["rp_cnp_handled"], 0)
            self.fabric.down()

    def test_what_is_on_the_wire(self):
        self.up("dcqcn")
        path = str(self.fabric.home / "incast.pcapng")
        capture = self.fabric.start(self.fabric.urnic, "capture", "--points", "after", path)
        capture.wait_for_output("capturing")
        self.two_into_one()
        capture.kill()
        rows = [line.split("\t") for line in tshark(
            path, "-Y", "infiniband.bth.opcode", "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "ip.dsfield.ecn",
            "-e", "ip.dsfield.dscp", "-e", "infiniband.bth.psn").splitlines()]
        notifications = [row for row in rows if int(row[0]) == CNP]
        self.assertGreater(len(notifications), 0)
        self.assertEqual({(int(row[1]), int(row[2]), int(row[3])) for row in notifications}, {(0, 48, 0)})
        writes = [row for row in rows if int(row[0]) in (6, 7, 8, 10)]
        self.assertEqual({int(row[1]) for row in writes}, {2, 3}, "ECT(0), some marked CE")
        trace = self.urnic("trace", path)
        self.assertIn("answers the mark of", trace)
        self.assertIn("marked: congestion experienced", trace)

    def test_faults_mark_packets_and_lose_notifications(self):
        self.fabric.up('[device]\ncongestion = "dcqcn"\n')
        mark = '[[fault]]\ndevice = "urnic1"\ndirection = "tx"\nopcode = "RDMA Write Middle"\nevery = 50\naction = "mark_ecn"\n'
        lose = '[[fault]]\ndevice = "urnic1"\ndirection = "rx"\nopcode = "CNP"\naction = "drop"\n'
        for plan, arrive in ((mark, True), (mark + lose, False)):
            with self.subTest(arrive=arrive):
                self.fabric.load_faults(plan)
                before = self.counters()
                server, client = self.start_pair("ib_write_bw", "urnic0", "urnic1")
                self.assertEqual((client.wait(), server.wait()), (0, 0), f"{client}\n{server}")
                told = {name: value - before[name] for name, value in self.counters().items()}
                self.assertGreater(told["np_cnp_sent"], 0)
                self.assertEqual(told["rp_cnp_handled"] > 0, arrive)

    def test_nothing_is_capable_of_marks_without_control(self):
        self.up("off")
        path = str(self.fabric.home / "off.pcapng")
        capture = self.fabric.start(self.fabric.urnic, "capture", path)
        capture.wait_for_output("capturing")
        self.two_into_one()
        capture.kill()
        self.assertEqual(tshark(path, "-Y", f"ip.dsfield.ecn != 0 || infiniband.bth.opcode == {CNP}"), "")

    def test_a_programs_own_traffic_class_stays(self):
        self.up("dcqcn")
        path = str(self.fabric.home / "class.pcapng")
        capture = self.fabric.start(self.fabric.urnic, "capture", "--points", "before", path)
        capture.wait_for_output("capturing")
        self.two_into_one("ib_write_bw", "--tclass=104")
        self.two_into_one("ib_write_bw", "--tclass=105")
        capture.kill()
        classes = set(tshark(path, "-Y", "infiniband.bth.opcode == 7", "-T", "fields", "-e", "ip.dsfield").split())
        self.assertEqual({int(text, 16) for text in classes}, {0x6A, 0x69})

    def test_set_while_programs_run(self):
        self.up("off")
        server, client = self.start_pair("ib_write_bw", "urnic0", "urnic1", "--run_infinitely")
        self.addCleanup(server.kill)
        self.addCleanup(client.kill)

        def requester():
            for queue_pair in json.loads(self.urnic("status", "--qps", "--json")):
                if queue_pair["device"] == "urnic1":
                    return queue_pair["requester"], queue_pair["qpn"]
            return None, None

        fabric.wait_until(lambda: requester()[1] is not None, "a queue pair of the client")
        self.assertIsNone(requester()[0]["congestion"])
        for algorithm in ALGORITHMS[1:]:
            self.assertIn(f"control congestion by {algorithm}", self.urnic("set", "congestion", algorithm))
            self.assertEqual(requester()[0]["congestion"]["algorithm"], algorithm)
        self.urnic("set", "congestion", "dcqcn", "line_rate_gbps=0.5", "--qp", str(requester()[1]))
        self.assertLessEqual(requester()[0]["congestion"]["rate_gbps"], 0.5)
        self.assertIn("Gbit/s", self.urnic("status", "--qps"))
        self.assertIn("without congestion control", self.urnic("set", "congestion", "off"))
        self.assertIsNone(requester()[0]["congestion"])

    def test_a_device_process_that_was_stopped_goes_on(self):
        """How fast, clock_jump in tests/unit/congestion has under virtual time; here, that no request of a program fails."""
        for algorithm in ALGORITHMS[1:]:
            with self.subTest(algorithm):
                self.fabric.up(f'[device]\ncongestion = "{algorithm}"\n')
                server, client = self.start_pair("ib_write_bw", "urnic0", "urnic1", "--run_infinitely")

                def arrived():
                    return json.loads(self.urnic("counters", "--json"))["urnic0"]["rx_write_requests"]

                fabric.wait_until(lambda: arrived() > 100, f"writes: {client}")
                device_process = self.fabric.device_process()
                os.kill(device_process, signal.SIGSTOP)
                try:
                    time.sleep(1.5)
                finally:
                    os.kill(device_process, signal.SIGCONT)
                before = arrived()
                fabric.wait_until(lambda: arrived() > before + 1000, f"writes after the pause: {client}")
                self.assertIsNone(client.status, client)
                client.kill()
                server.kill()
                self.fabric.down()

    def test_wrong_settings_are_refused_and_change_nothing(self):
        self.up("dcqcn")
        for words, said in (
                (("dctcp",), "dctcp"),
                (("dcqcn", "dcqcn_gain=1"), "no such setting"),
                (("dcqcn", "cnp_dscp=64"), "0 to 63"),
                (("dcqcn", "slow_restart=2"), "true or false"),
                (("off", "dcqcn_alpha_gain"), "KEY=VALUE")):
            with self.subTest(words):
                refused = self.fabric.start(self.fabric.urnic, "set", "congestion", *words)
                self.assertNotEqual(refused.wait(), 0)
                self.assertIn(said, refused.output())
        status = json.loads(self.urnic("status", "--json"))
        self.assertEqual({device["congestion"] for device in status["devices"]}, {"dcqcn"})


if __name__ == "__main__":
    unittest.main()
