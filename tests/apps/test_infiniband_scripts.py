#!/usr/bin/python3
"""Packet scripts live on InfiniBand: a script is a host of the fabric, which the subnet manager gives a LID. The peers are the
script agent's queue pairs and unmodified pingpongs; the managers are Debian's opensm and the built-in one."""

import json
import pathlib
import re
import shutil
import socket
import unittest

import fabric
from test_infiniband import OPENSM

SCRIPTS = pathlib.Path(__file__).resolve().parents[1] / "scripts"
FAILED = 1
PORT = '[[devices]]\nlink_layer = "infiniband"\n'
# What a pingpong tells its peer: LID, queue pair number, PSN, GID; without a GRH the GID is zero.
WORDS = "{lid:04x}:{qpn:06x}:{psn:06x}:{gid:032x}\0"
OWN_QPN, OWN_PSN = 0x123456, 7


def managed_by(manager, settings=""):
    return f'subnet_manager = "{manager}"\n{settings}{PORT}{PORT}'


class Live(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def up(self, manager="built_in", settings=""):
        self.fabric.up(managed_by(manager, settings))

    def write(self, text):
        file = self.fabric.home / "a.packets"
        file.write_text(f"link infiniband\n{text}")
        return file

    def script(self, *words, status=0):
        return self.fabric.run(self.fabric.urnic, "script", "--live", *words, status=status)

    def run_text(self, text, **values):
        return self.script("-v", *(word for name, value in values.items() for word in ("--set", f"{name}={value}")), self.write(text))

    def own_lid(self):
        """The LID of scripts: that of their host, which stays in the fabric when a script has ended."""
        self.script(self.write(""))
        station, = self.fabric.status()["subnet"]["stations"]
        self.assertEqual((station["host"], station["state"]), ("script", "active"))
        return station["lid"]

    def counters(self, device):
        return json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))[device]


class AllScripts(Live):
    def check_all(self):
        where = self.fabric.home / "scripts"
        shutil.copytree(SCRIPTS / "infiniband", where)
        shutil.copy(SCRIPTS / "examples" / "11-infiniband.packets", where)
        results = json.loads(self.script("--json", where))
        self.assertEqual([result for result in results if not result["passed"]], [])
        self.assertGreater(len(results), 5)
        fabric.wait_until(lambda: not self.fabric.status()["contexts"], "the end of all contexts")

    @unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
    def test_with_opensm(self):
        self.up("opensm")
        self.check_all()
        shown = self.fabric.run_on_urnic("ibhosts", "-C", "urnic0")
        self.assertEqual(len(re.findall('^Ca.*"script"$', shown, re.MULTILINE)), 1, shown)

    def test_with_the_built_in_manager_and_credits(self):
        self.up("built_in", '[fabric]\ncredits = true\nspeed = "SDR"\n')
        self.check_all()

    def test_a_script_starts_the_fabric_that_it_needs(self):
        self.assertIn("passed", self.script(self.write("qp a\n")))
        fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of the device process")


