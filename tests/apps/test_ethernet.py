#!/usr/bin/python3
"""Devices on an Ethernet: the interface of a host (AF_PACKET), a TAP interface, datagrams of frames, a trunk of two users."""

import json
import os
import pathlib
import tempfile
import unittest

import fabric
import network

TUN = pathlib.Path("/dev/net/tun")

DEVICE = """
[[devices]]
mac = "02:00:00:00:07:{number:02x}"
gids = ["fe80::ff:fe00:7{number:02x}", "::ffff:10.77.7.{number}"]
"""


def lan(on):
    return json.loads(on.run(on.urnic, "link", "show", "--json"))["lan"]


def port(on):
    device = on.status()["devices"][0]
    return device["link"], device["mtu"]


class Wire(unittest.TestCase):
    """Two fabrics, of which each has one device, with GID 1 for IPv4."""

    def pingpong(self, hosts, service="rc", *options):
        common = (f"ibv_{service}_pingpong", "-g", "1", "-c", "-d", "urnic0", *options)
        for output in self.network.run_pair(common, common, between=hosts):
            self.assertRegex(output, r"(?m)^\d+ iters in ")
            self.assertNotIn("invalid data", output)


class Interface(Wire):
    """Two hosts; each has a device of its own beside its IP stack on eth0."""

    @classmethod
    def setUpClass(cls):
        cls.network = cls.enterClassContext(network.TwoHosts())
        for number, host in enumerate(cls.network.hosts, 1):
            host.up('[engine]\nengines = 2\n[lan]\ninterface = "eth0"\n' + DEVICE.format(number=number)
                    + DEVICE.format(number=number + 10))

    def test_pingpongs(self):
        for service in ("rc", "uc", "ud"):
            with self.subTest(service):
                self.pingpong((0, 1), service)
        self.pingpong((0, 1), "rc", "-s", 100000, "-n", 100)
        self.assertEqual(port(self.network.hosts[0]), ("up", 1024))
        shown = lan(self.network.hosts[0])
        self.assertEqual((shown["kind"], shown["name"]), ("interface", "eth0"))
        self.assertGreater(shown["counters"]["rx_frames"], 500)
        self.assertEqual(shown["neighbours"]["::ffff:10.77.7.2"]["mac"], "02:00:00:00:07:02")

    def test_the_second_engines_device(self):
        one, two = self.network.hosts
        words = ("ibv_rc_pingpong", "-g", "1", "-c", "-d", "urnic1", "-s", 20000, "-n", 100)
        self.network.run_pair(words, words)
        self.assertIn("::ffff:10.77.7.12", lan(one)["neighbours"])
        self.assertIn("last frame", two.run(two.urnic, "link", "show"))

    def test_the_port_follows_the_interface(self):
        one, two = self.network.hosts
        two.namespace.run("ip", "link", "set", "eth0", "down")
        try:
            fabric.wait_until(lambda: port(one)[0] == "down", "a link that is down")
            # What a person cut stays cut.
            one.run(one.urnic, "link", "set", "urnic0", "state=down")
        finally:
            two.namespace.run("ip", "link", "set", "eth0", "up")
        fabric.wait_until(lambda: port(two)[0] == "up", "a link that is up")
        self.assertEqual(port(one)[0], "down")
        one.run(one.urnic, "link", "set", "urnic0", "state=up")
        fabric.wait_until(lambda: port(one)[0] == "up", "a link that is up")
        one.namespace.run("ip", "link", "set", "eth0", "mtu", 9000)
        fabric.wait_until(lambda: port(one) == ("up", 4096), "a larger MTU")
        one.namespace.run("ip", "link", "set", "eth0", "mtu", 1500)
        fabric.wait_until(lambda: port(one) == ("up", 1024), "a smaller MTU")

    def test_groups_are_reported(self):
        one, _ = self.network.hosts
        before = lan(one)["groups"]
        joined = one.start_on_urnic("mckey", "-m", "239.7.7.7", "-b", "10.77.7.1", "-s", "-C", "1")
        self.assertEqual(joined.wait(), 0, joined)
        self.assertGreater(lan(one)["counters"]["tx_group_reports"], 0)
        fabric.wait_until(lambda: lan(one)["groups"] == before, "the group left")


