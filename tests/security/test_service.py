#!/usr/bin/python3
"""The installed unit of the user service (docs/systemd.md): with its settings urnicd serves each configuration that an
ordinary user's device process can have, and what the settings refuse is refused. as_service.py puts them into force, as a
user's service manager does.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import unittest

import fabric
import network

HERE = pathlib.Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "systemd.md"
UNIT = fabric.tree() / "lib" / "systemd" / "user" / "urnic.service"
PYTHON = ("/usr/bin/python3", "-B")
# All of 127/8 is this host: each run has addresses of its own.
OWN = f"127.{16 + os.getpid() // 256 % 200}.{os.getpid() % 256}"
UDP = """
[[devices]]
wire = "udp"
addresses = ["{}"]
"""
LAN = """
[lan]
{lan}
mtu = 9000
[[devices]]
mac = "02:00:00:00:00:0{number}"
gids = ["fe80::ff:fe00:{number}", "::ffff:10.9.0.{number}"]
"""
# What the unit refuses, and how. Without the unit it has another outcome.
REFUSED = {
    "AF_PACKET": "EAFNOSUPPORT",
    "written code": "EPERM",
    "data as code": "EPERM",
    "real time": "EPERM",
    "personality": "EPERM",
    "set-user-ID file": "EPERM",
    "set-group-ID file": "EPERM",
    "new mount namespace": "EPERM",
    "other mount namespace": "EPERM",
    "new process namespace": "EPERM",
    "other process namespace": "EPERM",
    "other namespace": "EPERM",
    "foreign call": f"signal {signal.SIGSYS.value}",
}
NEEDED = ("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK", "new network namespace", "other network namespace", "new user namespace",
          "other user namespace")


def has_ipv6():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        probe.bind(("::1", 0))
        return True
    return False


class Service(fabric.Fabric):
    """A fabric whose device process is started by the unit. Its programs find it as a session's do, by XDG_RUNTIME_DIR."""

    def __init__(self, namespace=None):
        super().__init__()
        self.namespace = namespace
        self.runtime = self.directory / "runtime"
        self.runtime.mkdir(mode=0o700)
        if self.user is not None:
            shutil.chown(self.runtime, self.user, self.user)
        self.run_directory = self.runtime / "urnic" / "default"
        for name in ("as_service.py", "tried_calls.py"):
            shutil.copyfile(HERE / name, self.home / name)
        self.notify_path = self.runtime / "notify"
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._notify.bind(str(self.notify_path))
        self.notify_path.chmod(0o666)

    @property
    def environment(self):
        others = {name: value for name, value in super().environment.items() if name != "URNIC_DIR"}
        return {**others, "XDG_RUNTIME_DIR": str(self.runtime)}

    def start(self, *command, environment=None):
        return super().start(*(self.namespace.enter if self.namespace else ()), *command, environment=environment)

    def as_service(self, *more):
        """The words in front of `-- COMMAND`; without it, ExecStart is started."""
        return (*PYTHON, self.home / "as_service.py", UNIT, *more)

    def begin(self, configuration=None):
        """Starts the service, with a configuration by the drop-in that docs/systemd.md shows; returns the program."""
        if configuration is None:
            return self._start_main(*self.as_service())
        (self.home / "lab.toml").write_text(configuration)
        drop_in = self.home / "override.conf"
        text = re.search(r"^ +\[Service\]\n(?: +.*\n)+", DOCUMENT.read_text(), re.MULTILINE)[0]
        drop_in.write_text(text.replace("/usr/local", str(self.prefix)))
        return self._start_main(*self.as_service(drop_in))

    def _start_main(self, *command):
        return self.start(*command, environment={"NOTIFY_SOCKET": str(self.notify_path)})

    def _has_notified(self):
        with contextlib.suppress(BlockingIOError):
            return self._notify.recv(100) == b"READY=1"
        return False

    def up(self, configuration=None):
        self.service = self.begin(configuration)
        fabric.wait_until(lambda: self._has_notified() or self.service.status is not None, f"the start: {self.service}", 60)
        if self.service.status is not None:
            raise AssertionError(f"no start: {self.service}")

    def stop(self):
        super().stop()
        self._notify.close()

    def end(self):
        """Stops the service as systemd does; returns its exit status."""
        assert self.device_process() == self.service.pid, self.service
        os.kill(self.service.pid, signal.SIGTERM)
        return self.service.wait()