class Programs(Live):
    """Their server exchanges addresses over TCP; the test is its client there, and a script on the wire."""

    def serve(self, *command):
        """Starts a server that is told the script's address; returns (its program, the connection, what it says)."""
        lid, port = self.own_lid(), fabric.free_port()
        server = self.fabric.start_on_urnic(*command, "-d", "urnic1", "-n", 2, "-s", 64, "-p", port)
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a listening server: {server}")
        connection = self.enterContext(socket.create_connection(("127.0.0.1", port)))
        connection.sendall(WORDS.format(lid=lid, qpn=OWN_QPN, psn=OWN_PSN, gid=0).encode())
        said = connection.makefile("rb").read(len(WORDS.format(lid=0, qpn=0, psn=0, gid=0)))
        connection.sendall(b"done\0")
        return server, dict(zip(("lid", "number", "psn"), (int(word, 16) for word in said.decode().split(":")[:3])))

    def run_against(self, server, script, peer):
        values = (word for name, value in peer.items() for word in ("--set", f"{name}={value}"))
        self.script("--device", "urnic1", *values, self.write("let lid = 0\nlet number = 0\nlet psn = 0\n" + script))
        self.assertEqual(server.wait(), 0, server)
        self.assertIn("256 bytes in", server.output())

    def check_a_connection(self):
        """A hole is told by a NAK; an answer that is not acknowledged comes again after the local ACK timeout."""
        server, peer = self.serve("ibv_rc_pingpong")
        self.run_against(server, f"""
qp a attach=number peer_qpn={OWN_QPN} rq_psn={OWN_PSN} sq_psn=psn recovery=gbn
send a send_only psn={OWN_PSN + 1} payload=64
expect a ack psn={OWN_PSN} kind=nak code=psn_sequence slid=lid dlid=a.peer_lid
send a send_only psn={OWN_PSN} payload=64
expect a ack psn={OWN_PSN} kind=ack msn=1
expect a send_only psn=psn slid=lid payload_length=64
+60ms..3s expect a send_only psn=psn
send a ack psn=psn
send a send_only psn={OWN_PSN + 1} payload=64
expect a ack psn={OWN_PSN + 1} msn=2
expect a send_only psn=psn+1
send a ack
""", peer)

    @unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
    def test_a_connection_with_opensm(self):
        self.up("opensm")
        self.check_a_connection()

    def test_a_connection_with_the_built_in_manager(self):
        self.up()
        self.check_a_connection()

    def test_datagrams(self):
        self.up()
        server, peer = self.serve("ibv_ud_pingpong")
        self.run_against(server, f"""
qp a service=ud attach=number peer_qpn={OWN_QPN} qkey=0x11111111
repeat 2
  send a send_only payload=64
  expect a send_only slid=lid dlid=a.peer_lid srcqp=number payload_length=64
end
""", peer)

    def test_a_client_of_rping(self):
        """From the connection manager's REQ to its DREP, by queue pair 1."""
        self.up()
        lid, port = self.own_lid(), fabric.free_port()
        server = self.fabric.start_on_urnic("rping", "-s", "-a", "192.0.2.1", "-p", port)
        fabric.wait_until(lambda: "LISTEN" in self.fabric.run_on_urnic("rdma", "resource", "show", "cm_id"), f"a listener: {server}")
        text = self.fabric.copy_home("rping_client.packets").read_text()
        ports = self.fabric.status()["subnet"]
        for word, value in (("prim_locallid=0xffff", f"prim_locallid={lid}"), ("prim_remotelid=0xffff", f"prim_remotelid={ports['ports'][0]['lid']}"),
                            ("::ffff:192.0.2.153", ports["stations"][0]["gid"]), ("::ffff:192.0.2.1", ports["ports"][0]["gid"])):
            self.assertIn(word, text)
            text = text.replace(word, value)
        self.script("--set", f"port={port}", self.write(text))
        self.assertEqual(server.wait(), 0, server)
        self.assertIn("server DISCONNECT EVENT", server.output())


class OnTheWay(Live):
    def test_links_and_faults_act_and_captures_see(self):
        self.up()
        self.own_lid()
        file = self.fabric.home / "seen.pcapng"
        capture = self.fabric.start(self.fabric.urnic, "capture", file)
        fabric.wait_until(lambda: self.fabric.status()["captures"] == 1, "the capture")
        self.fabric.load_faults('[[fault]]\ndirection = "tx"\nopcode = "Acknowledge"\ncount = 1\naction = "drop"\n')
        self.run_text("mr m length=64\nqp a\nsend a write_only psn=100 payload=8\nquiet a 20ms\n"
                      "send a write_only psn=100 payload=8\nexpect a ack psn=100 msn=1\nmemory m[0, 8] = pattern(8)\n")
        capture.process.terminate()
        capture.wait()
        shown = self.fabric.run(self.fabric.urnic, "trace", file)
        self.assertEqual((len(re.findall("RC RDMA Write Only", shown)), len(re.findall("RC Acknowledge", shown))), (2, 2), shown)
        self.assertEqual(self.fabric.lost_by_faults(), 1)

    def test_two_scripts_are_two_hosts(self):
        self.up()
        waiting = self.fabric.start(self.fabric.urnic, "script", "--live", self.write("wait 1000s\n"))
        fabric.wait_until(lambda: self.fabric.status()["contexts"] or waiting.status is not None, f"a script that waits: {waiting}")
        self.assertIn("another script is the host script", self.script(self.write("qp a\n"), status=FAILED))
        self.script("--script-host", "other", self.write("qp a\n"))
        self.assertEqual([station["host"] for station in self.fabric.status()["subnet"]["stations"]], ["script", "other"])

    def test_a_fabric_without_a_manager(self):
        self.up("none", "[fabric]\n")
        said = self.script(self.write("qp a\n"), status=FAILED)
        self.assertIn("the ports of urnic0 (initialize) and of the script's host script (initialize) have to be active", said)
        self.assertIn("the fabric has no subnet manager: set subnet_manager in the configuration", said)

    def test_no_free_port_and_no_such_link(self):
        self.up("built_in", '[[fabric.switches]]\nname = "hub"\nports = 2\n')
        self.assertIn("no switch of the InfiniBand fabric has a free port for the host script",
                      self.script(self.write("qp a\n"), status=FAILED))
        on_ethernet = self.fabric.home / "ethernet.packets"
        on_ethernet.write_text("qp a\n")
        self.assertIn("left out: its link is ethernet, and the device process has no device with such a link", self.script(on_ethernet))


if __name__ == "__main__":
    unittest.main(verbosity=2)