@unittest.skipUnless(TUN.exists(), "this kernel has no TAP interfaces")
class Tap(Wire):
    """A namespace of an ordinary user: he makes the TAP interface himself."""

    def test_the_host_is_at_the_other_end(self):
        self.network = self.enterContext(network.TwoHosts())
        host = self.network.hosts[0]
        host.up('[lan]\ntap = "tap7"\n' + DEVICE.format(number=1))
        host.namespace.run("ip", "address", "add", "10.77.7.99/24", "dev", "tap7")
        self.assertEqual(port(host), ("up", 1024))
        asked = host.namespace.run("bash", "-c", "echo x > /dev/udp/10.77.7.1/9; sleep 0.3; ip neighbour show 10.77.7.1")
        self.assertIn("02:00:00:00:07:01", asked)
        host.namespace.run("ip", "link", "set", "tap7", "down")
        fabric.wait_until(lambda: port(host)[0] == "down", "a link that is down")
        host.namespace.run("ip", "link", "set", "tap7", "up")
        fabric.wait_until(lambda: port(host)[0] == "up", "a link that is up")


class Privileges(unittest.TestCase):
    def test_errors_say_what_is_missing(self):
        missing = [('interface = "lo"', "CAP_NET_RAW")]
        if TUN.exists():
            missing.append(('tap = "tap7"', "ip tuntap add dev tap7"))
        for words, hint in missing:
            one = self.enterContext(fabric.Fabric())
            configuration = one.home / "configuration.toml"
            configuration.write_text(f"[lan]\n{words}\n")
            self.assertIn(hint, one.run(one.urnic, "up", "--config", configuration, status=1))


class Datagrams(unittest.TestCase):
    def test_a_pingpong_and_a_restart(self):
        one = self.enterContext(fabric.Fabric())
        paths = [one.home / "one", one.home / "two"]

        def start(on, number):
            on.up(f'[lan]\ndatagram = "{paths[number - 1]}"\nremote = "{paths[2 - number]}"\n' + DEVICE.format(number=number))
        start(one, 1)
        self.assertEqual(lan(one)["peer"], "none")
        for _ in range(2):
            two = self.enterContext(fabric.Fabric())
            start(two, 2)
            fabric.wait_until(lambda: lan(one)["peer"] == "connected", "a peer")
            tcp = fabric.free_port()
            words = ("ibv_rc_pingpong", "-g", "1", "-c", "-d", "urnic0", "-n", "100", "-p", tcp)
            server = one.start_on_urnic(*words)
            fabric.wait_until(lambda: fabric.is_listening(tcp) or server.status is not None, f"a listener: {server}")
            client = two.start_on_urnic(*words, "127.0.0.1")
            self.assertEqual((client.wait(), server.wait()), (0, 0), f"{server}\n{client}")
            two.stop()


class TwoUsers(unittest.TestCase):
    """A trunk between the device processes of two users."""

    OTHER = 65532

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root can be two users")
        shared = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shared.chmod(0o777)
        self.path = shared / "lan"
        self.two = self.enterContext(fabric.Fabric(user=self.OTHER))

    def listen(self, access):
        self.one = self.enterContext(fabric.Fabric())
        self.one.up(f'[lan]\nlisten = "{self.path}"\n{access}\n' + DEVICE.format(number=1))

    def connect(self):
        self.two.up(f'[lan]\nconnect = "{self.path}"\n' + DEVICE.format(number=2))

    def pingpong(self):
        tcp = fabric.free_port()
        words = ("ibv_rc_pingpong", "-g", "1", "-c", "-d", "urnic0", "-n", "100", "-p", tcp)
        server = self.one.start_on_urnic(*words)
        fabric.wait_until(lambda: fabric.is_listening(tcp) or server.status is not None, f"a listener: {server}")
        client = self.two.start_on_urnic(*words, "127.0.0.1")
        self.assertEqual((client.wait(), server.wait()), (0, 0), f"{server}\n{client}")

    def test_a_user_who_is_named(self):
        self.connect()  # before anybody listens
        for _ in range(2):
            self.listen(f"users = [{self.OTHER}]")
            fabric.wait_until(lambda: lan(self.two)["peer"] == "connected", "a peer")
            self.pingpong()
            self.one.stop()
        self.assertEqual(lan(self.two)["counters"]["connections"], 2)

    def test_a_stranger_is_sent_away(self):
        self.listen("users = [65531]")
        self.connect()
        fabric.wait_until(lambda: lan(self.one)["counters"]["refused_users"] > 1, "a refusal")
        self.assertEqual(lan(self.one)["peer"], "none")

    def test_without_users_the_file_is_its_owners(self):
        self.listen("")
        self.assertIn("denied", self.two.run(self.two.urnic, "up", "--config", self.config(), status=1))

    def config(self):
        file = self.two.directory / "configuration.toml"
        file.write_text(f'[lan]\nconnect = "{self.path}"\n')
        return file


