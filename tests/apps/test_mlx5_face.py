#!/usr/bin/python3
"""Devices with the face mlx5 as Debian's programs see them before they open one: both faces side by side, sysfs, the PCI bus,
RDMA netlink, and which library libibverbs chooses."""

import json
import os
import re
import shutil
import unittest

import fabric
import network

CONFIGURATION = """
[[devices]]
face = "mlx5"
[[devices]]
[[devices]]
face = "mlx5"
"""
NAMES = ["mlx5_0", "urnic0", "mlx5_1"]
GUIDS = {"mlx5_0": "007572fffe6e0000", "urnic0": "007572fffe6e0001", "mlx5_1": "007572fffe6e0002"}

# A name and whether libmlx5 has taken the device, for each device.
CHOSEN = """
import ctypes
verbs, mlx5 = ctypes.CDLL("libibverbs.so.1"), ctypes.CDLL("libmlx5.so.1")
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_get_device_name.restype = ctypes.c_char_p
mlx5.mlx5dv_is_supported.restype = ctypes.c_bool
devices = verbs.ibv_get_device_list(None)
index = 0
while devices[index]:
    device = ctypes.c_void_p(devices[index])
    print(verbs.ibv_get_device_name(device).decode(), mlx5.mlx5dv_is_supported(device))
    index += 1
"""

# What lspci reads of each device on the bus. A line of the address, the numbers, and the driver.
LSPCI = """
import os, struct
bus = "/sys/bus/pci/devices"
for address in sorted(os.listdir(bus)):
    folder = f"{bus}/{address}"
    numbers = [int(open(f"{folder}/{name}").read(), 16) for name in ("vendor", "device", "class")]
    assert len(open(f"{folder}/resource").read().splitlines()) >= 6
    header = open(f"{folder}/config", "rb").read(64)
    assert list(struct.unpack("<HH", header[:4])) == numbers[:2], header
    driver = os.path.basename(os.readlink(f"{folder}/driver")) if os.path.islink(f"{folder}/driver") else "-"
    print(address, *(f"{number:x}" for number in numbers), driver)
"""


class BothFaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up(CONFIGURATION)

    def lines(self, *command):
        return self.fabric.run_on_urnic(*command).splitlines()

    def python(self, script, **variables):
        words = [f"{name}={value}" for name, value in variables.items()]
        return self.fabric.run(*self.fabric.on_urnic("env", *words, "/usr/bin/python3", "-c", script)).splitlines()

    def test_ibv_devices(self):
        listed = [line.split() for line in self.lines("ibv_devices")[2:]]
        self.assertEqual(listed, [[name, GUIDS[name]] for name in NAMES])

    def test_libmlx5_takes_its_devices(self):
        """By the driver's number in netlink; where netlink is refused, by the PCI device's modalias."""
        self.assertEqual(sorted(self.python(CHOSEN)), ["mlx5_0 True", "mlx5_1 True", "urnic0 False"])
        shown = self.python(CHOSEN, URNIC_SHOW_0="mlx5_1", URNIC_SHOW_1="urnic0")
        self.assertEqual(sorted(shown), ["mlx5_1 True", "urnic0 False"])

    def test_ibstat(self):
        text = self.fabric.run_on_urnic("ibstat", "mlx5_0")
        for line in ("CA 'mlx5_0'", "CA type: MT4125", "Firmware version: 22.35.1012", "Hardware version: 0",
                     "Node GUID: 0x007572fffe6e0000", "State: Active", "Link layer: Ethernet"):
            self.assertIn(line, text)
        self.assertEqual(sorted(self.lines("ibstat", "-l")), sorted(NAMES))

    def test_ibstatus(self):
        text = self.fabric.run_on_urnic("ibstatus")
        self.assertEqual(sorted(re.findall(r"Infiniband device '(\w+)' port 1 status", text)), sorted(NAMES))
        self.assertEqual(text.count("4: ACTIVE"), 3, text)

    def test_rdma(self):
        devices = json.loads(self.fabric.run_on_urnic("rdma", "-j", "dev"))
        self.assertEqual([row["ifname"] for row in devices], NAMES)
        self.assertEqual([row["fw"] == "22.35.1012" for row in devices], [True, False, True])
        self.assertIn("fw 22.35.1012", self.fabric.run_on_urnic("rdma", "-d", "dev", "show", "mlx5_1"))
        links = json.loads(self.fabric.run_on_urnic("rdma", "-j", "link"))
        self.assertEqual([row["ifname"] for row in links], NAMES)
        self.assertEqual([row.get("netdev") for row in links], [None, "lo", None])
        self.assertEqual({row["state"] for row in links}, {"ACTIVE"})

    def test_listings(self):
        self.assertEqual(self.lines("ls", "/sys/class/infiniband"), sorted(NAMES))
        below = "/sys/bus/pci/devices/7572:00:01.0"
        self.assertEqual(self.lines("sh", "-c", f"cd {below} && ls -d infiniband/* driver && pwd"),
                         ["driver", "infiniband/mlx5_1", below])
        node, = self.lines("ls", f"{below}/infiniband_verbs")
        self.assertEqual(self.lines("cat", f"/sys/class/infiniband_verbs/{node}/ibdev"), ["mlx5_1"])

    def test_places(self):
        """Programs follow the link to learn a device's PCI address, as UCX, NCCL and hwloc do."""
        device = "/sys/devices/pci7572:00/7572:00:01.0"
        for path, place in (("/sys/class/infiniband/mlx5_1", f"{device}/infiniband/mlx5_1"),
                            ("/sys/class/infiniband/mlx5_1/device", device),
                            ("/sys/bus/pci/devices/7572:00:01.0", device),
                            ("/sys/bus/pci/devices/7572:00:01.0/driver", "/sys/bus/pci/drivers/mlx5_core"),
                            ("/sys/bus/pci/drivers/mlx5_core/module", "/sys/module/mlx5_core")):
            with self.subTest(path):
                self.assertEqual(self.lines("realpath", path), [place])
                self.assertEqual(self.python(f"import os; print(os.path.realpath({path!r}))"), [place])

    def test_pci_bus(self):
        """As lspci reads it: the devices beside those of the machine, which are as they are without urnic."""
        seen = self.python(LSPCI)
        own = [line for line in seen if line.startswith("7572:")]
        self.assertEqual(own, ["7572:00:00.0 15b3 101d 20000 mlx5_core", "7572:00:01.0 15b3 101d 20000 mlx5_core"])
        outside = os.listdir("/sys/bus/pci/devices") if os.path.isdir("/sys/bus/pci/devices") else []
        self.assertEqual([line.split()[0] for line in seen if line not in own], sorted(outside))
        uevent = self.lines("cat", "/sys/class/infiniband/mlx5_0/device/uevent")
        self.assertIn("PCI_SLOT_NAME=7572:00:00.0", uevent)
        self.assertIn("DRIVER=mlx5_core", uevent)

    @unittest.skipUnless(shutil.which("lstopo-no-graphics"), "hwloc is not installed")
    def test_hwloc(self):
        """It takes the RDMA device for a part of the PCI device."""
        text = self.fabric.run_on_urnic("lstopo-no-graphics", "--of", "console")
        self.assertRegex(text, r'PCI 7572:00:00.0 \(Ethernet\)\n *OpenFabrics "mlx5_0"')
        self.assertRegex(text, r'PCI 7572:00:01.0 \(Ethernet\)\n *OpenFabrics "mlx5_1"')

    def test_hidden_devices_are_not_on_the_bus(self):
        listed = self.python("import os; print(*os.listdir('/sys/bus/pci/devices'))", URNIC_SHOW_0="mlx5_1")
        self.assertIn("7572:00:01.0", listed[0])
        self.assertNotIn("7572:00:00.0", listed[0])

    def test_counters(self):
        """The names of mlx5's counters of RoCE (docs/counters.md)."""
        folder = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters"
        names = set(self.lines("ls", folder))
        for name in ("duplicate_request", "implied_nak_seq_err", "local_ack_timeout_err", "np_cnp_sent",
                     "np_ecn_marked_roce_packets", "out_of_buffer", "out_of_sequence", "packet_seq_err", "req_cqe_error",
                     "resp_cqe_error", "rnr_nak_retry_err", "rp_cnp_handled", "rp_cnp_ignored", "rx_atomic_requests",
                     "rx_read_requests", "rx_write_requests"):
            self.assertIn(name, names)
        self.assertRegex(self.fabric.run_on_urnic("cat", f"{folder}/out_of_sequence"), r"^\d+\n$")

    def test_empty_gids_cannot_be_read(self):
        types = "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types"
        said = self.lines("sh", "-c", f"cat {types}/1; cat {types}/5; cd {types}; cat 5; cat 0")
        self.assertEqual(said, ["RoCE v2", f"cat: {types}/5: Invalid argument", "cat: 5: Invalid argument", "RoCE v2"])

    def test_status(self):
        devices = self.fabric.status()["devices"]
        self.assertEqual([(row["name"], row["face"], row["pci_address"]) for row in devices],
                         [("mlx5_0", "mlx5", "7572:00:00.0"), ("urnic0", "urnic", None), ("mlx5_1", "mlx5", "7572:00:01.0")])
        self.assertIn("PCI 7572:00:01.0", self.fabric.run(self.fabric.urnic, "status"))

    def test_commands(self):
        """Opened by Debian's libmlx5: objects without queues, threads, forked children, commands that lie."""
        program = self.fabric.verbs_program("mlx5_commands")
        said = self.fabric.run_on_urnic(program, "--log_level=error", "--", "mlx5_0", "mlx5_1")
        self.assertIn("No errors detected", said)

    def test_queue_memory(self):
        """What libmlx5 makes for its queues becomes the device's in place."""
        program = self.fabric.verbs_program("mlx5_queue_memory")
        if not os.path.exists(program):
            self.skipTest("built without libmlx5's library")
        said = self.fabric.run_on_urnic(program, "--log_level=error", "--", "mlx5_0", "mlx5_1")
        self.assertIn("No errors detected", said)

    def test_ibv_devinfo(self):
        text = self.fabric.run_on_urnic("ibv_devinfo", "-v", "-d", "mlx5_1")
        for line in ("fw_ver:\t\t\t\t22.35.1012", "vendor_part_id:\t\t\t4125", "state:\t\t\tPORT_ACTIVE (4)",
                     "tag matching not supported"):
            self.assertIn(line, text)

    def test_doctor(self):
        self.assertIn("libibverbs sees mlx5_0, urnic0, mlx5_1\n", self.fabric.run(self.fabric.urnic, "doctor"))

    def test_doctor_misses_a_library(self):
        """In a root file system of which nothing names libmlx5. Devices that somebody hides from programs are not missing."""
        shown = self.fabric.run(self.fabric.urnic, "doctor", environment={"URNIC_SHOW_0": "urnic0"})
        self.assertIn("libibverbs sees mlx5_0, urnic0, mlx5_1\n", shown)
        network.require_namespaces("unshare -m mount --bind /etc /etc")
        script = f"mount --bind {self.fabric.home} /etc/libibverbs.d && exec {self.fabric.urnic} doctor"
        said = self.fabric.run("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, status=1)
        self.assertRegex(said, r"libibverbs sees urnic0, and not mlx5_0, mlx5_1\n.*ibverbs-providers")

    def test_other_commands_know_the_names(self):
        run = self.fabric.run
        urnic = self.fabric.urnic
        run(urnic, "link", "set", "mlx5_1", "loss=0.5")
        self.assertIn("mlx5_1", run(urnic, "link", "show", "mlx5_1"))
        run(urnic, "link", "set", "mlx5_1", "loss=0")
        self.assertEqual(set(json.loads(run(urnic, "counters", "--json"))) & set(NAMES), set(NAMES))
        specification = json.loads(run(urnic, "cdi"))
        self.assertEqual({device["name"] for device in specification["devices"]}, {"all", *NAMES})


class OneFace(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def test_default_devices(self):
        run = self.fabric.run
        listed = run(self.fabric.urnic, "run", "--face", "mlx5", "--", "ibv_devices").splitlines()[2:]
        self.assertEqual([line.split()[0] for line in listed], ["mlx5_0", "mlx5_1"])

    def test_another_command_joins_or_is_told(self):
        run = self.fabric.run
        urnic = self.fabric.urnic
        run(urnic, "up", "--face", "mlx5")
        self.assertIn("runs already", run(urnic, "up", "--face", "mlx5"))
        self.assertIn("mlx5_1", run(urnic, "run", "--", "ibv_devices"))
        said = run(urnic, "run", "--face", "urnic", "--", "true", status=125)
        self.assertIn("with --face mlx5, and this command has the default devices", said)

    def test_mistakes(self):
        run = self.fabric.run
        urnic = self.fabric.urnic
        self.assertIn("mlx4", run(urnic, "run", "--face", "mlx4", "--", "true", status=2))
        file = self.fabric.home / "lab.toml"
        file.write_text('[[devices]]\n\nface = "mlx4"\n')
        said = run(urnic, "up", "--config", file, status=1)
        self.assertIn(f"{file}:3:", said)
        self.assertIn('"urnic", "mlx5"', said)
        self.assertIn("--config", run(urnic, "run", "--config", file, "--face", "mlx5", "--", "true", status=2))

    def test_the_machines_bus_without_such_devices(self):
        """Nothing is mapped there: the machine's own files are what programs read."""
        self.fabric.up()
        if not os.path.isdir("/sys/bus/pci/devices"):
            self.skipTest("this machine has no PCI bus")
        seen = self.fabric.run_on_urnic("ls", "/sys/bus/pci/devices").split()
        self.assertEqual(seen, sorted(os.listdir("/sys/bus/pci/devices")))
        self.assertEqual(self.fabric.run_on_urnic("realpath", "/sys/bus/pci/drivers"), "/sys/bus/pci/drivers\n")

    def test_interfaces(self):
        """A device with a network interface: programs find it from the device, and the device from it."""
        network.require_namespaces("ip tuntap add dev try0 mode tap && ip rule add pref 77 lookup main")
        said = self.fabric.run(self.fabric.urnic, "run", "--network", "--face", "mlx5", "--", "sh", "-c", """
            ls /sys/class/infiniband/mlx5_1/device/net
            cat /sys/class/infiniband/mlx5_1/device/net/mlx5_1/dev_port
            cat /sys/class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0
            realpath /sys/class/net/mlx5_1/device
            /usr/bin/python3 -c 'import os; print(os.path.realpath("/sys/class/net/mlx5_1/device"))'
            rdma link show mlx5_1/1
            ip -o link show mlx5_1 | wc -l""").splitlines()
        self.assertEqual(said[:5], ["mlx5_1", "0", "mlx5_1", *["/sys/devices/pci7572:00/7572:00:01.0"] * 2])
        self.assertIn("netdev mlx5_1", said[5])
        self.assertEqual(said[6], "1")


if __name__ == "__main__":
    unittest.main()
