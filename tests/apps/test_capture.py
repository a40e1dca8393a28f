#!/usr/bin/python3
"""Captures: Wireshark and urnic's own parser find every frame right, and the file is whole however the capture
ended."""

import json
import os
import re
import signal
import subprocess
import unittest

import fabric

# tshark 4.0 takes some payloads for RPC-over-RDMA, SMB Direct, Ethernet or another protocol, and then calls them
# malformed (a verbs_order payload that begins with 0x9000 becomes "LOOP"). The test turns these guesses off. RoCE
# itself is no guess.
GUESSES = ("rpcrdma_infiniband", "smb_direct_infiniband", "eth_over_ib", "mellanox_eoib", "nvme_rdma", "lnet_ib",
           "iser_infiniband", "sdp_infiniband", "fc_infiniband", "smcr_infiniband")
TSHARK = ("tshark", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
          *(word for guess in GUESSES for word in ("--disable-heuristic", guess)))


def tshark(path, *options):
    result = subprocess.run([*TSHARK, "-r", path, *options], capture_output=True, text=True, timeout=300, check=False)
    # tshark reports on stderr a file that ends within a record.
    complaints = [line for line in result.stderr.splitlines() if "Running as user" not in line]
    if result.returncode != 0 or complaints:
        raise AssertionError(f"tshark says: {result.stderr}")
    return result.stdout