class Multicast(unittest.TestCase):
    """rdma_cm's groups between two hosts on UDP wires: the kernel joins them."""

    def test_mckey(self):
        hosts = self.enterContext(network.TwoHosts()).hosts
        for host in hosts:
            host.up_on_udp()
        receiver = hosts[1].start_on_urnic("mckey", "-m", "239.7.7.7", "-b", hosts[1].address, "-C", "5")
        self.wait_for_member(hosts[1], "eth0", receiver)
        sender = hosts[0].start_on_urnic("mckey", "-m", "239.7.7.7", "-b", hosts[0].address, "-s", "-C", "5")
        self.assertEqual((sender.wait(), receiver.wait()), (0, 0), f"{sender}\n{receiver}")
        fabric.wait_until(lambda: "239.7.7.7" not in hosts[1].namespace.run("ip", "maddress", "show", "dev", "eth0"),
                          "the group left", 10)

    def test_a_group_follows_the_address(self):
        """The first host's address moves to its second interface: so does what it receives, and what it sends."""
        cables = self.enterContext(network.TwoHosts())
        far = cables.add_cable()[1]
        host, other = cables.hosts
        host.up_on_udp()
        other.up_on_udp(address=far)
        receiver = host.start_on_urnic("mckey", "-m", "239.7.7.7", "-b", host.address, "-C", "5")
        self.wait_for_member(host, "eth0", receiver)
        host.namespace.run("ip", "address", "del", f"{host.address}/24", "dev", "eth0")
        host.namespace.run("ip", "address", "add", f"{host.address}/24", "dev", "eth1")
        self.wait_for_member(host, "eth1", receiver)
        self.assertNotIn("239.7.7.7", host.namespace.run("ip", "maddress", "show", "dev", "eth0"))
        sender = other.start_on_urnic("mckey", "-m", "239.7.7.7", "-b", far, "-s", "-C", "5")
        self.assertEqual((sender.wait(), receiver.wait()), (0, 0), f"{sender}\n{receiver}")

        receiver = other.start_on_urnic("mckey", "-m", "239.7.7.7", "-b", far, "-C", "5")
        self.wait_for_member(other, "eth1", receiver)
        sender = host.start_on_urnic("mckey", "-m", "239.7.7.7", "-b", host.address, "-s", "-C", "5")
        self.assertEqual((sender.wait(), receiver.wait()), (0, 0), f"{sender}\n{receiver}")

    def test_a_group_of_the_link(self):
        """Its address says only together with an interface which group it is. The device has two interfaces of IPv6."""
        cables = self.enterContext(network.TwoHosts())
        cables.add_cable()
        for number, host in enumerate(cables.hosts, 1):
            host.namespace.run("ip", "address", "add", f"fd78::{number}/64", "dev", "eth1", "nodad")
            host.up_on_udp(address=f"{host.address6},fd78::{number}")
        # Until the kernel knows that nobody else has an interface's address, it has no route for groups there.
        fabric.wait_until(lambda: not any("tentative" in host.namespace.run("ip", "address") for host in cables.hosts),
                          "own addresses", 10)
        one, two = cables.hosts
        receiver = self.start_group_program(two, "receive")
        receiver.wait_for_output("attached")
        for interface in ("eth0", "eth1"):
            self.assertIn("ff02::77", two.namespace.run("ip", "maddress", "show", "dev", interface))
        sender = self.start_group_program(one, "send")
        self.assertEqual((sender.wait(), receiver.wait()), (0, 0), f"{sender}\n{receiver}")
        self.assertEqual(receiver.output().split("\n")[1:4], ["1", "2", "3"])
        fabric.wait_until(lambda: "ff02::77" not in two.namespace.run("ip", "maddress", "show"), "the group left", 10)

    def test_a_members_own_datagrams(self):
        """They come back over the wire, once each, unless the queue pair blocks them."""
        host = self.enterContext(network.TwoHosts()).hosts[0]
        host.up_on_udp()
        for role, heard in (("talk", ["1", "2", "3"]), ("talk-blocked", ["nothing"] * 3)):
            with self.subTest(role):
                program = host.start_on_urnic(host.verbs_program("verbs_group"), role, "::ffff:239.7.7.8", "3")
                self.assertEqual(program.wait(), 0, program)
                self.assertEqual(program.output().split(), heard)

    @staticmethod
    def start_group_program(host, role):
        return host.start_on_urnic(host.verbs_program("verbs_group"), role, "ff02::77", "3")

    @staticmethod
    def wait_for_member(host, interface, program):
        fabric.wait_until(lambda: "239.7.7.7" in host.namespace.run("ip", "maddress", "show", "dev", interface)
                          or program.status is not None, f"a member on {interface}: {program}", 30)


