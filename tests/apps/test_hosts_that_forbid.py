#!/usr/bin/python3
"""Machines and containers that forbid something: what works there, and what is said where it cannot
(docs/hosts-that-forbid.md). The device process and its programs are in the same container."""

import contextlib
import json
import os
import pathlib
import subprocess
import unittest

import fabric

# Two programs send each other messages, and check them.
PAIR = r"""
"$1" run -- ibv_rc_pingpong -d urnic0 -g 1 -c -p "$2" & server=$!
until grep -q "$(printf ':%04X .* 0A ' "$2")" /proc/net/tcp /proc/net/tcp6; do
  kill -0 $server || exit 1
  sleep 0.1
done
"$1" run -- ibv_rc_pingpong -d urnic1 -g 1 -c -p "$2" 127.0.0.1 && wait $server
"""
RUN_FAILED = 125
# What Docker's default profile refuses to a container without capabilities, of the calls that programs may try.
DOCKER = ("add_key", "bpf", "clock_settime", "io_uring_setup", "kcmp", "keyctl", "mount", "name_to_handle_at",
          "open_by_handle_at", "perf_event_open", "personality", "pivot_root", "process_vm_readv", "process_vm_writev", "ptrace",
          "request_key", "setns", "umount2", "unshare", "userfaultfd")


def shell(script):
    """The words in front of a command that does what the script says, and then runs it."""
    return ("bash", "-c", f'{script}; exec "$@"', "-")


def mounts(script):
    """The same, as root of a user namespace with mounts of its own."""
    return ("unshare", "-Urm", *shell(f"set -e; {script}"))


