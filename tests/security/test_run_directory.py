#!/usr/bin/python3
"""The owner of a run directory could control the programs that use it. So programs send nothing to another user's
process."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import unittest

import fabric

ATTACKER = 54321
SCRIPT = pathlib.Path(__file__).parent / "attacker.py"


@unittest.skipUnless(os.geteuid() == 0, "only root can become a second user")
class SomebodyElses(unittest.TestCase):
    """A victim (root or an ordinary user), and an attacker who has prepared the victim's run directory."""

    VICTIMS = (0, fabric.ORDINARY_USER)

    def prepare(self, own, owner):
        """A run directory like a device process's. Its files are `owner`'s; the attacker listens on its sockets."""
        place = own.directory / "run"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.like, place, symlinks=True)
        (place / "dev").mkdir()
        own.directory.chmod(0o1777)
        sockets = []
        for path, kind in ((place / "admin.sock", socket.SOCK_STREAM), (place / "dev/uverbs0", socket.SOCK_SEQPACKET)):
            bound = socket.socket(socket.AF_UNIX, kind)
            bound.bind(str(path))
            path.chmod(0o777)
            sockets.append(bound)
        for path in (place, *place.rglob("*")):
            os.chown(path, owner, owner, follow_symlinks=False)
        script = own.directory / "attacker.py"
        shutil.copy(SCRIPT, script)
        program = self.attack(own, ATTACKER, script, [bound.fileno() for bound in sockets])
        for bound in sockets:
            bound.close()
        return program

    def attack(self, own, user, script, descriptors):
        command = ("setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--", sys.executable, "-B", script, *descriptors)
        output = open(own.directory / "attacker.txt", "w+", encoding="utf-8")
        self.addCleanup(output.close)
        process = subprocess.Popen(list(map(str, command)), stdout=output, stderr=output, pass_fds=descriptors)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        fabric.wait_until(lambda: "ready" in self.said(own) or process.poll() is not None, "the attacker")
        self.assertIn("ready", self.said(own))
        return process

    @staticmethod
    def said(own):
        return (own.directory / "attacker.txt").read_text(encoding="utf-8")

    def setUp(self):
        """Copies the run directory of a real device process."""
        with fabric.Fabric(user=None) as real:
            real.up()
            self.variables = json.loads(real.run(real.urnic, "env", "--json"))
            self.like = real.directory.parent / (real.directory.name + "-copy")
            self.like.mkdir()
            shutil.copytree(real.run_directory / "sysfs", self.like / "sysfs", symlinks=True)
        self.addCleanup(shutil.rmtree, self.like, True)

    def check(self, owner_is_victim):
        for victim in self.VICTIMS:
            with self.subTest(victim=victim), fabric.Fabric(user=victim) as own:
                own.user = victim if victim else None
                owner = victim if owner_is_victim else ATTACKER
                attacker = self.prepare(own, owner)
                variables = {**self.variables, "URNIC_DIR": str(own.run_directory)}
                for name, command, environment in (
                        ("run", own.on_urnic("ibv_devinfo"), {}),
                        ("status", (own.urnic, "status"), {}),
                        ("capture", (own.urnic, "capture", own.home / "all.pcap"), {}),
                        ("preloaded", ("ibv_devinfo", "-d", "urnic0"), variables),
                        ("preloaded pingpong", ("ibv_rc_pingpong", "-d", "urnic0", "-g", 1), variables)):
                    with self.subTest(name):
                        program = own.start(*command, environment=environment)
                        self.assertNotEqual(program.wait(), 0, program)
                        text = program.output()
                        self.assertIn("another user", text, program)
                        self.assertNotIn("taken", self.said(own), f"{program} has handed something to the attacker")
                attacker.kill()
                attacker.wait()

    def test_directory_and_sockets(self):
        """The attacker owns the whole directory: any user can make /tmp/urnic-0/default first."""
        self.check(owner_is_victim=False)

    def test_sockets_alone(self):
        """The attacker listens in the victim's own directory, however he got his sockets there."""
        self.check(owner_is_victim=True)

    def test_the_attack_itself_works(self):
        """Shows what a program would lose without the check. A program of the attacker's own user trusts the attacker's
        directory, so the attacker receives its messages and descriptors."""
        with fabric.Fabric(user=ATTACKER) as own:
            own.user = ATTACKER
            attacker = self.prepare(own, ATTACKER)
            variables = {**self.variables, "URNIC_DIR": str(own.run_directory)}
            program = own.start("ibv_devinfo", "-d", "urnic0", environment=variables)
            program.wait()
            self.assertRegex(self.said(own), "taken: [0-9]+ bytes, [1-9]", program)
            attacker.kill()
            attacker.wait()


class Links(unittest.TestCase):
    def test_the_device_process_follows_none(self):
        with fabric.Fabric() as own:
            elsewhere = own.home / "elsewhere"
            (elsewhere / "default").mkdir(parents=True)
            (elsewhere / "default").chmod(0o755)
            if own.user is not None:
                for path in (elsewhere, elsewhere / "default"):
                    shutil.chown(path, own.user)
            (own.home / "link").symlink_to(elsewhere)
            said = own.run(own.urnic, "up", status=1, environment={"URNIC_DIR": str(own.home / "link" / "default")})
            self.assertIn("symbolic link", said)
            self.assertEqual((elsewhere / "default").stat().st_mode & 0o777, 0o755)


if __name__ == "__main__":
    unittest.main()