class Capture(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def path(self, name="capture.pcap"):
        return str(self.fabric.home / name)

    def check(self, path, least_frames=1):
        """Checks what must hold for every capture. Returns the summary of check_capture."""
        checked = self.fabric.run(self.fabric.verbs_program("check_capture"), path)
        found = json.loads(checked.splitlines()[-1])
        self.assertGreaterEqual(found["frames"], least_frames)
        wrong = tshark(path, "-Y", "!infiniband || _ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0",
                       "-c", "100000")
        self.assertEqual(wrong, "", "frames that are not RoCE or not right, as tshark sees it")
        protocols = set(tshark(path, "-T", "fields", "-e", "_ws.col.Protocol", "-c", "20000").split())
        self.assertEqual(protocols, {"RRoCE"})
        return found

    def pingpong(self, prefix, *options):
        """A pingpong; the server's command line begins with `prefix`."""
        port = fabric.free_port()
        common = ("ibv_rc_pingpong", "-g", "1", "-c", "-p", port, *options)
        server = self.fabric.start(*prefix, *common, "-d", "urnic0")
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a server: {server}")
        client = self.fabric.start_on_urnic(*common, "-d", "urnic1", "127.0.0.1")
        self.assertEqual((client.wait(), server.wait()), (0, 0), f"{client}\n{server}")

    def start_capture(self, path, *options):
        """Starts `urnic capture` and waits until it captures."""
        capture = self.fabric.start(self.fabric.urnic, "capture", *options, path)
        capture.wait_for_output("capturing")
        return capture

    def test_run_with_capture(self):
        path = self.path()
        self.pingpong((self.fabric.urnic, "run", "--capture", path, "--"))
        found = self.check(path, 2000)
        # 1,000 messages of 4,096 bytes each way at path MTU 1024: first, two in the middle, last.
        self.assertEqual({name: found["opcodes"].get(name) for name in ("0x00", "0x01", "0x02")},
                         {"0x00": 2000, "0x01": 4000, "0x02": 2000})
        self.assertGreater(found["opcodes"]["0x11"], 0)

    def test_one_device_sends_over_the_wire_too(self):
        path = self.path()
        self.fabric.up()
        capture = self.start_capture(path)
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0", "-s", "64"),
                             ("ibv_rc_pingpong", "-g", "1", "-d", "urnic0", "-s", "64"))
        os.kill(capture.pid, signal.SIGINT)
        self.assertEqual(capture.wait(), 0, str(capture))
        self.assertEqual(self.check(path)["opcodes"]["0x04"], 2000)

    def test_every_opcode(self):
        path = self.path()
        for name in ("verbs_atomics", "verbs_order"):
            self.fabric.run(self.fabric.urnic, "run", "--capture", path, "--", self.fabric.verbs_program(name))
            found = self.check(path)
            wanted = {"verbs_atomics": {"0x12", "0x13", "0x14", "0x17"},
                      "verbs_order": {"0x00", "0x01", "0x02", "0x03", "0x04", "0x05", "0x06", "0x07", "0x08", "0x09",
                                      "0x0a", "0x0b", "0x0c", "0x0d", "0x0e", "0x0f", "0x10", "0x11"}}[name]
            self.assertLessEqual(wanted, set(found["opcodes"]))

    def test_timestamps_and_addresses_as_tshark_sees_them(self):
        path = self.path()
        self.pingpong((self.fabric.urnic, "run", "--capture", path, "--"), "-n", "100")
        fields = ("frame.time_epoch", "ip.src", "ip.dst", "udp.dstport", "infiniband.bth.psn", "udp.checksum")
        lines = [line.split("\t") for line in tshark(path, "-T", "fields", *(word for field in fields
                                                                              for word in ("-e", field))).splitlines()]
        times = [tuple(map(int, line[0].split("."))) for line in lines]
        self.assertEqual(times, sorted(set(times)), "timestamps must rise")
        self.assertTrue(all(re.fullmatch(r"\d+\.\d{9}", line[0]) for line in lines))
        self.assertEqual({line[1] for line in lines}, {"192.0.2.1", "192.0.2.2"})
        self.assertTrue(all(line[1] != line[2] and line[3] == "4791" for line in lines))

    def test_services_without_acknowledgements(self):
        """Datagrams with their DETH, over IPv4 and IPv6; unreliable connections, which have no acknowledgements."""
        self.fabric.up()
        path = self.path()
        capture = self.start_capture(path)
        for program, gid in (("ibv_ud_pingpong", "0"), ("ibv_ud_pingpong", "1"), ("ibv_uc_pingpong", "1")):
            common = (program, "-g", gid, "-n", "50", "-s", "1000")
            self.fabric.run_pair((*common, "-d", "urnic0"), (*common, "-d", "urnic1"))
        os.kill(capture.pid, signal.SIGINT)
        self.assertEqual(capture.wait(), 0, str(capture))
        self.assertEqual(self.check(path)["opcodes"], {"0x64": 200, "0x24": 100})
        fields = ("ip.src", "infiniband.deth.q_key", "infiniband.deth.srcqp", "infiniband.bth.destqp")
        datagrams = [line.split("\t") for line in tshark(
            path, "-Y", "infiniband.deth", "-T", "fields",
            *(word for field in fields for word in ("-e", field))).splitlines()]
        self.assertEqual([sum(line[0] == source for line in datagrams) for source in ("192.0.2.1", "192.0.2.2", "")],
                         [50, 50, 100])
        # The program's own Q_Key. The QPs that send are the QPs that receive.
        self.assertEqual({int(line[1], 0) for line in datagrams}, {0x11111111})
        self.assertEqual({int(line[2], 0) for line in datagrams}, {int(line[3], 0) for line in datagrams})

    def pingpongs(self, gids, programs=("ibv_rc_pingpong",)):
        """Captures pingpongs of each program with each GID index; returns the capture's path."""
        self.fabric.up()
        path = self.path()
        capture = self.start_capture(path)
        for program in programs:
            for gid in gids:
                common = (program, "-g", gid, "-n", "10", "-s", "1000")
                self.fabric.run_pair((*common, "-d", "urnic0"), (*common, "-d", "urnic1"))
        os.kill(capture.pid, signal.SIGINT)
        self.assertEqual(capture.wait(), 0, str(capture))
        return path

    def test_hop_limit_is_the_routes(self):
        """The pingpongs ask for a hop limit of 1; like Linux, urnic sends the route's instead (docs/wire-format.md)."""
        path = self.pingpongs(("0", "1"), ("ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong"))
        self.check(path, 120)
        limits = [line.split("\t") for line in tshark(path, "-T", "fields", "-e", "ip.ttl", "-e", "ipv6.hlim").splitlines()]
        self.assertEqual({tuple(line) for line in limits}, {("64", ""), ("", "64")})

    def test_false_alarm_over_ipv6_goes_by_the_option_that_the_docs_name(self):
        path = self.pingpongs(("0",))
        alarm = ("-Y", "ipv6 && _ws.expert", "-T", "fields", "-e", "_ws.expert.message")
        self.assertEqual(set(tshark(path, *alarm).splitlines()), {"Illegal checksum value (0)"})
        self.assertEqual(tshark(path, "-o", "udp.ignore_ipv6_zero_checksum:TRUE", *alarm), "")

    def test_of_one_device(self):
        path = self.path()
        self.fabric.up()
        capture = self.start_capture(path, "--device", "urnic1")
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"))
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0", "-n", "10", "-s", "8"),
                             ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1", "-n", "10", "-s", "8"))
        os.kill(capture.pid, signal.SIGINT)
        self.assertEqual(capture.wait(), 0, str(capture))
        self.assertEqual(self.check(path)["opcodes"]["0x04"], 20)

    def test_ended_by_the_end_of_the_program(self):
        """Nothing is missing at the end: the last frame is the last acknowledgement."""
        path = self.path()
        self.fabric.run(self.fabric.urnic, "run", "--capture", path, "--", self.fabric.verbs_program("verbs_many"))
        found = self.check(path)
        self.assertEqual(found["opcodes"]["0x00"], 10000)
        self.assertEqual(found["opcodes"]["0x02"], 10000)

    def ended_while_frames_come(self, end, path=None, check=None):
        """Ends a capture with `end` in the middle of traffic."""
        self.fabric.up()
        path = path or self.path()
        capture = self.start_capture(path)
        busy = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_neighbour"))
        busy.wait_for_output("running")
        fabric.wait_until(lambda: os.path.getsize(path) > 1 << 20, "a megabyte captured")
        end(capture)
        status = capture.wait()
        busy.kill()
        if check:
            check(path)
        else:
            self.check(path, 100)
        return status, capture.output()

    def test_ended_by_interrupt(self):
        status, said = self.ended_while_frames_come(lambda capture: os.kill(capture.pid, signal.SIGINT))
        self.assertEqual(status, 0)
        self.assertRegex(said, r"\d+ frames captured, 0 lost")

    def test_ended_by_terminate(self):
        status, _ = self.ended_while_frames_come(lambda capture: os.kill(capture.pid, signal.SIGTERM))
        self.assertEqual(status, 0)

    def test_ended_by_the_end_of_the_device_process(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(how):
                status, said = self.ended_while_frames_come(lambda _, how=how: os.kill(self.fabric.device_process(), how))
                self.assertEqual(status, 1)
                self.assertIn("the device process ended", said)

    def test_killed_itself(self):
        """The kernel may end a write of many records within a record. All records before it are whole."""
        def check(path):
            program = self.fabric.start(self.fabric.verbs_program("check_capture"), path)
            program.wait()
            lines = program.output().splitlines()
            found = json.loads(next(line for line in lines if line.startswith("{")))
            self.assertGreaterEqual(found["frames"], 100)
            for fault in (line for line in lines if line.startswith("frame ")):
                self.assertIn("truncated dump file", fault)
            self.assertLessEqual(found["faults"], 1)
        status, _ = self.ended_while_frames_come(lambda capture: os.kill(capture.pid, signal.SIGKILL), check=check)
        self.assertEqual(status, -signal.SIGKILL)

    def test_on_standard_output(self):
        self.fabric.up()
        capture = self.fabric.start("sh", "-c", f"exec {self.fabric.urnic} capture - >{self.path()}")
        capture.wait_for_output("capturing")
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1"))
        os.kill(capture.pid, signal.SIGINT)
        self.assertEqual(capture.wait(), 0, str(capture))
        self.check(self.path(), 4000)
        self.fabric.run(self.fabric.urnic, "capture", "--json", "-", status=2)

    def test_numbers_as_json(self):
        self.fabric.up()
        capture = self.fabric.start(self.fabric.urnic, "capture", "--json", self.path())
        fabric.wait_until(lambda: self.fabric.status()["captures"] == 1 or capture.status is not None, "a capture")
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1"))
        os.kill(capture.pid, signal.SIGINT)
        self.assertEqual(capture.wait(), 0, str(capture))
        said = json.loads(capture.output())
        self.assertEqual(said["file"], self.path())
        self.assertEqual(said["dropped"], 0)
        self.assertEqual(said["frames"], self.check(self.path())["frames"])

    def check_points(self, path):
        """Checks a pcapng file with each frame before and after its link, when the links changed nothing. Returns each
        interface's frames."""
        wrong = tshark(path, "-Y", "!infiniband || _ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0",
                       "-c", "100000")
        self.assertEqual(wrong, "", "frames that are not RoCE or not right, as tshark sees it")
        lines = [line.split("\t") for line in tshark(
            path, "-T", "fields", "-e", "frame.interface_name", "-e", "frame.time_epoch", "-e", "ip.src", "-e", "ip.dst",
            "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.psn", "-e", "_ws.col.Protocol", "-e",
            "frame.comment").splitlines()]
        self.assertEqual({line[6] for line in lines}, {"RRoCE"})
        self.assertEqual({line[7] for line in lines}, {""}, "comments on frames that nothing touched")
        times = [tuple(map(int, line[1].split("."))) for line in lines]
        self.assertEqual(times, sorted(set(times)), "timestamps must rise")
        self.assertTrue(all(re.fullmatch(r"\d+\.\d{9}", line[1]) for line in lines))
        devices = {"192.0.2.1": "urnic0", "192.0.2.2": "urnic1"}
        frames = {}
        for line in lines:
            frames.setdefault(line[0], []).append(line[2:6])
            device, point = line[0].split("/")
            self.assertEqual(device, devices[line[2] if point == "before" else line[3]])
        return {interface: sorted(those) for interface, those in frames.items()}

    def test_pcapng_with_every_point(self):
        path = self.path("capture.pcapng")
        self.pingpong((self.fabric.urnic, "run", "--capture", path, "--"), "-n", "200")
        frames = self.check_points(path)
        # On perfect links every frame that is sent arrives, and none is dropped.
        self.assertEqual(set(frames), {"urnic0/before", "urnic0/after", "urnic1/before", "urnic1/after"})
        self.assertEqual(frames["urnic0/before"], frames["urnic1/after"])
        self.assertEqual(frames["urnic1/before"], frames["urnic0/after"])
        self.assertGreaterEqual(len(frames["urnic0/before"]), 800)  # 200 messages of 4 packets

    def test_comments_say_what_the_weather_did(self):
        weather = self.fabric.home / "weather.toml"
        weather.write_text("""[device]
recovery = "sack"

[[link]]
device = "urnic1"
loss = 0.05
duplicate = 0.02
reorder = 0.05
corrupt = 0.01
""", encoding="utf-8")
        path = self.path("weather.pcapng")
        # Both ends of ib_send_bw stay until both are done. A pingpong's server may end although the ACK for the
        # client's last message was lost, and then cannot send another.
        common = ("ib_send_bw", "-F", "-x", "1", "-n", "1000", "-s", "4096", "-p", fabric.free_port())
        server = self.fabric.start(self.fabric.urnic, "run", "--config", weather, "--capture", path, "--", *common, "-d",
                                   "urnic0")
        fabric.wait_until(lambda: fabric.is_listening(common[-1]) or server.status is not None, f"a server: {server}")
        client = self.fabric.start_on_urnic(*common, "-d", "urnic1", "127.0.0.1")
        self.assertEqual((client.wait(), server.wait()), (0, 0), f"{client}\n{server}")
        lines = [line.split("\t") for line in tshark(
            path, "-T", "fields", "-e", "frame.interface_name", "-e", "_ws.col.Protocol", "-e", "_ws.malformed", "-e",
            "frame.comment").splitlines()]
        points = {"before": [], "after": [], "dropped": []}
        for interface, protocol, malformed, comment in lines:
            points[interface.split("/")[1]].append(comment)
            if "inverted" not in comment:
                self.assertEqual((protocol, malformed), ("RRoCE", ""))
        self.assertEqual(set(points["before"]), {""}, "nothing has touched a packet before its link")
        for comment in points["dropped"]:
            self.assertRegex(comment, "urnic1.*lost", "a packet was dropped, and nobody says why")
        self.assertGreater(len(points["dropped"]), 0)
        for remark in ("duplicated by chance", "held behind", "inverted by chance"):
            self.assertTrue([comment for comment in points["after"] if remark in comment], remark)
        # 5 % of the packets are lost, 2 % arrive twice, and most arrive unchanged.
        twice = sum("duplicated by chance" in comment for comment in points["after"])
        self.assertEqual(twice % 2, 0)
        self.assertEqual(len(points["before"]), len(points["after"]) - twice // 2 + len(points["dropped"]))
        self.assertGreater(points["after"].count(""), len(points["after"]) / 2)

    def test_cut_packets(self):
        for name in ("cut.pcap", "cut.pcapng"):
            path = self.path(name)
            self.pingpong((self.fabric.urnic, "run", "--capture", path, "--snaplen", "128", "--"), "-s", "4000", "-n", "100")
            lengths = {tuple(map(int, line.split())) for line in
                       tshark(path, "-T", "fields", "-e", "frame.cap_len", "-e", "frame.len").splitlines()}
            whole = {length for _, length in lengths}
            self.assertEqual(lengths, {(min(length, 128), length) for length in whole})
            self.assertGreater(max(whole), 1024)
            self.assertEqual(tshark(path, "-Y", "!infiniband || _ws.malformed"), "")
            trace = self.fabric.run(self.fabric.urnic, "trace", path)
            self.assertIn("captured in part", trace)
            self.assertNotIn("ICRC", trace)
        said = self.fabric.run(self.fabric.urnic, "capture", "--snaplen", "63", path, status=2)
        self.assertIn("64", said)

    def test_one_point(self):
        self.fabric.up()
        for name, point in (("capture.pcapng", "after"), ("capture.pcap", "after")):
            with self.subTest(name):
                path = self.path(name)
                capture = self.start_capture(path, "--points", point)
                self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0", "-n", "100", "-s", "64"),
                                     ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1", "-n", "100", "-s", "64"))
                os.kill(capture.pid, signal.SIGINT)
                self.assertEqual(capture.wait(), 0, str(capture))
                if name.endswith("ng"):
                    self.assertEqual(set(self.check_points(path)), {"urnic0/after", "urnic1/after"})
                else:
                    self.assertEqual(self.check(path)["opcodes"]["0x04"], 200)

    def test_points_that_a_file_cannot_tell_apart(self):
        said = self.fabric.run(self.fabric.urnic, "run", "--capture", self.path(), "--points", "before,after", "--", "true",
                               status=125)
        self.assertIn("pcapng", said)
        self.assertFalse(os.path.exists(self.path()))
        said = self.fabric.run(self.fabric.urnic, "capture", "--points", "between", self.path(), status=2)
        self.assertIn("between", said)

    def test_pcapng_is_whole_however_it_ends(self):
        for number, end in enumerate((signal.SIGINT, signal.SIGTERM)):
            with self.subTest(end):
                self.ended_while_frames_come(lambda capture, end=end: os.kill(capture.pid, end),
                                             self.path(f"{number}.pcapng"), self.check_points)
        self.ended_while_frames_come(lambda _: os.kill(self.fabric.device_process(), signal.SIGKILL),
                                     self.path("9.pcapng"), self.check_points)

    def test_file_that_cannot_be_written(self):
        """If the file cannot be written, the program is not started."""
        marker = self.path("marker")
        said = self.fabric.run(self.fabric.urnic, "run", "--capture", "/nonexistent/a.pcap", "--", "touch", marker, status=125)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn("/nonexistent/a.pcap", said)
        self.assertFalse(os.path.exists(marker))


if __name__ == "__main__":
    unittest.main()
