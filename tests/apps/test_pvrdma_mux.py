#!/usr/bin/python3
"""urnic pvrdma-mux, asked as QEMU asks it; a device without connection management. Guests themselves: tests/interop."""

import json
import re
import stat
import struct
import unittest

import fabric

CONFIGURATION = """
[[devices]]
max_qp = 1024
connection_manager = false
[[devices]]
"""
# What QEMU would do. Answers go to stdout as hexadecimal lines.
QEMU = '''
import socket, struct, sys
mux = socket.socket(socket.AF_UNIX)
mux.connect(sys.argv[1])
mux.settimeout(60)
for line in sys.stdin:
    words = line.split()
    if words[0] == "send":
        mux.sendall(bytes.fromhex(words[1]))
    for _ in range(int(words[-1])):
        answer = b""
        while len(answer) < 360:
            part = mux.recv(360 - len(answer))
            if not part:
                print("closed", flush=True)
                sys.exit()
            answer += part
        print(answer.hex(), flush=True)
'''
GUEST = bytes.fromhex("fe800000000000000000000000000077")
REGISTER, UNREGISTER, MAD = range(3)
REQ, REJ = 0x10, 0x12


def message(operation, own, mad=b""):
    """A request to the mux (tools/pvrdma_mux/mux_message.hpp)."""
    return struct.pack("=II16sIII64s256s4x", 0, operation, own, 0, 0, len(mad), bytes(64), mad)


def request_for_communication(peer):
    """A REQ to `peer` for a port on which nobody listens (IBTA 12.6.5)."""
    header = struct.pack(">BBBBHHQHHI", 1, 7, 2, 3, 0, 0, 0x1234, REQ, 0, 0)
    body = bytearray(232)
    struct.pack_into(">I", body, 0, 0x77)  # the guest's communication id
    struct.pack_into(">Q", body, 8, 0x0000000001060000 | 7)  # service id: TCP port 7
    struct.pack_into(">I", body, 32, 0x000123 << 8)  # QPN
    struct.pack_into(">I", body, 44, 0x000100 << 8)  # first PSN
    struct.pack_into(">HBB", body, 48, 0xFFFF, 0x30, 0xF0)  # P_Key, path MTU 1024, CM retries
    body[56:72], body[72:88] = GUEST, peer
    body[93] = 64  # hop limit
    return header + bytes(body)


