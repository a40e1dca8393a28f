"""Hosts of an IP network, made by an ordinary user: network namespaces in a user namespace, on a switch or a cable."""

import contextlib
import pathlib
import subprocess
import sys

from bench_parts.device import Device
from lossbench_parts.programs import Failed, last_line

# Sets what ethtool -K sets: TCP's segmentation, all segmentation, and the joining of what arrives.
SET_OFFLOADS = """
import array, fcntl, socket, struct, sys
ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO, SIOCETHTOOL = 0x1F, 0x24, 0x2C, 0x8946
with socket.socket() as any_socket:
    for command in (ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO):
        value = array.array("B", struct.pack("II", command, int(sys.argv[2])))
        fcntl.ioctl(any_socket, SIOCETHTOOL, struct.pack("16sP", sys.argv[1].encode(), value.buffer_info()[0]))
"""
# A packet in so many is lost, of those that arrive by TCP.
LOSE = "table ip loss { chain arriving { type filter hook input priority 0; meta l4proto tcp numgen random mod %d == 0 drop; }; }"


class Host:
    """A network namespace, which a process holds; `inside`: another host, whose user namespace it shares."""

    def __init__(self, number, inside=None):
        words = ("unshare", "-Urn") if inside is None else (*inside.enter, "unshare", "-n")
        self.address = f"10.78.0.{number}"
        self._holder = subprocess.Popen([*words, "sh", "-c", "echo ready; exec sleep infinity"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        if self._holder.stdout.readline() != "ready\n":
            self.close()
            raise Failed("this user may not make network namespaces")
        self.run("ip", "link", "set", "lo", "up")

    @property
    def pid(self):
        return self._holder.pid

    @property
    def enter(self):
        """The words in front of a command that runs on the host."""
        return ["nsenter", "-t", str(self.pid), "-U", "--preserve-credentials", "-n", "--"]

    @property
    def tables(self):
        return pathlib.Path(f"/proc/{self.pid}/net")

    def run(self, *command):
        ended = subprocess.run([*self.enter, *map(str, command)], capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise Failed(f"{command[0]} on a host: {last_line(ended.stderr)}")

    def has_interface(self, offloads):
        """Its interface eth0 is there."""
        self.run("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.run(sys.executable, "-c", SET_OFFLOADS, "eth0", int(offloads))
        self.run("ip", "link", "set", "eth0", "up")

    def lose_tcp(self, one_in):
        """False: this machine cannot (it has no nft)."""
        try:
            self.run("nft", LOSE % one_in)
        except (Failed, OSError):
            return False
        return True

    def close(self):
        self._holder.kill()
        self._holder.communicate()


@contextlib.contextmanager
def cable(mtu, offloads):
    """Two hosts that a cable joins."""
    with contextlib.ExitStack() as stack:
        one = stack.enter_context(contextlib.closing(Host(1)))
        two = stack.enter_context(contextlib.closing(Host(2, one)))
        one.run("ip", "link", "add", "eth0", "mtu", mtu, "type", "veth", "peer", "name", "eth0", "mtu", mtu, "netns", two.pid)
        for host in (one, two):
            host.has_interface(offloads)
        yield one, two


@contextlib.contextmanager
def switched(count, mtu):
    """Hosts on a switch."""
    with contextlib.ExitStack() as stack:
        middle = stack.enter_context(contextlib.closing(Host(0)))
        middle.run("ip", "link", "add", "switch", "mtu", mtu, "type", "bridge")
        middle.run("ip", "link", "set", "switch", "up")
        hosts = []
        for number in range(1, count + 1):
            host = stack.enter_context(contextlib.closing(Host(number, middle)))
            middle.run("ip", "link", "add", f"port{number}", "mtu", mtu, "type", "veth", "peer", "name", "eth0", "mtu", mtu,
                       "netns", host.pid)
            middle.run("ip", "link", "set", f"port{number}", "master", "switch", "up")
            host.has_interface(True)
            hosts.append(host)
        yield hosts


class UdpDevice(Device):
    """The device process of a host, with one device on UDP."""

    def __init__(self, urnic, host, settings=""):
        super().__init__(urnic, f'[[devices]]\nwire = "udp"\naddresses = ["{host.address}"]\n{settings}', host.enter)
        self.host = host

    def udp_counters(self):
        """What `urnic counters` says of the wire, without "udp_"."""
        return {name[4:]: value for name, value in self.counters()["urnic0"].items() if name.startswith("udp_")}
