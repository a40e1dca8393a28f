#!/usr/bin/python3
"""The devices in Debian's tools: ibv_devices, ibv_devinfo, ibstat, ibstatus; and which users may use raw packets."""

import os
import re
import shutil
import signal
import subprocess
import unittest

import fabric


class Devices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up()

    def devinfo(self, device):
        """The fields of ibv_devinfo -v (the first occurrence of each), and its whole output."""
        text = self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", device)
        fields = {}
        for name, value in re.findall(r"^\s*([\w \[\]]+?):\s+(.+?)\s*$", text, re.MULTILINE):
            fields.setdefault(name, value)
        return fields, text

    def test_list_in_order(self):
        listed = self.fabric.run_on_urnic("ibv_devices").split("\n")[2:]
        self.assertEqual([line.split()[0] for line in listed if line.strip()], ["urnic0", "urnic1"])
        guids = [line.split()[1] for line in listed if line.strip()]
        self.assertEqual(len(set(guids)), 2, "node GUIDs must be unique: librdmacm tells devices apart by them")
        for guid in guids:
            self.assertNotEqual(int(guid, 16), 0)

    def test_port(self):
        for device in fabric.DEVICES:
            fields, text = self.devinfo(device)
            with self.subTest(device):
                self.assertEqual(fields["hca_id"], device)
                self.assertEqual(fields["state"], "PORT_ACTIVE (4)")
                self.assertEqual(fields["phys_state"], "LINK_UP (5)")
                self.assertEqual(fields["link_layer"], "Ethernet")
                self.assertEqual(fields["max_mtu"], "4096 (5)")
                self.assertEqual(fields["active_mtu"], "4096 (5)")
                self.assertEqual(fields["phys_port_cnt"], "1")
                self.assertNotIn("invalid", text.lower())

    def test_types_of_empty_gids_cannot_be_read(self):
        """As on Linux, by absolute and by relative paths, and by C streams (libibverbs' own way is open)."""
        types = "/sys/class/infiniband/urnic0/ports/1/gid_attrs/types"
        script = f"cat {types}/1; cat {types}/5; cd {types}; cat 0; cat 15; cat ../types/5; ls"
        said = self.fabric.run_on_urnic("sh", "-c", script)
        self.assertEqual(said.splitlines()[:5], ["RoCE v2", f"cat: {types}/5: Invalid argument", "RoCE v2",
                                                 "cat: 15: Invalid argument", "cat: ../types/5: Invalid argument"])
        self.assertEqual(len(said.splitlines()), 5 + 16)
        said = self.fabric.run_on_urnic("awk", "{print}", f"{types}/5", status=2)
        self.assertIn("Invalid argument", said)

    def test_gids(self):
        for number, device in enumerate(fabric.DEVICES):
            _, text = self.devinfo(device)
            gids = re.findall(r"GID\[\s*(\d+)\]:\s+(\S+?),\s+(RoCE v2)", text)
            with self.subTest(device):
                self.assertEqual([int(index) for index, _, _ in gids], [0, 1], text)
                self.assertTrue(gids[0][1].startswith("fe80:"), gids)
                self.assertEqual(gids[1][1], f"::ffff:192.0.2.{number + 1}")

    def test_limits(self):
        fields, _ = self.devinfo("urnic0")
        least = {"max_qp": 1024, "max_qp_wr": 8192, "max_sge": 16, "max_sge_rd": 16, "max_cq": 1024, "max_cqe": 65535,
                 "max_mr": 1024, "max_pd": 1024, "max_qp_rd_atom": 16, "max_qp_init_rd_atom": 16, "max_res_rd_atom": 16}
        for name, value in least.items():
            with self.subTest(name):
                self.assertGreaterEqual(int(fields[name]), value)
        self.assertEqual(int(fields["max_msg_sz"], 0), 1 << 31)
        self.assertGreaterEqual(int(fields["max_mr_size"], 16), 1 << 40)
        self.assertTrue(fields["atomic_cap"].startswith("ATOMIC_HCA"), fields["atomic_cap"])

    def test_identity(self):
        """perftest uses inline data and plain posting only for devices with a part number that it knows."""
        fields, _ = self.devinfo("urnic0")
        self.assertEqual(fields["vendor_part_id"], "26428")
        self.assertNotEqual(int(fields["vendor_id"], 16), 0x02C9, "that is somebody else's vendor id")

    def test_ibstat(self):
        text = self.fabric.run_on_urnic("ibstat")
        self.assertEqual(re.findall(r"^CA '(\w+)'", text, re.MULTILINE), list(fabric.DEVICES))
        self.assertEqual(text.count("State: Active"), 2, text)
        self.assertEqual(text.count("Physical state: LinkUp"), 2, text)
        self.assertEqual(text.count("Link layer: Ethernet"), 2, text)
        names = self.fabric.run_on_urnic("ibstat", "-l").split()
        self.assertEqual(sorted(names), list(fabric.DEVICES))

    def test_ibstatus(self):
        text = self.fabric.run_on_urnic("ibstatus")
        self.assertEqual(re.findall(r"Infiniband device '(\w+)' port 1 status", text), list(fabric.DEVICES))
        self.assertEqual(text.count("4: ACTIVE"), 2, text)
        self.assertEqual(text.count("5: LinkUp"), 2, text)
        self.assertEqual(text.count("Ethernet"), 2, text)

    def test_sysfs_counters(self):
        """The kernel's names of counters. Other tests check the values."""
        for folder, names in (("counters", ("port_xmit_data", "port_rcv_data", "port_xmit_packets")),
                              ("hw_counters", ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err",
                                               "rnr_nak_retry_err", "duplicate_request"))):
            for name in names:
                with self.subTest(name):
                    path = f"/sys/class/infiniband/urnic0/ports/1/{folder}/{name}"
                    self.assertRegex(self.fabric.run_on_urnic("cat", path), r"^\d+\n$")

    def test_nothing_without_urnic(self):
        """Only programs that `urnic run` has started see the devices."""
        program = self.fabric.start("ibv_devices")
        program.wait()
        self.assertNotIn("urnic0", program.output())