class TwoInterfaces(unittest.TestCase):
    """One device with an address on each of two interfaces."""

    def test_one_goes_and_the_other_stays(self):
        one = self.enterContext(network.TwoHosts()).hosts[0]
        one.namespace.run("ip", "link", "add", "eth1", "type", "veth", "peer", "name", "far1")
        for words in (("address", "add", "10.78.0.1/24", "dev", "eth1"), ("link", "set", "eth1", "up"), ("link", "set", "far1", "up")):
            one.namespace.run("ip", *words)
        one.up_on_udp(address=f"{one.address},10.78.0.1")
        events = one.start_on_urnic("stdbuf", "-oL", "ibv_asyncwatch", "-d", "urnic0")
        events.wait_for_output("async event FD")
        one.namespace.run("ip", "link", "set", "far1", "down")
        one.namespace.run("ip", "link", "set", "far1", "up")
        self.assertEqual(port(one)[0], "up")
        one.namespace.run("ip", "address", "del", "10.78.0.1/24", "dev", "eth1")
        events.wait_for_output("(18)")
        self.assertNotIn("10.78.0.1", one.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic0"))
        self.assertEqual(port(one)[0], "up")
        one.namespace.run("ip", "address", "add", "10.78.0.1/24", "dev", "eth1")
        fabric.wait_until(lambda: "10.78.0.1" in one.run_on_urnic("ibv_devinfo", "-v", "-d", "urnic0"), "the address")
        one.namespace.run("ip", "link", "set", "eth0", "down")
        self.assertEqual(port(one)[0], "up")
        one.namespace.run("ip", "link", "set", "eth1", "down")
        fabric.wait_until(lambda: port(one)[0] == "down", "a link that is down")

    def test_the_kernels_route_chooses_the_device(self):
        one = self.enterContext(network.TwoHosts()).hosts[0]
        one.namespace.run("ip", "link", "add", "eth1", "type", "veth", "peer", "name", "far1")
        one.namespace.run("ip", "link", "set", "far1", "up")
        one.namespace.run("ip", "address", "add", "10.78.0.1/24", "dev", "eth1")
        one.namespace.run("ip", "link", "set", "eth1", "up")
        one.run(one.urnic, "up", "--udp", one.address, "--udp", "10.78.0.1")
        client = one.start_on_urnic("rping", "-c", "-v", "-a", "10.78.0.7", "-C", "1")
        fabric.wait_until(lambda: one.status()["devices"][1]["wire"]["counters"]["sent"] > 0 or client.status is not None,
                          f"a packet on the second device: {client}")
        self.assertEqual(one.status()["devices"][0]["wire"]["counters"]["sent"], 0)
        client.kill()


if __name__ == "__main__":
    unittest.main()
