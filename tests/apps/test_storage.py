#!/usr/bin/python3
"""Storage and virtual machines over rdma_cm, with Debian's programs and libraries: Ceph's messenger, an iSER target and its
initiators, QEMU's migration, librpma. docs/programs.md has the results."""

import contextlib
import filecmp
import json
import socket
import time
import unittest

import fabric
from program_pairs import ProgramTest

CEPH_CONFIGURATION = """[global]
fsid = {fsid}
mon_host = 127.0.0.1:{port}
mon_initial_members = a
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_type = async+rdma
ms_bind_msgr2 = false
ms_async_rdma_device_name = urnic0
ms_async_rdma_gid_idx = {gid_index}
ms_async_rdma_receive_buffers = 1024
ms_async_rdma_send_buffers = 256
ms_async_rdma_receive_queue_len = 256
run_dir = {folder}
admin_socket = {folder}/$name.socket
log_file = {folder}/$name.log
mon_data = {folder}/mon
"""
CEPH_FSID = "1b2c3d4e-0000-4000-8000-000000000001"


class Ceph(ProgramTest):
    def test_monitor_and_client(self):
        folder, port = self.scratch_folder("ceph"), fabric.free_port()
        configuration = self.fabric.directory / "ceph.conf"
        configuration.write_text(CEPH_CONFIGURATION.format(fsid=CEPH_FSID, port=port, folder=folder, gid_index=self.gid_index))
        environment = {"CEPH_CONF": str(configuration)}
        monitors = folder / "monitors"
        self.fabric.run("monmaptool", "--create", "--add", "a", f"127.0.0.1:{port}", "--fsid", CEPH_FSID, monitors)
        self.run_on_urnic("ceph-mon", "--mkfs", "-i", "a", "--monmap", monitors, "--keyring", "/dev/null",
                          environment=environment)
        # The messenger connects its queue pairs by a TCP connection.
        self.serve("ceph-mon", "-i", "a", "-f", environment=environment, tcp_port=port)
        with self.over_urnic(least=50):
            self.assertIn("quorum a", self.run_on_urnic("ceph", "-s", environment=environment))
            for number in range(20):
                self.run_on_urnic("ceph", "config-key", "set", f"key{number}", f"value {number} " * 500,
                                  environment=environment)
            # Warnings are printed, too.
            self.assertIn(("value 7 " * 500).strip(),
                          self.run_on_urnic("ceph", "config-key", "get", "key7", environment=environment))


class Iser(ProgramTest):
    NAME = "iqn.2026-11.urnic:disk"
    INITIATOR = "iqn.2008-11.org.linux-kvm"  # QEMU's
    # tgt cannot be given another port: it takes any errno from before for a wrong one.
    URL = f"iser://127.0.0.1:3260/{NAME}/1"

    def manage(self, *words):
        self.fabric.run("tgtadm", "-C", "7", "--lld", "iser", *words, environment=self.environment)

    def test_target(self):
        disk, copy = self.fabric.home / "disk", self.fabric.home / "copy"
        self.fabric.run("dd", "if=/dev/urandom", f"of={disk}", "bs=1M", "count=16", "status=none")
        self.environment = {"TGT_IPC_SOCKET": str(self.fabric.home / "tgt")}
        self.serve("tgtd", "-f", "-C", "7", "--iscsi", f"portal=127.0.0.1:{fabric.free_port()}", environment=self.environment)
        self.manage("--mode", "target", "--op", "new", "--tid", "1", "-T", self.NAME)
        self.manage("--mode", "logicalunit", "--op", "new", "--tid", "1", "--lun", "1", "-b", disk)
        for who in (("-I", "ALL"), ("-Q", self.INITIATOR)):
            self.manage("--mode", "target", "--op", "bind", "--tid", "1", *who)
        self.assertIn("LOGICAL BLOCK LENGTH IN BYTES:512",
                      self.run_on_urnic("iscsi-readcapacity16", "-i", self.INITIATOR, self.URL))
        # libiscsi takes at most 256 KiB at once over iSER; qemu-img convert would ask for 2 MiB.
        with self.over_urnic(least=4000):
            self.run_on_urnic("qemu-img", "dd", "bs=128k", "-f", "raw", "-O", "raw", f"if={self.URL}", f"of={copy}")
        self.assertTrue(filecmp.cmp(disk, copy, shallow=False))
        self.run_on_urnic("qemu-io", "-f", "raw", "-c", "write -P 0x5a 64k 128k", "-c", "read -P 0x5a 64k 128k", self.URL)
        self.assertEqual(disk.read_bytes()[65536:3 * 65536], b"\x5a" * (2 * 65536))


