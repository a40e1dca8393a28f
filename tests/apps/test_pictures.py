#!/usr/bin/python3
"""urnic trace, ladder and plot: on real programs' packets with faults that drop chosen ones, in captures at every point,
at the sender alone, and live. What was dropped is what is called lost, and what was sent again names it. Wireshark gets
live captures, a dissector and a profile."""

import json
import os
import re
import signal
import struct
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

import fabric

SVG = "{http://www.w3.org/2000/svg}"
RECOVERIES = ("gbn", "selective", "irn", "sack")
USAGE = 2
# The plan drops, at the sender: the PSN once, or its retransmission, too.
DROPS = {4: 1, 10: 2, 17: 1}


def plan(drops):
    """Drops the first transmissions of these PSNs, which count from a connection's first one."""
    rules = [f'[[fault]]\nname = "drop {psn} {number}"\ndevice = "urnic0"\nqp_ordinal = 1\nrelative_psn = {psn}\n'
             f'transmission = {number}\naction = "drop"\n' for psn, times in drops.items() for number in range(1, times + 1)]
    return "\n".join(rules)


class Pictures(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def urnic(self, *words, status=0):
        return self.fabric.run(self.fabric.urnic, *words, status=status)

    def path(self, name):
        return str(self.fabric.home / name)

    def traffic(self, capture, drops, *options, program="ib_write_bw", size=4096, count=8, points=()):
        """A perftest pair at path MTU 1024 whose client, on urnic0, is captured; `points` of urnic run."""
        faults = self.fabric.home / "plan.toml"
        faults.write_text(plan(drops))
        faults.chmod(0o644)
        common = (program, "-x", "1", "-F", "-m", "1024", "-s", size, "-n", count, *options)
        port = fabric.free_port()
        server = self.fabric.start_on_urnic(*common, "-d", "urnic1", "-p", port)
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a server: {server}")
        prefix = ("--capture", capture, *points, *(("--faults", str(faults)) if drops else ()))
        client = self.fabric.start(self.fabric.urnic, "run", *prefix, "--", *common, "-d", "urnic0", "-p", port, "127.0.0.1")
        fabric.end_pair(server, client, fabric.PATIENCE, self.fabric.log)

    def trace(self, *words):
        return [json.loads(line) for line in self.urnic("trace", "--json", *words).splitlines()]

    def recover_by(self, recovery):
        self.fabric.up(f'[[link]]\ndevice = "all"\nrecovery = "{recovery}"\n')


class Verdicts(Pictures):
    def check(self, capture, drops):
        """What the plan dropped is lost, and each transmission behind the first names the one before it."""
        packets = self.trace(capture)
        requests = [packet for packet in packets if "Write" in packet["opcode"]]
        first = requests[0]["psn"]
        by_psn = {}
        for packet in requests:
            by_psn.setdefault((packet["psn"] - first) % 2**24, []).append(packet)
        for psn, transmissions in by_psn.items():
            lost = [packet for packet in transmissions if "lost" in packet["verdicts"]]
            self.assertEqual([packet["comment"] for packet in lost],
                             [f'urnic0 tx: rule "drop {psn} {number}": dropped' for number in range(1, drops.get(psn, 0) + 1)])
            for number, (packet, again) in enumerate(zip(transmissions, transmissions[1:]), 2):
                self.assertIn("retransmission", again["verdicts"])
                self.assertEqual((again["of"], again["transmission"]), (packet["number"], number))
            self.assertNotIn("lost", transmissions[-1]["verdicts"])
        return packets

    def test_what_was_dropped_is_lost(self):
        for recovery in RECOVERIES:
            with self.subTest(recovery):
                self.recover_by(recovery)
                capture = self.path(f"{recovery}.pcapng")
                self.traffic(capture, DROPS)
                packets = self.check(capture, DROPS)
                kind = "sack" if recovery in ("irn", "sack") else "nak"
                self.assertTrue(any(kind in packet["verdicts"] for packet in packets))
                # Wireshark reads the same frames under the same numbers.
                dropped = subprocess.run(["tshark", "-r", capture, "-Y", 'frame.interface_name matches "dropped"', "-T",
                                          "fields", "-e", "infiniband.bth.psn"], capture_output=True, text=True,
                                         check=True).stdout.split()
                self.assertEqual(sorted(int(psn) for psn in dropped),
                                 sorted(packet["psn"] for packet in packets if "lost" in packet["verdicts"]))
                self.fabric.down()

    def test_a_capture_at_the_sender_alone_tells_nearly_as_much(self):
        """Nobody records a loss there: it is inferred from answers and retransmissions."""
        for recovery in RECOVERIES:
            with self.subTest(recovery):
                self.recover_by(recovery)
                capture = self.path(f"{recovery}.pcap")
                self.traffic(capture, DROPS, points=("--points", "before"))
                packets = [packet for packet in self.trace(capture) if "Write" in packet["opcode"]]
                first = packets[0]["psn"]
                gone = [(packet["psn"] - first, packet["transmission"]) for packet in packets
                        if {"lost", "unanswered"} & set(packet["verdicts"])]
                for psn, times in DROPS.items():
                    for number in range(1, times + 1):
                        # Go-back-N sends again what follows a loss, whether it has arrived or not.
                        if recovery != "gbn" or psn == min(DROPS):
                            self.assertIn((psn, number), gone)
                self.assertTrue({psn for psn, _ in gone} <= set(DROPS) or recovery != "sack", gone)
                self.fabric.down()

    def test_nothing_is_said_of_packets_that_arrive(self):
        for program in ("ib_send_bw", "ib_write_bw", "ib_read_bw", "ib_atomic_bw"):
            with self.subTest(program):
                capture = self.path(f"{program}.pcapng")
                size = ("-m", "1024") if program == "ib_atomic_bw" else ()
                self.traffic(capture, {}, *size, program=program, size=8 if program == "ib_atomic_bw" else 5000)
                packets = self.trace(capture)
                self.assertGreater(len(packets), 10)
                for packet in packets:
                    self.assertFalse({"lost", "retransmission", "nak", "duplicate", "out-of-order", "gap", "unanswered"} &
                                     set(packet["verdicts"]), packet)
                    if "response" in packet["verdicts"]:
                        self.assertIsNotNone(packet["answers"])
                    self.assertIsNotNone(packet["on_its_way_ns"])
                    self.assertIsNotNone(packet["qp"]["source"])

    def test_a_lost_read_response_and_a_lost_acknowledgement(self):
        self.fabric.up()
        faults = self.fabric.home / "plan.toml"
        faults.write_text('[[fault]]\nname = "lost answer"\ndevice = "urnic1"\nopcode = ["RDMA Read Response Middle", '
                          '"Acknowledge"]\noccurrence = 1\naction = "drop"\n')
        self.urnic("fault", "load", faults)
        for program, opcode in (("ib_read_bw", "RC RDMA Read Response Middle"), ("ib_write_bw", "RC Acknowledge")):
            with self.subTest(program):
                capture = self.path(f"{program}.pcapng")
                self.traffic(capture, {}, program=program)
                lost = self.trace(capture, "--only", "lost")
                self.assertEqual([(packet["opcode"], packet["comment"]) for packet in lost],
                                 [(opcode, 'urnic1 tx: rule "lost answer": dropped')])


class Live(Pictures):
    def test_losses_are_printed_while_programs_run(self):
        self.fabric.up()
        trace = self.fabric.start(self.fabric.urnic, "trace", "--json", "--only", "lost", "--count", "4")
        everything = self.fabric.start(self.fabric.urnic, "trace")
        everything.wait_for_output("tracing")
        self.traffic(self.path("same.pcapng"), DROPS)
        self.assertEqual(trace.wait(), 0, str(trace))
        psns = [json.loads(line)["psn"] for line in trace.output().splitlines()]
        self.assertEqual(sorted(psn - min(psns) for psn in psns), [0, 6, 6, 13])
        fabric.wait_until(lambda: everything.output().count("lost: ") == 4 or everything.status is not None,
                          "the lines of lost packets")
        os.kill(everything.pid, signal.SIGINT)
        self.assertEqual(everything.wait(), 0, str(everything))
        lines = everything.output().splitlines()[1:]
        numbers = [int(line.split()[0]) for line in lines]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertGreater(len(numbers), 32)

    def test_from_a_pipe(self):
        self.fabric.up()
        command = f"{self.fabric.urnic} capture - | {self.fabric.urnic} trace --json -"
        piped = self.fabric.start("bash", "-c", command)
        piped.wait_for_output("capturing")
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0", "-n", "5"),
                             ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1", "-n", "5"))
        # Printed while the capture goes on: 20 packets of messages and their acknowledgements at least.
        fabric.wait_until(lambda: piped.output().count('"number"') >= 20, f"packets: {piped}")
        os.killpg(piped.pid, signal.SIGINT)
        piped.wait()

    def test_the_device_process_ends(self):
        self.fabric.up()
        trace = self.fabric.start(self.fabric.urnic, "trace")
        trace.wait_for_output("tracing")
        self.fabric.down()
        self.assertEqual(trace.wait(), 0, str(trace))


class Filters(Pictures):
    def test_each_filter_takes_what_it_names(self):
        capture = self.path("two.pcapng")
        self.traffic(capture, {4: 1}, "-q", "2")
        packets = self.trace(capture)
        qps = sorted({packet["qp"]["destination"] for packet in packets})
        self.assertEqual(len(qps), 4)

        def same(words, condition):
            expected = [packet["number"] for packet in packets if condition(packet)]
            self.assertTrue(0 < len(expected) < len(packets), words)
            self.assertEqual([packet["number"] for packet in self.trace(capture, *words)], expected, words)

        one = qps[0]
        same(("--qp", hex(one)), lambda packet: one in packet["qp"].values())
        same(("--opcode", "Acknowledge"), lambda packet: packet["opcode"].endswith("Acknowledge"))
        same(("--opcode", "rc_rdma_write_first,RC RDMA Write Last"),
             lambda packet: packet["opcode"] in ("RC RDMA Write First", "RC RDMA Write Last"))
        same(("--filter", "src host 192.0.2.1"), lambda packet: packet["source"] == "192.0.2.1")
        same(("--only", "lost,retransmission"), lambda packet: {"lost", "retransmission"} & set(packet["verdicts"]))
        same(("--device", "urnic1"), lambda packet: packet["source"] == "192.0.2.2")
        self.assertEqual(len(self.trace(capture, "--count", "3")), 3)
        self.assertEqual(self.trace(capture, "--host", "192.0.2.9"), [])
        self.assertEqual(len(self.trace(capture, "--host", "192.0.2.9,192.0.2.1")), len(packets))

    def test_packets_of_infiniband(self):
        """The packet that docs/wire-format.md takes apart, twice, and once damaged."""
        packet = bytes.fromhex("00120005 000c0002 0a30ffff0000001d80f50804 0000562f82d5a00000000d9500000005 68656c6c6f000000".replace(" ", "")
                               + "1f990748f486")
        damaged = packet[:36] + b"H" + packet[37:]

        def record(sent):
            erf = bytes(8) + struct.pack(">BBHHH", 21, 4, 16 + len(sent) + -len(sent) % 8, 0, len(sent)) + sent + bytes(-len(sent) % 8)
            return struct.pack("<IIII", 0, 0, len(erf), len(erf)) + erf

        capture = self.path("infiniband.pcap")
        (self.fabric.home / "infiniband.pcap").write_bytes(
            struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 197) + b"".join(map(record, (packet, packet, damaged))))
        packets = self.trace(capture)
        self.assertEqual([(seen["source"], seen["destination"]) for seen in packets], [("LID 2", "LID 5")] * 3)
        self.assertEqual([seen["payload"] for seen in packets], [5, 5, 5])
        self.assertIn("retransmission", packets[1]["verdicts"])
        self.assertTrue(packets[2]["summary"].endswith("(VCRC is wrong)"), packets[2])
        for words, count in ((("--lid", "2"), 3), (("--lid", "7,0x5"), 3), (("--lid", "3"), 0), (("--filter", "udp"), 0),
                             (("--filter", "not udp"), 0), (("--host", "::"), 0), (("--qp", "0x1d"), 3)):
            self.assertEqual(len(self.trace(capture, *words)), count, words)
        self.assertIn("LID 5 QP 0x1d", self.urnic("ladder", capture))
        for words in (("plot",), ("plot", "--rate")):
            self.assertIn("LID 2", self.urnic(*words, capture))

    def test_what_is_wrong_is_said(self):
        capture = self.path("one.pcap")
        self.traffic(capture, {})
        text = self.path("text")
        (self.fabric.home / "text").write_text("no capture")
        for words, status, naming in ((("trace", "--only", "loss", capture), USAGE, "retransmission"),
                                      (("trace", "--opcode", "Sent", capture), USAGE, "RC Send Only"),
                                      (("trace", "--host", "here", capture), USAGE, "address"),
                                      (("trace", "--filter", "udp port port", capture), USAGE, "udp port port"),
                                      (("trace", text), 1, "neither a pcap nor a pcapng file"),
                                      (("trace", self.path("none")), 1, "No such file"),
                                      (("trace",), 3, "urnic up"),
                                      (("ladder", text), 1, "neither a pcap nor a pcapng file"),
                                      (("ladder", capture, "--qp", "1"), 1, "QP 0x1"),
                                      (("ladder", capture, "--from", "5parsec"), USAGE, "--from"),
                                      (("ladder", capture, "--from", "2s", "--to", "1s"), USAGE, "--to"),
                                      (("ladder", capture, "--from", "900s"), 1, "--from"),
                                      (("plot", capture, "--rate", "--from", "900s"), 1, "--from"),
                                      (("plot", capture, "--interval", "1ms"), USAGE, "--rate"),
                                      (("plot", capture, "--rate", "--interval", "1parsec"), USAGE, "--interval"),
                                      (("plot", capture, "-o", self.path("no/such/folder")), 1, "No such file")):
            with self.subTest(words):
                if status == 3:
                    fabric.wait_until(lambda: self.fabric.device_process() is None, "the device process's end")
                said = self.urnic(*words, status=status)
                self.assertIn(naming, said)
                self.assertEqual(said.count("\n"), 1, said)


