#!/usr/bin/python3
"""RDMA netlink: iproute2's `rdma`, and libibverbs, which finds devices by netlink, or by sysfs where there is none."""

import json
import os
import re
import unittest

import fabric

# Prints the index that libibverbs has for each device.
DEVICE_INDEX = """
import ctypes
verbs = ctypes.CDLL("libibverbs.so.1")
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
devices = verbs.ibv_get_device_list(None)
index = 0
while devices[index]:
    print(verbs.ibv_get_device_index(ctypes.c_void_p(devices[index])))
    index += 1
"""


class RdmaTool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up()

    def rdma(self, *words):
        return self.fabric.run_on_urnic("rdma", *words)

    def rdma_json(self, *words):
        return json.loads(self.rdma("-j", *words))

    def test_devices(self):
        rows = self.rdma_json("dev")
        self.assertEqual([(row["ifindex"], row["ifname"]) for row in rows], list(enumerate(fabric.DEVICES)))
        for row in rows:
            self.assertEqual(row["node_type"], "ca")
            folder = f"/sys/class/infiniband/{row['ifname']}"
            for key, file in (("node_guid", "node_guid"), ("sys_image_guid", "sys_image_guid"), ("fw", "fw_ver")):
                self.assertEqual(row[key], self.fabric.run_on_urnic("cat", f"{folder}/{file}").strip())
        details = self.rdma("-d", "dev", "show", "urnic1")
        self.assertRegex(details, r"1: urnic1: node_type ca .*fw [0-9.]+ node_guid")
        self.assertIn("adaptive-moderation off", details)
        shown = self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic1")
        for capability in ("MEM_WINDOW_TYPE_2B", "MEM_MGT_EXTENSIONS"):
            self.assertIn(capability, details)
            self.assertRegex(shown, rf"(?m)^\s+{capability}$")

    def test_links(self):
        rows = self.rdma_json("link", "show")
        self.assertEqual([(row["ifname"], row["port"]) for row in rows], [(name, 1) for name in fabric.DEVICES])
        for row in rows:
            self.assertEqual((row["state"], row["physical_state"]), ("ACTIVE", "LINK_UP"))
            self.assertEqual((row["netdev"], row["netdev_index"]), ("lo", 1))
        text = self.rdma("link", "show", "urnic0/1").strip()
        self.assertEqual(text, "link urnic0/1 state ACTIVE physical_state LINK_UP netdev lo")
        self.fabric.run(self.fabric.urnic, "link", "set", "urnic1", "state=down")
        down, = self.rdma_json("link", "show", "urnic1/1")
        self.fabric.run(self.fabric.urnic, "link", "set", "urnic1", "state=up")
        self.assertEqual((down["state"], down["physical_state"]), ("DOWN", "POLLING"))

    def test_system(self):
        self.assertRegex(self.rdma("system"), r"netns shared .*copy-on-fork on")

    def test_statistic(self):
        for row in self.rdma_json("statistic"):
            for name in ("out_of_sequence", "rx_write_requests", "local_ack_timeout_err"):
                file = f"/sys/class/infiniband/{row['ifname']}/ports/1/hw_counters/{name}"
                self.assertEqual(row[name], int(self.fabric.run_on_urnic("cat", file)))
        self.assertIn("link urnic1/1 ", self.rdma("statistic", "show", "link", "urnic1/1"))
        self.assertEqual(self.rdma("statistic", "qp", "show").strip(), "")
        self.assertIn("qp auto off", self.rdma("statistic", "qp", "mode"))
        self.rdma("statistic", "mode")

    def test_no_objects(self):
        for row in self.rdma_json("resource", "show"):
            self.assertEqual({row[kind] for kind in ("pd", "cq", "qp", "cm_id", "mr", "ctx", "srq")}, {0}, row)
        for kind in ("qp", "cq", "mr", "pd", "ctx", "srq", "cm_id"):
            self.assertEqual(self.rdma("resource", "show", kind).strip(), "", kind)

    def test_objects_of_running_programs(self):
        command = ("ib_send_bw", "-b", "-x", "1", "-q", "3", "-D", "30", "-d")  # both ways, so that both ends are in RTS
        pair = self.fabric.start_pair((*command, "urnic0"), (*command, "urnic1"))
        try:
            connected = lambda: [row for row in self.rdma_json("resource", "show", "qp") if row["state"] == "RTS"]
            fabric.wait_until(lambda: len(connected()) == 6, "six queue pairs in RTS")
            rows = connected()
            numbers = {device: {row["lqpn"] for row in rows if row["ifname"] == device} for device in fabric.DEVICES}
            for row in rows:
                self.assertEqual((row["type"], row["port"], row["comm"]), ("RC", 1, "ib_send_bw"))
                other = fabric.DEVICES[row["ifname"] == fabric.DEVICES[0]]
                self.assertIn(row["rqpn"], numbers[other])
                for key in ("rq-psn", "sq-psn", "pdn"):
                    self.assertIn(key, row)
            programs = {context["pids"][0] for context in self.fabric.status()["contexts"]}
            self.assertEqual({row["pid"] for row in rows}, programs)
            for kind, count in (("cq", 2), ("mr", 2), ("pd", 2), ("ctx", 2)):
                found = self.rdma_json("resource", "show", kind)
                self.assertGreaterEqual(len(found), count, kind)
                self.assertEqual({row["pid"] for row in found}, programs, kind)
            for row in self.rdma_json("resource", "show"):
                self.assertEqual((row["qp"], row["ctx"]), (3, 1), row)
            one = rows[0]
            shown, = self.rdma_json("resource", "show", "qp", "link", f"{one['ifname']}/1", "lqpn", str(one["lqpn"]))
            self.assertEqual({key: shown[key] for key in ("lqpn", "rqpn", "pid")}, {key: one[key] for key in ("lqpn", "rqpn", "pid")})
            for kind, key in (("cq", "cqn"), ("mr", "mrn"), ("pd", "pdn"), ("ctx", "ctxn")):
                row = self.rdma_json("resource", "show", kind)[0]
                found, = self.rdma_json("resource", "show", kind, "dev", row["ifname"], key, str(row[key]))
                self.assertEqual(found, row)
            text = self.rdma("resource", "show", "qp", "link", f"{one['ifname']}/1", "lqpn", str(one["lqpn"]))
            self.assertRegex(text, rf"link {one['ifname']}/1 lqpn {one['lqpn']} .*rqpn {one['rqpn']} type RC state RTS .*"
                                   rf"pid {one['pid']} comm ib_send_bw")
        finally:
            for program in pair:
                program.kill()
        fabric.wait_until(lambda: self.rdma_json("resource", "show", "qp") == [], "no queue pairs are left")

    def test_identifiers_of_rdma_cm(self):
        port = fabric.free_port()
        server = self.fabric.start_on_urnic("rping", "-s", "-a", "127.0.0.1", "-p", port)
        shown = lambda: self.rdma_json("resource", "show", "cm_id")
        fabric.wait_until(lambda: shown() != [], "a listener")
        row, = shown()
        self.assertEqual((row["ifname"], row["state"], row["ps"], row["comm"]), ("urnic0", "LISTEN", "TCP", "rping"))
        self.assertEqual(row["src-addr"], f"127.0.0.1:{port}")
        client = self.fabric.start_on_urnic("rping", "-c", "-a", "127.0.0.1", "-p", port, "-C", "100000000")
        connected = lambda: [row for row in shown() if row["state"] == "CONNECT"]
        fabric.wait_until(lambda: len(connected()) == 2, "a connection")
        pairs = {row["lqpn"]: row["rqpn"] for row in self.rdma_json("resource", "show", "qp")}
        ends = [row["lqpn"] for row in connected()]
        self.assertEqual([pairs[end] for end in ends], ends[::-1])
        self.assertEqual(len({row["pid"] for row in shown()}), 2)
        client.kill()
        server.kill()
        fabric.wait_until(lambda: shown() == [], "no identifiers are left")

    def test_a_listener_on_every_address_is_each_devices(self):
        port = fabric.free_port()
        server = self.fabric.start_on_urnic("rping", "-s", "-a", "0.0.0.0", "-p", port)
        shown = lambda: self.rdma_json("resource", "show", "cm_id")
        fabric.wait_until(lambda: shown() != [], "a listener")
        self.assertEqual([(row["ifname"], row["state"], row["src-addr"]) for row in shown()],
                         [(device, "LISTEN", f"0.0.0.0:{port}") for device in fabric.DEVICES])
        server.kill()
        fabric.wait_until(lambda: shown() == [], "no identifiers are left")

    def test_settings_are_refused(self):
        for words in (("dev", "set", "urnic0", "name", "other"), ("system", "set", "netns", "exclusive"),
                      ("link", "delete", "urnic0")):
            program = self.fabric.start_on_urnic("rdma", *words)
            program.wait()
            self.assertIn("not supported", program.output(), words)


