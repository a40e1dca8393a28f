"""A Linux guest with Soft-RoCE in QEMU, emulated (no KVM), as an ordinary user. It sees the host's files, read-only, under a
layer of its own, so every program of the host runs in it. Its network card eth0 is on a stream socket of Ethernet frames.
By eth1 programs open TCP connections between host and guest, over which they tell each other their queue pairs."""

import base64
import ipaddress
import lzma
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "apps"))
import fabric  # noqa: E402

import guest_files  # noqa: E402

BOOT_SECONDS = 180  # on a busy machine; 10 on an idle one
# An emulated machine is slow, and shares two processors with others.
PATIENCE = 120.0
HOST = "10.0.2.2"  # the host's loopback address, as the guest reaches it by QEMU's user network


def files(pvrdma=False):
    """In the folder URNIC_GUEST_FILES, which ctest names; by hand in the user's cache."""
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "urnic-guest"
    return guest_files.prepare(os.environ.get("URNIC_GUEST_FILES", default), pvrdma)


class GuestProgram:
    """A program in a guest; with the methods of fabric.Program that tests need."""

    def __init__(self, guest, number, command):
        self.guest, self.number, self.command = guest, number, command
        self.status = None
        self.lines = []

    def output(self):
        return "\n".join(self.lines) + "\n"

    def wait(self, timeout=PATIENCE):
        try:
            fabric.wait_until(lambda: self.status is not None or not self.guest.alive, f"the end of {self}", timeout)
        except AssertionError:
            self.kill()
            raise AssertionError(f"{self} did not end within {timeout} seconds") from None
        if self.status is None:
            raise AssertionError(f"the guest has ended before {self}\n{self.guest.console()}")
        return self.status

    def wait_for_output(self, text, timeout=PATIENCE):
        fabric.wait_until(lambda: text in self.output() or self.status is not None, f"'{text}' from {self}", timeout)
        if text not in self.output():
            raise AssertionError(f"{self} ended without saying '{text}'")

    def kill(self):
        if self.status is None and self.guest.alive:
            self.guest.start(f"kill -9 -- -$(cat /run/group.{self.number})")

    def __str__(self):
        return f"{self.command} [in the guest, status {self.status}]\n{self.output()[-6000:]}"


