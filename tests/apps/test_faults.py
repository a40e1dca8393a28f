#!/usr/bin/python3
"""Real programs on bad links and with fault plans. What a plan says happens, is counted, and shows in the capture. The
n-th packet that a QP sends meets the same fate, whatever runs beside it."""

import json
import pathlib
import re
import subprocess
import unittest

import fabric


class Faults(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up()

    def urnic(self, *words, status=0):
        return self.fabric.run(self.fabric.urnic, *words, status=status)

    def plan(self, text):
        path = self.fabric.home / "plan.toml"
        path.write_text(text)
        path.chmod(0o644)
        return str(path)

    def counters(self, device="urnic0"):
        return json.loads(self.urnic("counters", "--json"))[device]

    def pair(self, *options, program="ib_send_bw", prefix=(), size=64, count=400):
        """A perftest pair. The client, on urnic0, sends; `prefix` are options of its `urnic run`."""
        common = (program, "-x", "1", "-F", "-s", size, "-n", count, *options)
        port = fabric.free_port()
        server = self.fabric.start_on_urnic(*common, "-d", "urnic1", "-p", port)
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a server: {server}")
        client = self.fabric.start(self.fabric.urnic, "run", *prefix, "--", *common, "-d", "urnic0", "-p", port,
                                   "127.0.0.1")
        statuses = client.wait(), server.wait()
        self.assertEqual(statuses, (0, 0), f"{client}\n{server}\n{self.fabric.log()}")
        return client.output()

    def fates(self, path):
        """For each QP of urnic0, by its peer's number: which of its packets were dropped, and how many it sent."""
        text = subprocess.run(["tshark", "-r", path, "-Y", "ip.src == 192.0.2.1", "-T", "fields", "-e",
                               "frame.interface_name", "-e", "infiniband.bth.destqp"], capture_output=True, text=True,
                              check=True).stdout
        sent, dropped = {}, {}
        for line in text.splitlines():
            interface, peer = line.split("\t")
            point = interface.split("/")[1]
            if point == "before":
                sent[peer] = sent.get(peer, 0) + 1
            elif point == "dropped":
                dropped.setdefault(peer, []).append(sent[peer])
        return [(dropped.get(peer, []), count) for peer, count in sent.items()]

    def lossy_run(self, name):
        """The fates of ib_send_bw's packets on a link that loses packets."""
        path = str(self.fabric.home / name)
        self.pair(prefix=("--capture", path, "--points", "before,dropped"))
        return self.fates(path)

    def test_the_nth_packet_meets_the_same_fate_every_run(self):
        self.urnic("link", "set", "urnic0", "--direction", "tx", "loss=0.02", "seed=7")
        runs = [self.lossy_run("alone.pcapng")[0], self.lossy_run("again.pcapng")[0]]
        # Beside an equal program. Both meet the same fates, because each QP is the first of its program.
        path = str(self.fabric.home / "beside.pcapng")
        capture = self.fabric.start(self.fabric.urnic, "capture", "--points", "before,dropped", path)
        capture.wait_for_output("capturing")
        port = fabric.free_port()
        common = ("ib_send_bw", "-x", "1", "-F", "-s", 64, "-n", 2000, "-p", port)
        other_server = self.fabric.start_on_urnic(*common, "-d", "urnic1")
        fabric.wait_until(lambda: fabric.is_listening(port), "a server")
        other = self.fabric.start_on_urnic(*common, "-d", "urnic0", "127.0.0.1")
        self.pair()
        self.assertEqual((other.wait(), other_server.wait()), (0, 0))
        capture.process.terminate()
        capture.wait()
        beside = self.fates(path)
        self.assertEqual(len(beside), 2)
        runs += beside
        least = min(count for _, count in runs)
        self.assertGreaterEqual(least, 400)
        expected = [n for n in runs[0][0] if n <= least]
        self.assertGreater(len(expected), 1, "nothing was lost, so nothing was tested")
        for dropped, _ in runs:
            self.assertEqual([n for n in dropped if n <= least], expected)

    def test_a_plan_drops_what_it_names(self):
        plan = self.plan('''
            [[fault]]
            name = "the third message, twice"
            qp_ordinal = 1
            device = "urnic0"
            opcode = "Send Only"
            relative_psn = 2
            count = 2
            action = "drop"
        ''')
        path = str(self.fabric.home / "plan.pcapng")
        said = self.pair(prefix=("--faults", plan, "--capture", path, "--points", "before,dropped"))
        self.assertNotIn("never matched", said)
        self.assertEqual(self.counters()["link_tx_fault_dropped"], 2)
        comments = subprocess.run(["tshark", "-r", path, "-Y", "frame.comment", "-T", "fields", "-e", "frame.comment"],
                                  capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(comments, ['urnic0 tx: rule "the third message, twice": dropped'] * 2)
        self.assertIn("no fault plan", self.urnic("fault", "list"))

    def test_a_mark_is_said_to_be_there_where_it_is(self):
        """perftest's packets carry no ECT by default; traffic class 2 sets it."""
        for tclass, remark, seen in ((0, "not marked congestion experienced, the sender has not set ECT", "0"),
                                     (2, "marked congestion experienced", "3")):
            with self.subTest(tclass):
                before = self.counters()
                plan = self.plan('[[fault]]\nname = "mark"\ndevice = "urnic0"\nopcode = "Send Only"\ncount = 5\n'
                                 'action = "mark_ecn"\n')
                path = str(self.fabric.home / f"mark{tclass}.pcapng")
                self.pair(f"--tclass={tclass}", prefix=("--faults", plan, "--capture", path, "--points", "after"))
                lines = subprocess.run(["tshark", "-r", path, "-Y", "frame.comment", "-T", "fields", "-e", "frame.comment",
                                        "-e", "ip.dsfield.ecn"], capture_output=True, text=True, check=True).stdout
                self.assertEqual(lines.splitlines(), [f'urnic0 tx: rule "mark": {remark}\t{seen}'] * 5)
                after = self.counters()
                moved = {name: after[name] - before[name] for name in after if "ecn" in name and after[name] != before[name]}
                self.assertEqual(moved, {"link_tx_fault_ecn_marked" if tclass else "link_tx_ecn_not_capable": 5})

    def test_one_loss_is_one_nak_in_the_counters_of_both_ends(self):
        """One NAK, however many packets arrive after the lost one."""
        self.urnic("set", "recovery", "gbn", "--device", "all")
        plan = self.plan('[[fault]]\ndevice = "urnic0"\nqp_ordinal = 1\nrelative_psn = 50\ntransmission = 1\n'
                         'action = "drop"\n')
        self.pair(prefix=("--faults", plan), size=4096, count=200)
        self.assertEqual(self.counters("urnic1")["out_of_sequence"], 1)
        self.assertEqual(self.counters("urnic0")["packet_seq_err"], 1)
        self.assertEqual(self.counters("urnic0")["out_of_sequence"], 0)

    def test_a_plan_that_never_matched_says_so(self):
        plan = self.plan('[[fault]]\nname = "none"\nqp = 9999\naction = "drop"\n')
        self.assertIn("the fault plan never matched a packet", self.pair(prefix=("--faults", plan), count=10))
        plan = self.plan('[[fault]]\ncount = 1\naction = "duplicate"\n[[fault]]\nname = "none"\nqp = 9999\naction = "drop"\n')
        self.assertIn('the rule "none" never matched a packet', self.pair(prefix=("--faults", plan), count=10))

    def test_a_wrong_plan_is_refused_before_the_program_starts(self):
        plan = self.plan('[[fault]]\naction = "drop"\npsn = -1\n')
        said = self.fabric.run(self.fabric.urnic, "run", "--faults", plan, "--", "true", status=125)
        self.assertRegex(said, r"plan.toml:3: fault.psn = -1: allowed is a whole number from 0 to 16777215")

    def test_programs_get_over_every_recoverable_fault(self):
        """Each action alone, on packets within messages. perftest checks that every request completes with success."""
        for action in ('"drop"', '"duplicate"', '"delay"\ndelay_us = 300', '"reorder"\nbehind_packets = 2',
                       '"corrupt_after_icrc"', '"mark_ecn"', '"rnr_nak"', '"nak"', '"cut_link"\nfor_us = 500'):
            with self.subTest(action):
                plan = self.plan(f'[[fault]]\ndevice = "urnic0"\nevery = 97\naction = {action}\n')
                said = self.pair(program="ib_send_bw", prefix=("--faults", plan), size=16384, count=200)
                self.assertNotIn("never matched", said)

    def test_lumina_example(self):
        examples = pathlib.Path(__file__).resolve().parents[2] / "docs" / "faults"
        plan = self.plan((examples / "lumina-example.toml").read_text())
        said = self.pair("-q", "4", program="ib_write_bw", prefix=("--faults", plan))
        self.assertNotIn("never matched", said)
        self.assertEqual(self.counters()["link_tx_fault_dropped"], 3)

    def test_a_rate_holds(self):
        """A program cannot send faster than its link, and the limit loses no packets."""
        self.urnic("link", "set", "urnic0", "--direction", "tx", "rate_gbps=1")
        self.urnic("set", "recovery", "gbn")  # so that a slow machine causes no retransmissions
        said = self.pair(program="ib_write_bw", size=65536, count=300)
        bandwidth = float(re.findall(r"^ *65536 +300 +[\d.]+ +([\d.]+)", said, re.M)[0])
        self.assertLess(bandwidth, 120)  # MiB per second; 1 Gbit/s is 119
        counters = self.counters()
        self.assertEqual((counters["link_tx_queue_full"], counters["retrans_pkts"]), (0, 0))

    def test_bad_weather_by_chance(self):
        self.urnic("link", "set", "urnic0", "loss=0.01", "duplicate=0.01", "reorder=0.02", "corrupt=0.01", "delay_us=3",
                   "jitter_us=2", "burst_start=0.0005")
        for program in ("ib_write_bw", "ib_send_bw", "ib_read_bw"):
            with self.subTest(program):
                self.pair(program=program, size=16384, count=300)
        counters = self.counters()
        for cause in ("lost", "duplicated", "reordered", "corrupted", "delayed"):
            self.assertGreater(counters[f"link_tx_{cause}"] + counters[f"link_rx_{cause}"], 0, cause)


if __name__ == "__main__":
    unittest.main()