class Drawn(Pictures):
    def setUp(self):
        super().setUp()
        self.capture = self.path("lossy.pcapng")
        self.traffic(self.capture, DROPS)
        self.packets = self.trace(self.capture)

    def svg(self, *words):
        """The document, whose title and description a screen reader finds."""
        path = self.path("picture.svg")
        self.urnic(*words, "-o", path)
        root = ElementTree.parse(path).getroot()
        self.assertEqual(root.tag, f"{SVG}svg")
        self.assertEqual(root.get("role"), "img")
        labels = root.get("aria-labelledby").split()
        self.assertEqual(labels, [root.find(f"{SVG}title").get("id"), root.find(f"{SVG}desc").get("id")])
        self.assertIn("prefers-color-scheme:dark", root.find(f"{SVG}style").text)
        return root

    def test_a_ladder_as_text(self):
        for words, cross, heavy in (((), "✕", "═"), (("--ascii",), "x", "=")):
            drawn = self.urnic("ladder", self.capture, "--width", "150", *words).splitlines()
            self.assertEqual(len(drawn), 1 + len(self.packets))
            for packet, line in zip(self.packets, drawn[1:]):
                number = re.search(r"(?:├|┤|\||─|═|-|=|▶|◀|<|>) (\d+) ", line)[1]
                self.assertEqual(int(number), packet["number"])
                if cross == "✕":
                    self.assertEqual(cross in line, "lost" in packet["verdicts"], line)
                    self.assertEqual(heavy in line, "retransmission" in packet["verdicts"], line)
            self.assertLessEqual(max(map(len, drawn)), 150)

    def test_part_of_a_ladder(self):
        first = [line.split()[0] for line in self.urnic("ladder", self.capture, "--width", "150").splitlines()[1:]]
        middle = first[len(first) // 2]
        unit = self.urnic("ladder", self.capture, "--width", "150").splitlines()[1].split()[1]
        some = self.urnic("ladder", self.capture, "--width", "150", "--from", middle + unit).splitlines()[1:]
        self.assertTrue(0 < len(some) <= len(first) - len(first) // 2 + 1)

    def test_a_ladder_as_svg(self):
        root = self.svg("ladder", self.capture)
        arrows = [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}title") is not None]
        self.assertEqual(len(arrows), len(self.packets))
        for packet, arrow in zip(self.packets, arrows):
            self.assertTrue(arrow.find(f"{SVG}title").text.startswith(f"{packet['number']} "))
            lost = any(path.get("class") == "cross" for path in arrow.iter(f"{SVG}path"))
            self.assertEqual(lost, "lost" in packet["verdicts"])
        self.assertIn(f"of which {sum(DROPS.values())} are lost", root.find(f"{SVG}desc").text)

    def test_a_plot(self):
        root = self.svg("plot", self.capture)
        self.assertIn(f"{sum(DROPS.values())} lost", root.find(f"{SVG}desc").text)
        crosses = next(path for path in root.iter(f"{SVG}path") if path.get("class") == "mark lost" and path.find(f"{SVG}title") is not None)
        self.assertEqual(crosses.get("d").count("M"), sum(DROPS.values()))
        self.assertEqual(self.svg("plot", self.capture, "--width", "500").get("width"), "500")

    def test_rates(self):
        root = self.svg("plot", "--rate", self.capture)
        self.assertIn(f"{sum(DROPS.values())} lost packets", root.find(f"{SVG}desc").text)
        again = sum("retransmission" in packet["verdicts"] for packet in self.packets if "Write" in packet["opcode"])
        self.assertIn(f"{again} that were sent again", root.find(f"{SVG}desc").text)
        flows = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "title"]
        self.assertEqual([" to 192.0.2.2 QP" in flow for flow in flows], [True])
        rate = next(path for path in root.iter(f"{SVG}path") if path.get("class") == "rate" and path.find(f"{SVG}title") is not None)
        self.assertGreater(rate.get("d").count("V"), 1)
        coarse = self.svg("plot", "--rate", "--interval", "100s", self.capture)
        steps = next(path for path in coarse.iter(f"{SVG}path") if path.get("class") == "rate" and path.find(f"{SVG}title") is not None)
        self.assertEqual(steps.get("d").count("V"), 1)

    def test_a_file_on_standard_input(self):
        piped = self.fabric.run("bash", "-c", f"{self.fabric.urnic} ladder --svg - < {self.capture}")
        self.assertEqual(ElementTree.fromstring(piped).tag, f"{SVG}svg")

    def test_a_file_that_was_cut(self):
        data = (self.fabric.home / "lossy.pcapng").read_bytes()
        cut = self.fabric.home / "cut.pcapng"
        cut.write_bytes(data[:-5])
        said = self.urnic("trace", cut)
        self.assertIn("ends within a record", said)


class Wireshark(Pictures):
    """The rest needs a display; Wireshark itself is played by a program that keeps what it gets."""

    def setUp(self):
        super().setUp()
        self.programs = self.fabric.home / "programs"
        self.programs.mkdir(mode=0o755)
        self.kept = self.fabric.home / "kept.pcapng"

    def environment(self, **more):
        path = self.fabric.environment["PATH"]
        return {"PATH": f"{self.programs}:{path}", "XDG_CONFIG_HOME": "", **more}

    def pretend(self, text):
        program = self.programs / "wireshark"
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)

    def run_with_wireshark(self, *words, status=0, **environment):
        return self.fabric.run(self.fabric.urnic, "run", "--wireshark", "--", *words, status=status,
                               environment=self.environment(DISPLAY=":77", **environment))

    def tshark(self, *words, home=True):
        environment = {**os.environ, "XDG_CONFIG_HOME": "", **({"HOME": str(self.fabric.home)} if home else {})}
        result = subprocess.run(["tshark", *words], env=environment, capture_output=True, text=True, check=True)
        self.assertNotRegex(result.stderr.replace("Running as user", ""), r"(?i)lua|color|prefer|filter")
        return result.stdout

    def test_run_opens_a_live_capture(self):
        self.pretend(f'echo "$@" > {self.kept}.arguments; exec cat > {self.kept}')
        self.run_with_wireshark(self.fabric.verbs_program("verbs_atomics"))
        fabric.wait_until(lambda: "Atomic Acknowledge" in self.tshark("-r", str(self.kept), home=False), "all packets")
        points = set(self.tshark("-r", str(self.kept), "-T", "fields", "-e", "frame.interface_name", home=False).split())
        self.assertEqual(points, {"urnic0/before", "urnic1/before"})
        arguments = (self.fabric.home / "kept.pcapng.arguments").read_text()
        self.assertTrue(arguments.startswith("-k -i - "), arguments)
        self.assertIn("urnic.lua", arguments)

    def test_a_window_that_is_closed_keeps_no_program_from_running(self):
        self.pretend("exec head -c 2000 > /dev/null")
        said = self.run_with_wireshark(self.fabric.verbs_program("verbs_order"))
        self.assertIn("the capture for Wireshark ended early", said)

    def test_without_a_display_a_pipe_is_written(self):
        port = fabric.free_port()
        running = self.fabric.start(self.fabric.urnic, "run", "--wireshark", "--", "ibv_devices",
                                    environment={"DISPLAY": "", "WAYLAND_DISPLAY": ""})
        running.wait_for_output("wireshark -k -i ")
        pipe = re.search(r"wireshark -k -i (\S+)", running.output())[1]
        self.assertNotIn("urnic0", running.output().replace(pipe, ""))
        self.fabric.run("bash", "-c", f"cat {pipe} > {self.kept}")
        self.assertEqual(running.wait(), 0, str(running))
        self.assertIn("urnic0", running.output().replace(pipe, ""))
        self.assertGreater(self.kept.stat().st_size, 100)
        self.assertFalse(os.path.exists(pipe))

    def test_dissector_and_profile_are_installed_and_removed(self):
        environment = {"XDG_CONFIG_HOME": ""}
        said = self.fabric.run(self.fabric.urnic, "wireshark", "install", environment=environment)
        self.assertIn(".config/wireshark/profiles/urnic", said)
        self.fabric.run(self.fabric.urnic, "wireshark", "install", environment=environment)
        capture = self.path("lossy.pcapng")
        self.traffic(capture, {4: 1})
        columns = self.tshark("-C", "urnic", "-r", capture)
        self.assertIn('urnic0/dropped', columns)
        self.assertIn('rule "drop 4 1": dropped', columns)
        self.assertIn("Selective Acknowledge [missing", columns)
        self.pretend(f'echo "$@" > {self.kept}.arguments; exec cat > {self.kept}')
        self.run_with_wireshark("true")
        fabric.wait_until((self.fabric.home / "kept.pcapng.arguments").exists, "Wireshark")
        fabric.wait_until(lambda: "-C urnic" in (self.fabric.home / "kept.pcapng.arguments").read_text(), "its profile")
        self.fabric.run(self.fabric.urnic, "wireshark", "remove", environment=environment)
        self.assertEqual(list(self.fabric.home.rglob("urnic.lua")), [])
        said = self.fabric.run(self.fabric.urnic, "wireshark", "remove", environment=environment, status=1)
        self.assertIn("nothing", said)


if __name__ == "__main__":
    unittest.main()