CONFIGURATION = """
[device]
vendor_part_id = 4711

[[devices]]
name = "urnic_left"
mtu = 1024

[[devices]]
name = "urnic_right"
gids = ["fe80::1", "2001:db8::2", "::ffff:198.51.100.7"]
"""


class Configured(unittest.TestCase):
    """Devices from a configuration file."""

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.file = self.fabric.home / "lab.toml"

    def test_devices_of_ones_own(self):
        self.file.write_text(CONFIGURATION)
        self.fabric.run(self.fabric.urnic, "up", "--config", self.file)
        left = self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic_left")
        self.assertRegex(left, r"active_mtu:\s+1024 \(3\)")
        self.assertRegex(left, r"vendor_part_id:\s+4711")
        right = self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic_right")
        self.assertRegex(right, r"GID\[\s*1\]:\s+2001:db8::2, RoCE v2")
        self.assertRegex(right, r"GID\[\s*2\]:\s+::ffff:198.51.100.7, RoCE v2")

    def test_ipv6_and_other_gids_carry_data(self):
        self.file.write_text(CONFIGURATION.replace('name = "urnic_left"', 'name = "urnic_left"\ngids = ["fe80::9", "2001:db8::1"]'))
        self.fabric.run(self.fabric.urnic, "up", "--config", self.file)
        for index in ("0", "1"):
            self.fabric.run_pair(("ibv_rc_pingpong", "-c", "-g", index, "-d", "urnic_left"),
                                 ("ibv_rc_pingpong", "-c", "-g", index, "-d", "urnic_right"))

    def test_mistakes_are_named(self):
        for text, line, words in (("[device]\nmtu = 1500\n", 2, ("1500", "256, 512, 1024, 2048")),
                                  ("[device]\n\nmtus = 1024\n", 3, ("mtus",)),
                                  ('[device]\nraw_packets = "root"\n', 2, ("root", '"all"', '"privileged"')),
                                  ('[[devices]]\nname = "rxe0"\n', 2, ("rxe0", "urnic")),
                                  ('[[devices]]\ngids = ["192.0.2.1"]\n', 2, ("192.0.2.1",))):
            with self.subTest(text):
                self.file.write_text(text)
                said = self.fabric.run(self.fabric.urnic, "up", "--config", self.file, status=1)
                self.assertIn(f"{self.file}:{line}:", said)
                for word in words:
                    self.assertIn(word, said)

    def test_running_with_another_configuration(self):
        self.fabric.up()
        self.file.write_text(CONFIGURATION)
        said = self.fabric.run(self.fabric.urnic, "run", "--config", self.file, "--", "true", status=125)
        self.assertIn("runs", said)