class Guest:
    """Use as a context manager. `wire`: the UNIX stream socket of frames, on which somebody listens."""

    def __init__(self, directory, wire, address="10.0.0.2/24", mtu=1500, mac="52:54:00:00:00:02", user=fabric.ORDINARY_USER,
                 processors=1):
        self.directory = pathlib.Path(directory)
        self.user = user if os.geteuid() == 0 else None
        self.wire, self.address, self.mtu, self.mac = wire, address, mtu, mac
        self.ports = [fabric.free_port() for _ in range(16)]  # of the guest, which the host reaches at 127.0.0.1
        self.processors = processors
        self._programs = {}
        self._lock = threading.Lock()

    def __enter__(self):
        made = self._files()
        begin = time.monotonic()
        try:
            self._boot(made)
        except BaseException:
            self.stop()
            raise
        self.boot_seconds = time.monotonic() - begin
        return self

    def __exit__(self, *_):
        self.stop()

    def _files(self):
        return files()

    def _machine(self):
        """QEMU's options for memory and network cards."""
        return ["-m", "2G", "-netdev", f"stream,id=wire,server=off,addr.type=unix,addr.path={self.wire}",
                "-device", f"virtio-net-pci,netdev=wire,mac={self.mac},host_mtu={self.mtu}",
                "-netdev", "user,id=tcp," + ",".join(f"hostfwd=tcp:127.0.0.1:{port}-:{port}" for port in self.ports),
                "-device", "virtio-net-pci,netdev=tcp"]

    def _kernel_options(self):
        return "console=ttyS0 quiet panic=-1 mitigations=off"

    def _launch(self, command, errors):
        """Starts QEMU as the ordinary user."""
        if self.user is not None:
            command = ["setpriv", "--reuid", str(self.user), "--regid", str(self.user), "--clear-groups", "--", *command]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)

    def _set_up(self):
        """What the guest does before the first program."""
        self.run("for name in all default eth0; do echo 0 > /proc/sys/net/ipv6/conf/$name/accept_dad; done; "
                 f"ip link set eth0 mtu {self.mtu} up && ip address add {self.address} dev eth0 && "
                 "ip link set eth1 up && ip address add 10.0.2.15/24 dev eth1 && rdma link add rxe0 type rxe netdev eth0")

    def _boot(self, made):
        for file in (made.kernel, made.initrd):  # where the ordinary user can read them
            shutil.copyfile(file, self.directory / file.name)
        agent = self.directory / "agent"
        command = [guest_files.QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(self.processors), "-display", "none",
                   "-nodefaults", "-no-reboot", "-monitor", "none", "-kernel", self.directory / "vmlinuz", "-initrd",
                   self.directory / "initrd", "-append", self._kernel_options(),
                   "-serial", f"file:{self.directory / 'console'}",
                   "-chardev", f"socket,id=agent,path={agent},server=on,wait=off", "-serial", "chardev:agent",
                   "-virtfs", "local,path=/,mount_tag=hostfs,security_model=none,readonly=on,multidevs=remap",
                   *self._machine()]
        if self.user is not None:
            shutil.chown(self.directory, self.user, self.user)
        with (self.directory / "qemu").open("w") as errors:
            self._qemu = self._launch(list(map(str, command)), errors)
        self._agent = socket.socket(socket.AF_UNIX)
        fabric.wait_until(lambda: self._connect_agent(agent) or not self.alive, "QEMU's serial line")
        if not self.alive:
            raise AssertionError("QEMU has ended: " + (self.directory / "qemu").read_text())
        ready = GuestProgram(self, 0, "boot")
        self._programs[0] = ready
        threading.Thread(target=self._read, daemon=True).start()
        fabric.wait_until(lambda: "ready" in ready.output() or not self.alive, f"the guest's agent: {self.console()}", BOOT_SECONDS)
        if not self.alive:
            raise AssertionError(f"the guest has ended\n{self.console()}\n{(self.directory / 'qemu').read_text()[-3000:]}")
        self._set_up()

    def _connect_agent(self, path):
        try:
            self._agent.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True

    @property
    def alive(self):
        return self._qemu.poll() is None

    def console(self):
        """The end of what the kernel has said."""
        try:
            return (self.directory / "console").read_text(errors="replace")[-3000:]
        except OSError:
            return ""

    def start(self, command):
        """Starts a shell command of one line, as root."""
        with self._lock:
            number = len(self._programs)
            program = self._programs[number] = GuestProgram(self, number, command)
            self._agent.sendall(f"{number} {command}\n".encode())
        return program

    def run(self, command, timeout=PATIENCE, status=0):
        """Runs a command to its end; its output. AssertionError if its exit status is not `status`."""
        program = self.start(command)
        if program.wait(timeout) != status:
            raise AssertionError(f"not status {status}: {program}")
        return program.output()

    def copy(self, file):
        """Copies a file of the host, from where the guest may see none; its path in the guest."""
        place = f"/run/{pathlib.Path(file).name}"
        text = base64.b64encode(lzma.compress(pathlib.Path(file).read_bytes())).decode()
        self.run(f"echo {text} | base64 -d | xz -d > {place}")
        return place

    def wait_until_listening(self, port):
        """Does not connect, because servers take one connection only."""
        self.run(f"until grep -q ':{port:04X} .* 0A ' /proc/net/tcp /proc/net/tcp6; do sleep 0.2; done")

    def gid_index(self, address, device="rxe0"):
        """Of Soft-RoCE's GID that is the IPv4 or IPv6 address."""
        ip = ipaddress.ip_address(address)
        wanted = (ipaddress.ip_address(f"::ffff:{ip}") if ip.version == 4 else ip).exploded
        folder = f"/sys/class/infiniband/{device}/ports/1/gids"
        found = self.run(f"cd {folder}; grep -lx '{wanted}' *").split()
        return int(found[0])

    def _read(self):
        for line in self._agent.makefile(errors="replace"):
            number, _, text = line.rstrip("\r\n").partition(" ")
            ended = number.endswith("!")
            program = self._programs.get(int(number.rstrip("!"))) if number.rstrip("!").isdigit() else None
            if program is None:
                continue
            if ended:
                program.status = int(text)
            else:
                program.lines.append(text)

    def stop(self):
        if getattr(self, "_qemu", None) is not None:
            self._qemu.kill()
            self._qemu.wait()
            self._agent.close()
