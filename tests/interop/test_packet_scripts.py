#!/usr/bin/python3
"""The packet scripts of tests/scripts against Soft-RoCE in a Linux guest: which of them it fails, as
docs/packet-scripts.md says."""

import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import fabric
import frame_relay
import guest

TESTS = pathlib.Path(__file__).resolve().parents[1]
DOCUMENT = TESTS.parent / "docs" / "packet-scripts.md"
DEVICE, SCRIPT = "10.0.0.2", "10.0.0.99"
MAC = "52:54:00:00:00:02"


def documented():
    """The scripts of the document's table of what Soft-RoCE does otherwise."""
    table = DOCUMENT.read_text().split("<!-- Soft-RoCE begins -->")[1].split("<!-- Soft-RoCE ends -->")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE))


class PacketScripts(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.scripts = self.fabric.home / "scripts"
        shutil.copytree(TESTS / "scripts", self.scripts)
        # The guest sees the host's files, but has a /tmp of its own.
        folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp", prefix="urnic-agent-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        self.agent = shutil.copy(self.fabric.prefix / "libexec" / "urnic" / "urnic-script-agent", folder)

    def test_soft_roce(self):
        wire, port = self.fabric.home / "wire", self.fabric.home / "port"
        frame_relay.FrameRelay(wire, port)
        if os.geteuid() == 0:
            for path in (wire, port):
                shutil.chown(path, fabric.ORDINARY_USER)
        with guest.Guest(self.fabric.home, wire, f"{DEVICE}/24", mtu=9000, mac=MAC) as linux:
            print(f"Linux {linux.run('uname -r').strip()}", flush=True)
            agent_port = linux.ports[0]
            agent = linux.start(f"{self.agent} --device rxe0 --gid ::ffff:{DEVICE} --peer ::ffff:{SCRIPT} "
                                f"--listen 0.0.0.0:{agent_port} --token-file /tmp/token")
            linux.wait_until_listening(agent_port)
            token = self.fabric.home / "token"
            token.write_text(linux.run("cat /tmp/token"))
            token.chmod(0o600)
            if os.geteuid() == 0:
                shutil.chown(token, fabric.ORDINARY_USER)
            # An emulated machine is slow: what is expected at a time may be late, and what is not answered takes a while.
            program = self.fabric.start(self.fabric.urnic, "script", "--json", "--live", "--lan", port, "--agent",
                                        f"127.0.0.1:{agent_port}", "--agent-token-file", token, "--device-mac", MAC, "--device-gid", f"::ffff:{DEVICE}",
                                        "--script-gid", f"::ffff:{SCRIPT}", "--patience", "3", "--settle", "60", "--tolerance",
                                        "500", self.scripts)
            status = program.wait(900)
            self.assertEqual(status, 1, f"{program}\n{agent}\n{linux.console()}")
        results = json.loads(program.output())
        failed = {}
        for result in results:
            name = str(pathlib.Path(result["file"]).relative_to(self.scripts)).removesuffix(".packets")
            if "failure" in result:
                failed[name] = result["failure"]["problem"]
                print(f"{name}: line {result['failure']['line']}: {result['failure']['problem']}", flush=True)
        print(f"{len(results)} scripts, {len(failed)} failed, {sum(bool(each['left_out']) for each in results)} left out", flush=True)
        self.assertEqual(set(failed), documented())


if __name__ == "__main__":
    unittest.main(verbosity=2)