class RawPackets(unittest.TestCase):
    """[device] raw_packets: which users may use raw packets. The verbs that require the right are those for which the
    kernel requires CAP_NET_RAW."""

    ASKING = ("raw_qp", "raw_qp_without_sends", "flow", "rss_qp")
    WITHOUT = ("wq", "table", "rc_qp")
    PRIVILEGED = '[device]\nraw_packets = "privileged"\n'

    def errors(self, own, *words, prefix=()):
        """The result of each verb in a program that `urnic run` starts; `prefix` stands before `urnic run`."""
        said = own.run(*prefix, *own.on_urnic(own.verbs_program("verbs_raw_rights"), *words))
        return dict(line.split() for line in said.splitlines())

    def refused(self):
        return {**dict.fromkeys(self.ASKING, "EPERM"), **dict.fromkeys(self.WITHOUT, "0")}

    def allowed(self):
        return dict.fromkeys((*self.ASKING, *self.WITHOUT), "0")

    @staticmethod
    def has_net_raw():
        effective = re.search(r"CapEff:\s+(\w+)", open("/proc/self/status", encoding="ascii").read()).group(1)
        return int(effective, 16) >> 13 & 1

    def test_all_is_the_default(self):
        with fabric.Fabric() as own:
            own.up()
            self.assertEqual(self.errors(own), self.allowed())
            self.assertEqual({device["raw_packets"] for device in own.status()["devices"]}, {"all"})

    @unittest.skipIf(os.geteuid() != 0 and has_net_raw(), "this user has CAP_NET_RAW")
    def test_an_ordinary_user_without_the_right(self):
        with fabric.Fabric() as own:
            own.up(self.PRIVILEGED)
            self.assertEqual(self.errors(own), self.refused())
            self.assertEqual({device["raw_packets"] for device in own.status()["devices"]}, {"privileged"})
            self.assertIn('may not create a raw packet QP: EPERM, for raw_packets is "privileged"', own.log())

    @unittest.skipIf(subprocess.run(["unshare", "--user", "true"], capture_output=True, check=False).returncode != 0,
                     "no user namespaces can be made here")
    @unittest.skipIf(os.geteuid() != 0 and has_net_raw(), "this user has CAP_NET_RAW")
    def test_in_a_user_namespace_of_ones_own(self):
        """In its namespace the program has every capability. The device process is outside of it, so none counts."""
        with fabric.Fabric() as own:
            own.up(self.PRIVILEGED)
            below = ("unshare", "--user", "--map-current-user", "--keep-caps")
            said = own.run(*below, "grep", "CapEff", "/proc/self/status")
            self.assertEqual(int(said.split()[1], 16) >> 13 & 1, 1, said)
            self.assertEqual(self.errors(own, prefix=below), self.refused())

    def test_one_device_of_two(self):
        with fabric.Fabric() as own:
            own.up('[[devices]]\n[[devices]]\nraw_packets = "privileged"\n')
            self.assertEqual([device["raw_packets"] for device in own.status()["devices"]], ["all", "privileged"])
            self.assertEqual(self.errors(own), self.allowed())  # the program opens the first device

    @unittest.skipUnless(os.geteuid() == 0 and has_net_raw(), "needs root with CAP_NET_RAW")
    def test_an_ordinary_user_with_the_right(self):
        """The program has an ambient capability, which the device process itself does not have."""
        with fabric.Fabric(user=None) as own:
            shutil.chown(own.directory, fabric.ORDINARY_USER)
            ordinary = ("setpriv", "--reuid", fabric.ORDINARY_USER, "--regid", fabric.ORDINARY_USER, "--clear-groups")
            configuration = own.directory / "lab.toml"
            configuration.write_text(self.PRIVILEGED)
            own.run(*ordinary, "--", own.urnic, "up", "--config", configuration)
            self.assertEqual(self.errors(own, prefix=(*ordinary, "--")), self.refused())
            ambient = ("--inh-caps", "+net_raw", "--ambient-caps", "+net_raw", "--")
            self.assertEqual(self.errors(own, prefix=(*ordinary, *ambient)), self.allowed())

    @unittest.skipUnless(os.geteuid() == 0 and has_net_raw(), "needs root with CAP_NET_RAW")
    def test_root(self):
        with fabric.Fabric(user=None) as own:
            own.up(self.PRIVILEGED)
            self.assertEqual(self.errors(own), self.allowed())
            self.assertEqual(self.errors(own, "drop"), self.refused(), "the right is asked for at each call")
            without = ("setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw", "--")
            self.assertEqual(self.errors(own, prefix=without), self.refused(), "root is not enough")