class PvrdmaMux(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up(CONFIGURATION)
        self.path = self.fabric.home / "mux"
        self.mux = self.fabric.start(self.fabric.urnic, "pvrdma-mux", "--socket", self.path)
        self.mux.wait_for_output("find the mux at")

    def gids(self, device="urnic0"):
        return list(json.loads(self.fabric.run(self.fabric.urnic, "gid", "show", device, "--json"))[device].values())

    def ask(self, *requests):
        """Sends requests, each with the number of answers to wait for; all answers. The connection ends then."""
        lines = "\n".join(f"send {sent.hex()} {answers}" for sent, answers in requests)
        file = self.fabric.home / "requests"
        file.write_text(lines + "\n")
        file.chmod(0o644)
        said = self.fabric.run("sh", "-c", f"python3 -c '{QEMU}' {self.path} < {file}").split()
        return [bytes.fromhex(line) if line != "closed" else None for line in said]

    @staticmethod
    def status(answer):
        """The answer's type, operation and status."""
        return *struct.unpack_from("=II", answer), struct.unpack_from("=I", answer, 24)[0]

    def test_its_socket_is_this_users(self):
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o700)

    def test_addresses_come_and_go(self):
        before = self.gids()
        answers = self.ask((message(REGISTER, GUEST), 1), (message(REGISTER, GUEST), 1), (message(UNREGISTER, GUEST), 1),
                           (message(UNREGISTER, GUEST), 1), (message(7, GUEST), 1))
        self.assertEqual([self.status(one)[2] for one in answers], [0, 0, 0, 4, 1])
        self.assertIn("fe80::77 is a guest's", self.mux.output())
        self.assertEqual(self.gids(), before)
        self.ask((message(REGISTER, GUEST), 1))
        fabric.wait_until(lambda: self.gids() == before, "the addresses as before, when the guest has gone")

    def test_an_address_of_the_device_stays(self):
        own = self.gids()[0]
        raw = bytes.fromhex("fe80000000000000007572fffe6e0000")
        self.assertEqual(own, "fe80::75:72ff:fe6e:0")
        self.ask((message(REGISTER, raw), 1))
        self.mux.wait_for_output("is no guest's any more")
        self.assertIn(own, self.gids())

    def test_a_request_gets_its_answer_from_the_peer(self):
        """Nobody listens there: the host's connection manager rejects it with reason 8, invalid service ID."""
        peer = bytes.fromhex("fe80000000000000007572fffe6e0001")
        _, sent, arrived = self.ask((message(REGISTER, GUEST), 1), (message(MAD, GUEST, request_for_communication(peer)), 2))
        self.assertEqual(self.status(sent), (1, MAD, 0))
        self.assertEqual(self.status(arrived), (0, MAD, 0))
        self.assertEqual(arrived[8:24], GUEST)
        self.assertEqual(arrived[36 + 36:36 + 52], peer)
        mad = arrived[100:]
        self.assertEqual(struct.unpack_from(">H", mad, 16)[0], REJ)
        self.assertEqual(struct.unpack_from(">I", mad, 24 + 4)[0], 0x77)
        self.assertEqual(struct.unpack_from(">H", mad, 24 + 10)[0], 8)

    def test_messages_of_others_are_refused(self):
        """Without its address, and those that answer nothing."""
        peer = bytes.fromhex("fe80000000000000007572fffe6e0001")
        rtu = struct.pack(">BBBBHHQHHIII", 1, 7, 2, 3, 0, 0, 1, 0x14, 0, 0, 5, 6) + bytes(224)
        answers = self.ask((message(MAD, GUEST, request_for_communication(peer)), 1), (message(REGISTER, GUEST), 1),
                           (message(MAD, GUEST, rtu), 1), (message(MAD, GUEST, bytes(range(256))), 1))
        self.assertEqual([self.status(one)[2] for one in answers], [3, 0, 4, 4])

    def test_it_takes_back_what_it_gave_and_its_socket(self):
        before = self.gids()
        guest = self.fabric.start("sh", "-c", f"(echo send {message(REGISTER, GUEST).hex()} 1; sleep 60) | python3 -c '{QEMU}' {self.path}")
        fabric.wait_until(lambda: "fe80::77" in self.gids(), "the guest's address")
        self.fabric.run("sh", "-c", "kill -TERM $(pgrep -P %d)" % self.mux.pid)
        self.mux.wait()
        guest.kill()
        self.assertEqual(self.gids(), before)
        self.assertFalse(self.path.exists())

    def test_an_address_that_somebody_else_removes_does_it_no_harm(self):
        guest = self.fabric.start("sh", "-c", f"(echo send {message(REGISTER, GUEST).hex()} 1; sleep 60) | python3 -c '{QEMU}' {self.path}")
        fabric.wait_until(lambda: "fe80::77" in self.gids(), "the guest's address")
        self.fabric.run(self.fabric.urnic, "gid", "remove", "urnic0", "fe80::77")
        guest.kill()
        self.mux.wait_for_output("fe80::77 is no guest's any more")
        self.test_addresses_come_and_go()

    def test_a_second_mux_is_refused(self):
        other = self.fabric.start(self.fabric.urnic, "pvrdma-mux", "--socket", self.fabric.home / "other")
        self.assertEqual(other.wait(), 1)
        self.assertIn("messages of connection management", other.output())

    def test_not_without_the_setting(self):
        other = self.fabric.start(self.fabric.urnic, "pvrdma-mux", "--device", "urnic1", "--socket", self.fabric.home / "other")
        self.assertEqual(other.wait(), 1)
        self.assertIn("messages of connection management", other.output())

    def test_a_file_in_its_place_stays(self):
        file = self.fabric.home / "file"
        file.write_text("precious")
        other = self.fabric.start(self.fabric.urnic, "pvrdma-mux", "--socket", file)
        self.assertNotEqual(other.wait(), 0)
        self.assertEqual(file.read_text(), "precious")

    def test_rdma_cm_does_without_the_device(self):
        refused = self.fabric.start_on_urnic("rping", "-s", "-a", "192.0.2.1", "-C", "1")
        self.assertNotEqual(refused.wait(), 0)
        self.assertIn("rdma_bind_addr", refused.output())
        server = self.fabric.start_on_urnic("rping", "-s", "-a", "192.0.2.2", "-C", "3")
        fabric.wait_until(lambda: self.fabric.status()["rdma_cm"]["listeners"], "a listener")
        self.fabric.run_on_urnic("rping", "-c", "-a", "192.0.2.2", "-C", "3")
        self.assertEqual(server.wait(), 0)

    def test_the_limit_of_queue_pairs_is_the_devices(self):
        said = self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic0")
        self.assertRegex(said, r"max_qp:\s+1024\b")
        self.assertRegex(self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic1"), r"max_qp:\s+65536\b")
        limits = {device["name"]: device["limits"]["max_qp"] for device in self.fabric.status()["devices"]}
        self.assertEqual((limits["urnic0"], limits["urnic1"]), (1024, 65536))

    def test_queue_pairs_have_numbers_below_the_limit(self):
        """The guest's driver keeps them in a table by their numbers, and does not look whether those are too large."""
        pingpong = ("ibv_rc_pingpong", "-d", "urnic0", "-g", "0", "-n", "10")
        said = "".join(text for _ in range(3) for text in self.fabric.run_pair(pingpong, pingpong))
        numbers = [int(number, 16) for number in re.findall(r"QPN (0x[0-9a-f]+)", said)]
        self.assertLess(max(numbers), 1024)


if __name__ == "__main__":
    unittest.main()