class Discovery(unittest.TestCase):
    """How libibverbs finds the devices."""

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up()

    def indexes(self):
        return self.fabric.run_on_urnic("/usr/bin/python3", "-c", DEVICE_INDEX).split()

    def devices(self):
        listed = self.fabric.run_on_urnic("ibv_devices").split("\n")[2:]
        return [line.split() for line in listed if line.strip()]

    def test_by_netlink_and_by_sysfs(self):
        """Only netlink knows an index."""
        by_netlink, information = self.devices(), self.fabric.run_on_urnic("ibv_devinfo", "-v")
        self.assertEqual([name for name, _ in by_netlink], list(fabric.DEVICES))
        self.assertEqual(self.indexes(), ["0", "1"])
        os.unlink(self.fabric.run_directory / "netlink.sock")
        self.assertEqual(self.indexes(), ["-1", "-1"])
        self.assertEqual(self.devices(), by_netlink)
        self.assertEqual(self.fabric.run_on_urnic("ibv_devinfo", "-v"), information)
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1"))

    def test_system_calls(self):
        """What libibverbs asks for on its socket."""
        calls = self.fabric.run_on_urnic("strace", "-e", "trace=sendmsg,recvmsg,connect", "ibv_devices")
        self.assertRegex(calls, r'connect\(\d+, \{sa_family=AF_UNIX, sun_path="[^"]*netlink.sock"\}')
        self.assertGreaterEqual(len(re.findall(r"^sendmsg\(", calls, re.MULTILINE)), 3, "a dump, and each node")


if __name__ == "__main__":
    unittest.main()