class Events(unittest.TestCase):
    """ibv_asyncwatch, which prints the events of a device and its port."""

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up()

    def watch(self, device):
        watch = self.fabric.start_on_urnic("ibv_asyncwatch", "-d", device)
        watch.wait_for_output("async event FD")
        return watch

    def test_port_and_addresses(self):
        watch, other = self.watch("urnic0"), self.watch("urnic1")
        for state, event in (("down", "PORT_ERR (10)"), ("up", "PORT_ACTIVE (9)")):
            self.fabric.run(self.fabric.urnic, "link", "set", "urnic0", f"state={state}")
            watch.wait_for_output(f"IBV_EVENT_{event}, port 1")
            shown = "PORT_DOWN (1)" if state == "down" else "PORT_ACTIVE (4)"
            self.assertIn(shown, self.fabric.run_on_urnic("ibv_devinfo", "-d", "urnic0"))
        self.fabric.run(self.fabric.urnic, "gid", "add", "urnic0", "::ffff:192.0.2.77")
        watch.wait_for_output("IBV_EVENT_GID_CHANGE (18), port 1")
        self.assertIn("GID[  2]:\t\t::ffff:192.0.2.77", self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic0"))
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "2", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1"))
        self.fabric.run(self.fabric.urnic, "gid", "remove", "urnic0", "::ffff:192.0.2.77")
        fabric.wait_until(lambda: watch.output().count("GID_CHANGE") == 2, "a second GID_CHANGE")
        self.assertNotIn("192.0.2.77", self.fabric.run(self.fabric.urnic, "gid", "show", "urnic0"))
        self.assertEqual(other.output().count("event_type"), 0, "what happens to one device is no news to the other's users")
        for program in (watch, other):
            program.kill()

    def test_cut_by_a_fault_plan(self):
        """The link comes up again after the plan's time, without a command."""
        watch = self.watch("urnic0")
        plan = self.fabric.home / "plan.toml"
        plan.write_text('[[fault]]\nname = "cut"\noccurrence = 20\naction = "cut_link"\nfor_us = 3000\n', encoding="utf-8")
        self.fabric.run(self.fabric.urnic, "fault", "load", plan)
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"))
        watch.wait_for_output("IBV_EVENT_PORT_ERR (10), port 1")
        watch.wait_for_output("IBV_EVENT_PORT_ACTIVE (9), port 1")
        watch.kill()

    def test_device_that_dies(self):
        watch = self.watch("urnic1")
        os.kill(self.fabric.device_process(), signal.SIGKILL)
        watch.wait_for_output("IBV_EVENT_DEVICE_FATAL")
        watch.kill()


if __name__ == "__main__":
    unittest.main()