class Monitor:
    """QEMU's machine protocol."""

    def __init__(self, path):
        def connect():
            with contextlib.suppress(OSError):
                self._socket.connect(str(path))
                return True
            return False

        self._socket = socket.socket(socket.AF_UNIX)
        fabric.wait_until(connect, "QEMU's monitor")
        self._lines = self._socket.makefile("rw")
        self._lines.readline()
        self("qmp_capabilities")

    def close(self):
        self._lines.close()
        self._socket.close()

    def __call__(self, command, **arguments):
        self._lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._lines.flush()
        while True:
            answer = json.loads(self._lines.readline())
            if "event" not in answer:
                return answer["return"]


class Qemu(ProgramTest):
    def machine(self, name, *options):
        socket_path = self.fabric.home / f"{name}.monitor"
        program = self.start("qemu-system-x86_64", "-accel", "tcg", "-m", "32", "-nodefaults", "-display", "none",
                             "-qmp", f"unix:{socket_path},server=on,wait=off", *options)
        monitor = Monitor(socket_path)
        self.addCleanup(lambda: (program.kill(), monitor.close(), socket_path.unlink()))
        return monitor

    def migrate(self, address, pin_all):
        uri = f"rdma:{address}:{fabric.free_port()}"
        source = self.machine("source")
        destination = self.machine("destination", "-incoming", uri)
        time.sleep(1)  # the guest's firmware fills some memory
        source("stop")
        before, after = self.fabric.home / "before", self.fabric.home / "after"
        source("pmemsave", val=0, size=32 << 20, filename=str(before))
        capabilities = [{"capability": "rdma-pin-all", "state": pin_all}]
        for machine in (source, destination):
            machine("migrate-set-capabilities", capabilities=capabilities)
        with self.over_urnic(least=100):
            source("migrate", uri=uri)
            fabric.wait_until(lambda: source("query-migrate")["status"] in ("completed", "failed"), "the migration")
        self.assertEqual(source("query-migrate")["status"], "completed")
        destination("pmemsave", val=0, size=32 << 20, filename=str(after))
        self.assertTrue(filecmp.cmp(before, after, shallow=False))
        self.assertGreater(sum(byte != 0 for byte in after.read_bytes()[:1 << 20]), 10_000)

    def test_migration(self):
        self.migrate("127.0.0.1", pin_all=False)

    def test_migration_of_pinned_memory(self):
        self.migrate("127.0.0.2", pin_all=True)


class Librpma(ProgramTest):
    """Remote persistent memory (programs/rpma_check.c): both ends compare every byte."""

    def test_remote_memory(self):
        source, program = self.fabric.copy_home("programs", "rpma_check.c"), self.fabric.home / "rpma_check"
        self.fabric.run("cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source, "-lrpma", "-libverbs")
        for address, device in (("127.0.0.1", "urnic0"), ("127.0.0.2", "urnic1")):
            with self.subTest(device=device), self.over_urnic(least=140):
                port = fabric.free_port()
                server = self.serve(program, address, port)
                output = self.run_on_urnic(program, address, port, "client")
                self.end_well(server)
                for said in (output, server.output()):
                    self.assertIn(f"device {device}, ", said)
                    self.assertIn("all data were right", said)


if __name__ == "__main__":
    unittest.main()