class UserService(unittest.TestCase):
    def service(self, *arguments):
        return self.enterContext(Service(*arguments))

    def pingpong(self, server_on, client_on, *options, devices=("urnic0", "urnic0")):
        port = fabric.free_port()
        words = ("ibv_rc_pingpong", "-c", "-n", "200", "-s", "20000", "-p", port, *options)
        server = server_on.start_on_urnic(*words, "-d", devices[0])
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a listener: {server}")
        client = client_on.start_on_urnic(*words, "-d", devices[1], "127.0.0.1")
        for output in fabric.end_pair(server, client, fabric.PATIENCE, lambda: f"{server_on.service}\n{client_on.service}"):
            # The program reports wrong data, but its exit status is 0.
            self.assertNotIn("invalid data", output)
            self.assertIn("200 iters in ", output)

    def ends_well(self, *services):
        for each in services:
            self.assertEqual(each.end(), 0, each.service)
            self.assertNotIn("not restricted", each.service.output())
            self.assertFalse(each.run_directory.exists())

    def test_the_unit_alone(self):
        service = self.service()
        service.up()
        self.pingpong(service, service, "-g", "1", devices=("urnic0", "urnic1"))
        self.ends_well(service)

    def test_devices_on_udp(self):
        addresses = [f"{OWN}.1", f"{OWN}.2", *(["::1"] if has_ipv6() else [])]
        service = self.service()
        service.up("".join(map(UDP.format, addresses)))
        self.pingpong(service, service, "-g", "0", devices=("urnic0", "urnic1"))
        if "::1" in addresses:
            self.pingpong(service, service, "-g", "0", devices=("urnic2", "urnic2"))
        self.ends_well(service)

    def test_a_network_of_the_programs(self):
        network.require_namespaces("ip tuntap add dev try0 mode tap")
        ways = [""] + (["outside = true\n"] if shutil.which("slirp4netns") else [])
        for outside in ways:
            with self.subTest(outside), Service() as service:
                service.up("network = true\n" + outside)
                shown = service.run_on_urnic("ip", "-br", "address")
                for expected in ("192.0.2.1/24", "192.0.2.2/24", *(["10.0.2.100/24"] if outside else [])):
                    self.assertIn(expected, shown)
                words = ("ibv_rc_pingpong", "-c", "-g", "1")
                both = f"{' '.join(words)} -d urnic0 & sleep 1; {' '.join(words)} -d urnic1 192.0.2.1 && wait $!"
                self.assertIn("1000 iters in ", service.run_on_urnic("sh", "-c", both))
                self.ends_well(service)

    def test_infiniband_and_its_manager(self):
        # opensm where it is installed, which has the service's restrictions, too.
        service = self.service()
        service.up('subnet_manager = "automatic"\n' + 2 * '[[devices]]\nlink_layer = "infiniband"\n')
        self.pingpong(service, service, devices=("urnic0", "urnic1"))
        self.assertIn("2 of 2 ports active", service.run(service.urnic, "status"))
        self.ends_well(service)

    def way_to_memory(self, on):
        """How the device process reads a program's memory."""
        program = on.start_on_urnic("ibv_rc_pingpong", "-d", "urnic0", "-g", "1", "-p", fabric.free_port())
        fabric.wait_until(lambda: on.status()["contexts"] or program.status is not None, f"a program: {program}")
        (process,) = on.status()["contexts"][0]["processes"]
        program.kill()
        return process["memory"]

    def test_memory_is_read_as_without_the_unit(self):
        service, other = self.service(), self.enterContext(fabric.Fabric())
        service.up()
        other.up()
        self.assertEqual(self.way_to_memory(service), self.way_to_memory(other))

    def lan(self, first, second):
        one, two = self.service(), self.service()
        names = {"one": one.home / "one", "two": two.home / "two", "ports": (fabric.free_port(), fabric.free_port())}
        one.up(LAN.format(lan=first.format(**names), number=1))
        two.up(LAN.format(lan=second.format(**names), number=2))
        self.pingpong(one, two, "-g", "1")
        self.ends_well(two, one)

    def test_a_lan_by_a_stream(self):
        self.lan('listen = "{one}"', 'connect = "{one}"')

    def test_a_lan_by_unix_datagrams(self):
        self.lan('datagram = "{one}"\nremote = "{two}"', 'datagram = "{two}"\nremote = "{one}"')

    def test_a_lan_by_udp(self):
        end = 'datagram = "127.0.0.1:{{ports[{}]}}"\nremote = "127.0.0.1:{{ports[{}]}}"'
        self.lan(end.format(0, 1), end.format(1, 0))

    def test_a_lan_on_a_tap_interface(self):
        namespace = self.enterContext(network.TwoHosts()).hosts[0].namespace
        service = self.service(namespace)
        service.up(LAN.format(lan='tap = "tap7"', number=1))
        namespace.run("ip", "link", "set", "tap7", "up")

        def frames():
            return json.loads(service.run(service.urnic, "link", "show", "--json"))["lan"]["counters"]["rx_frames"]

        fabric.wait_until(lambda: frames() > 0, f"the host's frames: {service.service}")
        self.ends_well(service)

    def test_a_lan_on_an_interface_is_refused(self):
        namespace = self.enterContext(network.TwoHosts()).hosts[0].namespace
        service = self.service(namespace).begin(LAN.format(lan='interface = "lo"', number=1))
        self.assertEqual(service.wait(), 1, service)
        self.assertIn("interface lo: packet socket: Address family not supported", service.output())

    def test_what_is_refused(self):
        service = self.service()
        try_all = (*PYTHON, service.home / "tried_calls.py")
        without, found = (json.loads(service.run(*words, *try_all)) for words in ((), (*service.as_service(), "--")))
        for name, outcome in without["calls"].items():
            with self.subTest(name):
                if name in NEEDED:
                    self.assertEqual(found["calls"][name], outcome)
                elif name == "foreign call" and outcome != "done":
                    self.skipTest("this kernel runs no 32-bit programs")
                else:
                    self.assertNotEqual(outcome, REFUSED[name], "without the unit")
                    self.assertEqual(found["calls"][name], REFUSED[name])
        self.assertEqual(found["state"], {"umask": "0077", "no new privileges": "1", "core": [0, 0],
                                          "descriptors": without["state"]["descriptors"]})

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze here")
    def test_systemd_knows_each_setting(self):
        service = self.service()
        self.assertEqual(service.run("systemd-analyze", "verify", "--user", UNIT), "")

    def test_an_unknown_setting_is_noticed(self):
        service = self.service()
        drop_in = service.home / "more.conf"
        drop_in.write_text("[Service]\nPrivateDevices=yes\n")
        self.assertIn("not tested: Service: PrivateDevices", service.run(*service.as_service(drop_in), status=1))


if __name__ == "__main__":
    unittest.main()