class HostsThatForbid(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.copy_home("forbid_calls.py")

    def require(self, *prefix):
        tried = self.fabric.start(*prefix, "true")
        if tried.wait() != 0:
            self.skipTest(f"this condition cannot be made here: {tried.output().strip()}")

    def pair(self, *prefix, status=0):
        """Runs the pair behind the words of `prefix`; returns what it and the device process have said."""
        self.require(*prefix)
        return self.fabric.run(*prefix, "bash", "-c", PAIR, "-", self.fabric.urnic, fabric.free_port(), status=status)

    def refused(self, *prefix, naming):
        self.require(*prefix)
        said = self.fabric.run(*prefix, self.fabric.urnic, "run", "--", "true", status=RUN_FAILED)
        self.assertIn(naming, said)
        self.assertLessEqual(said.count("\n"), 2, said)

    def forbid(self, error, *names):
        return ("/usr/bin/python3", self.fabric.home / "forbid_calls.py", error, *names, "--")

    def test_little_locked_memory(self):
        self.pair(*shell("ulimit -l 64"))

    def test_small_shared_memory(self):
        self.pair(*mounts("mount -t tmpfs -o size=64k none /dev/shm"))

    def test_no_shared_memory(self):
        self.pair(*mounts("mkdir -p dev; mount -t tmpfs -o mode=755 none dev; for name in null zero full random urandom; do "
                          "touch dev/$name; mount --bind /dev/$name dev/$name; done; mount --rbind dev /dev; test ! -e /dev/shm"))

    def read_only_root(self, then):
        home = self.fabric.home
        return mounts(f"mkdir -p root run; mount --rbind / root; mount -o remount,bind,ro root; {then}; cd /; "
                      f'! touch {home}/root/{home}/x 2>/dev/null; exec chroot {home}/root "$@"')

    def test_read_only_root(self):
        prefix = (*self.read_only_root("mount -t tmpfs -o mode=700 none root$PWD/run"),
                  "env", f"URNIC_DIR={self.fabric.home}/run/urnic")
        self.pair(*prefix)

    def test_nothing_can_be_written(self):
        self.refused(*self.read_only_root("true"), naming="Read-only file system: set URNIC_DIR to another path")

    def test_no_way_into_other_processes(self):
        for error in ("EPERM", "ENOSYS"):
            with self.subTest(error):
                self.pair(*self.forbid(error, "process_vm_readv", "process_vm_writev", "ptrace"))

    def test_dockers_filter(self):
        self.pair(*self.forbid("EPERM", *DOCKER))

    def test_no_namespaces(self):
        """The devices' network cannot be made; devices without it can."""
        for error in ("EPERM", "ENOSPC"):
            with self.subTest(error):
                prefix = self.forbid(error, "unshare")
                said = self.fabric.run(*prefix, self.fabric.urnic, "run", "--network", "--", "true", status=RUN_FAILED)
                self.assertIn("this system lets its users make none", said)
                self.assertLessEqual(said.count("\n"), 2, said)
                self.assertIn("user.max_user_namespaces", self.fabric.run(*prefix, self.fabric.urnic, "doctor"))
                self.pair(*prefix)

    def test_an_old_kernel(self):
        self.pair(*self.forbid("ENOSYS", "clone3", "close_range", "openat2", "pidfd_open", "rseq"))

    def test_no_memory_files(self):
        self.refused(*self.forbid("EPERM", "memfd_create"), naming="memfd_create: Operation not permitted")

    def test_little_address_space(self):
        self.refused(*shell("ulimit -v 300000"), naming="Cannot allocate memory")

    def test_few_descriptors(self):
        self.refused(*shell("ulimit -n 40"), naming="Too many open files")

    def test_one_processor_and_little_memory(self):
        with self.memory_group(256 << 20) as procs:
            self.pair("taskset", "--cpu-list", str(min(os.sched_getaffinity(0))))
            self.assertTrue(procs.exists())

    def test_memory_of_a_group_around_its_own_that_changes(self):
        """What programs may have is half of the limit, wherever it is set, and follows it."""
        def promised():
            return json.loads(self.fabric.run(self.fabric.urnic, "status", "--json"))["limits"]["memory"]["all"]

        with self.memory_group(1 << 30) as procs:
            group = procs.parent
            inner = group / "inner"
            try:
                inner.mkdir()
                (inner / "cgroup.procs").write_text(str(os.getpid()))
                self.fabric.up()
                (group / "cgroup.procs").write_text(str(os.getpid()))
                self.assertEqual(promised(), 512 << 20)
                limit = next(file for file in (group / "memory.max", group / "memory.limit_in_bytes") if file.exists())
                limit.write_text(str(300 << 20))
                fabric.wait_until(lambda: promised() == 150 << 20, "the new limit")
                self.assertIn("150 MiB", self.fabric.log())
            finally:
                self.fabric.stop()
                fabric.wait_until(lambda: not (inner / "cgroup.procs").read_text(), "the end of the group's processes")
                inner.rmdir()

    @contextlib.contextmanager
    def memory_group(self, limit):
        """Puts this process, and what it starts, into a control group with so many bytes of memory."""
        base = pathlib.Path("/sys/fs/cgroup")
        first = (base / "memory").is_dir()  # version 1
        group = (base / "memory" if first else base) / f"urnic-test-{os.getpid()}"
        before = next((line.split(":")[2] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()
                       if line.split(":")[1] == ("memory" if first else "")), "/")
        home = (base / "memory" if first else base) / before.lstrip("/") / "cgroup.procs"
        try:
            home.write_text(str(os.getpid()))  # so that there is a way back
            group.mkdir()
            (group / ("memory.limit_in_bytes" if first else "memory.max")).write_text(str(limit))
            (group / "cgroup.procs").write_text(str(os.getpid()))
        except OSError as error:
            with contextlib.suppress(OSError):
                group.rmdir()
            self.skipTest(f"no control group can be made here: {error}")
        try:
            yield group / "cgroup.procs"
        finally:
            home.write_text(str(os.getpid()))
            self.fabric.stop()
            fabric.wait_until(lambda: not (group / "cgroup.procs").read_text(), "the end of the group's processes")
            group.rmdir()


class TwoContainers(unittest.TestCase):
    """Two containers of one user with one device process, whose run directory is mounted into both. Each has its own user,
    mount and process number namespaces."""

    def test_two_containers(self):
        with fabric.Fabric() as own:
            own.up()
            port = fabric.free_port()
            container = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", *shell("true"))
            tried = subprocess.run([*container, "true"], capture_output=True, text=True)
            if tried.returncode != 0:
                self.skipTest(f"no container can be made here: {tried.stderr.strip()}")
            words = ("ibv_rc_pingpong", "-g", "1", "-c", "-p", port)
            first = own.start(*container, *own.on_urnic(*words, "-d", "urnic0"))
            fabric.wait_until(lambda: fabric.is_listening(port) or first.status is not None, f"a listening server: {first}")
            second = own.start(*container, *own.on_urnic(*words, "-d", "urnic1", "127.0.0.1"))
            fabric.end_pair(first, second, 60, own.log)


if __name__ == "__main__":
    unittest.main()
