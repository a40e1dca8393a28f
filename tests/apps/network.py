"""Hosts of an IP network, made by an ordinary user: network namespaces in a user namespace, joined by veth pairs."""

import os
import pathlib
import subprocess
import unittest

import fabric


def _as_user():
    """The words in front of a command that make it an ordinary user's."""
    user = str(fabric.ORDINARY_USER)
    return ("setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--") if os.geteuid() == 0 else ()


def require_namespaces(script="ip link add try0 type veth"):
    """SkipTest, with the reason, where an ordinary user may not make namespaces, or not what the script makes in them."""
    tried = subprocess.run([*_as_user(), "unshare", "-Urn", "sh", "-c", script],
                           capture_output=True, text=True, cwd="/", check=False)
    if tried.returncode != 0:
        raise unittest.SkipTest(f"no network namespaces for an ordinary user here: {tried.stderr.strip()}")


class _Namespace:
    """A process that holds a network namespace; a second one is made inside the user namespace of the first."""

    def __init__(self, inside=None):
        words = ("unshare", "-Urn") if inside is None else (*inside.enter, "unshare", "-n")
        self._holder = subprocess.Popen([*_as_user(), *words, "sh", "-c", "echo ready; exec sleep infinity"],
                                        stdout=subprocess.PIPE, text=True, cwd="/")
        assert self._holder.stdout.readline() == "ready\n"
        self.run("ip", "link", "set", "lo", "up")

    @property
    def pid(self):
        return self._holder.pid

    @property
    def enter(self):
        """The words in front of a command that runs in the namespace."""
        return ("nsenter", "-t", str(self.pid), "-U", "--preserve-credentials", "-n", "--")

    def run(self, *command):
        ended = subprocess.run([*_as_user(), *self.enter, *map(str, command)], capture_output=True, text=True, cwd="/",
                               check=False)
        if ended.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))}: {ended.stderr}")
        return ended.stdout

    def end(self):
        self._holder.kill()
        self._holder.wait()
        self._holder.stdout.close()


class Host(fabric.Fabric):
    """A fabric whose programs and device process are on a host of the network."""

    def __init__(self, namespace, number):
        super().__init__()
        self.namespace = namespace
        self.address = f"10.77.0.{number}"
        self.address6 = f"fd77::{number}"

    def start(self, *command, environment=None):
        return super().start(*self.namespace.enter, *command, environment=environment)

    def up_on_udp(self, *options, address=None):
        """Starts a device process with one device, on UDP."""
        self.run(self.urnic, "up", "--udp", address or self.address, *options)

    def is_listening(self, port):
        wanted = f":{port:04X}"
        for table in ("tcp", "tcp6"):
            for line in pathlib.Path(f"/proc/{self.namespace.pid}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(wanted) and fields[3] == "0A":
                    return True
        return False


class _Network:
    """Use as a context manager."""

    def __init__(self):
        require_namespaces()
        self._namespaces = [_Namespace()]
        self.hosts = []

    def _add_namespace(self):
        self._namespaces.append(_Namespace(inside=self._namespaces[0]))
        return self._namespaces[-1]

    def _add_host(self, namespace):
        """A host whose interface eth0 is there already."""
        host = Host(namespace, len(self.hosts) + 1)
        namespace.run("ip", "address", "add", f"{host.address}/24", "dev", "eth0")
        namespace.run("ip", "address", "add", f"{host.address6}/64", "dev", "eth0", "nodad")
        namespace.run("ip", "link", "set", "eth0", "up")
        self.hosts.append(host)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for host in self.hosts:
            host.stop()
        for namespace in reversed(self._namespaces):
            namespace.end()

    def run_pair(self, server, client, timeout=fabric.PATIENCE, between=(0, 1), address=None):
        """Runs a server on the first of two hosts and its client on the second one, until both end with status 0. Both
        take the TCP port with -p, and the client the server's address (or another one of that host) as its last argument.
        Returns both outputs."""
        port = fabric.free_port()
        one, two = (self.hosts[number] for number in between)
        first = one.start_on_urnic(*server, "-p", port)
        fabric.wait_until(lambda: one.is_listening(port) or first.status is not None, f"a listening server: {first}")
        second = two.start_on_urnic(*client, "-p", port, address or one.address)
        return fabric.end_pair(first, second, timeout, lambda: f"{one.log()}\n{two.log()}")


class TwoHosts(_Network):
    """Two hosts and a cable."""

    def __init__(self, mtu=1500):
        super().__init__()
        first, second = self._namespaces[0], self._add_namespace()
        first.run("ip", "link", "add", "eth0", "mtu", mtu, "type", "veth", "peer", "name", "eth0", "mtu", mtu, "netns",
                  second.pid)
        self._add_host(first)
        self._add_host(second)


    def add_cable(self):
        """Joins the hosts by a second cable, at the interfaces eth1. Returns their addresses there."""
        first, second = self._namespaces
        first.run("ip", "link", "add", "eth1", "type", "veth", "peer", "name", "eth1", "netns", second.pid)
        addresses = [f"10.78.0.{number}" for number in (1, 2)]
        for namespace, address in zip((first, second), addresses):
            namespace.run("ip", "address", "add", f"{address}/24", "dev", "eth1")
            namespace.run("ip", "link", "set", "eth1", "up")
        return addresses


class Lan(_Network):
    """Several hosts on a switch."""

    def __init__(self, hosts):
        super().__init__()
        middle = self._namespaces[0]
        middle.run("ip", "link", "add", "switch", "type", "bridge")
        middle.run("ip", "link", "set", "switch", "up")
        for number in range(hosts):
            namespace = self._add_namespace()
            middle.run("ip", "link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", namespace.pid)
            middle.run("ip", "link", "set", f"port{number}", "master", "switch", "up")
            self._add_host(namespace)
