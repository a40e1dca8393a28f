#!/usr/bin/python3
"""--infiniband: two devices with a subnet manager that lives as long as the device process. opensm is Debian's, unmodified;
where it is not installed, the built-in manager brings the fabric up."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import unittest

import fabric
from test_infiniband import OPENSM, start_manager

# The pair of a test, in one program of `urnic run`.
PAIR = "ibv_rc_pingpong -d urnic0 -n 100 -p {port} & sleep 0.5; ibv_rc_pingpong -d urnic1 -n 100 -p {port} 127.0.0.1 && wait $!"
BUILT_IN = """subnet_manager = "built_in"
[[devices]]
link_layer = "infiniband"
[[devices]]
link_layer = "infiniband"
"""


def is_running(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


def children(pid):
    """The names of a process's children, by pid."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError, ValueError):
            text = (folder / "stat").read_text()
            if int(text.rsplit(")", 1)[1].split()[1]) == pid:
                found[int(folder.name)] = text.split("(", 1)[1].rsplit(")", 1)[0]
    return found


class Managed(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def subnet(self):
        return self.fabric.status()["subnet"]

    def run_pair(self, *words):
        """Runs both ends of a pingpong as one program of `urnic run` with these words; returns its output."""
        script = PAIR.format(port=fabric.free_port())
        output = self.fabric.run(self.fabric.urnic, "run", *words, "--", "sh", "-c", script)
        self.assertEqual(len(re.findall("819200 bytes in", output)), 2, output)
        return output

    def check_fabric(self):
        links = self.fabric.run_on_urnic("iblinkinfo", "-C", "urnic0")
        self.assertEqual(len(re.findall(r"Active/ +LinkUp", links)), 4, links)
        shown = [self.fabric.run_on_urnic("ibstat", device) for device in fabric.DEVICES]
        lids = [int(re.search(r"Base lid: (\d+)", each).group(1)) for each in shown]
        self.assertEqual(len(set(lids)), 2)
        self.assertNotIn(0, lids)
        return lids


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class Opensm(Managed):
    def up(self):
        """Starts the device process; returns (its pid, opensm's pid)."""
        self.fabric.run(self.fabric.urnic, "up", "--infiniband")
        subnet = self.subnet()
        self.assertEqual((subnet["manager"], subnet["state"]), ("opensm", "running"))
        self.assertTrue(is_running(subnet["pid"]))
        return self.fabric.device_process(), subnet["pid"]

    def test_run_begins_when_ports_are_active(self):
        # Whether ports are active when the program looks at them, and that nothing is left behind.
        script = "ibstat urnic1; urnic status; cat $URNIC_DIR/urnicd.pid"
        output = self.fabric.run(self.fabric.urnic, "run", "--infiniband", "--", "sh", "-c", script)
        self.assertIn("State: Active", output)
        manager = int(re.search(r"subnet manager opensm \(pid (\d+)\); 2 of 2 ports active", output).group(1))
        fabric.wait_until(lambda: not self.fabric.run_directory.exists(), "the end of the device process")
        self.assertFalse(is_running(manager))

    def test_data_and_topology(self):
        self.run_pair("--infiniband")
        self.up()
        self.check_fabric()
        self.assertIn("SMINFO_MASTER", self.fabric.run_on_urnic("sminfo", "-C", "urnic1"))
        # The same options join; others do not.
        self.run_pair("--infiniband")
        refused = self.fabric.run(self.fabric.urnic, "run", "--face", "mlx5", "--", "true", status=125)
        self.assertIn("with --infiniband, and this command has --face mlx5", refused)

    def test_down_ends_it(self):
        _, manager = self.up()
        self.assertTrue((self.fabric.run_directory / "opensm" / "opensm.log").exists())
        self.fabric.down()
        self.assertFalse(is_running(manager))
        self.assertFalse(self.fabric.run_directory.exists())

    def test_a_killed_device_process_takes_it_along(self):
        process, manager = self.up()
        kept = children(process)
        self.assertIn("urnic-manager", kept.values())
        os.kill(process, signal.SIGKILL)
        fabric.wait_until(lambda: not is_running(manager), "the end of opensm")
        for pid in kept:
            fabric.wait_until(lambda: not is_running(pid), f"the end of {kept[pid]}")
        self.up()  # what it has left is no obstacle

    def test_a_manager_that_ends_is_told_of(self):
        _, manager = self.up()
        os.kill(manager, signal.SIGKILL)
        fabric.wait_until(lambda: self.subnet()["state"] == "ended", "the news of opensm's end")
        self.assertIn("signal 9", self.fabric.run(self.fabric.urnic, "status"))
        self.assertIn("opensm has ended (signal 9", (self.fabric.run_directory / "urnicd.log").read_text())
        # Ports stay active, and programs begin at once.
        self.run_pair()

    def test_a_program_that_sees_one_device(self):
        # The device process is started by it; opensm sees them all.
        output = self.fabric.run(self.fabric.urnic, "run", "--infiniband", "--", "ibstat", "-l", environment={"URNIC_SHOW_0": "urnic1"})
        self.assertEqual(output.split(), ["urnic1"])

    def test_options_that_exclude_each_other(self):
        for other in (("--udp", "127.0.0.1"), ("--face", "mlx5"), ("--network",)):
            self.fabric.run(self.fabric.urnic, "run", "--infiniband", *other, "--", "true", status=2)


@unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
class LinksThatGo(Managed):
    def setUp(self):
        super().setUp()
        self.fabric.run(self.fabric.urnic, "up", "--infiniband")

    def set_link(self, link, state):
        return self.fabric.run(self.fabric.urnic, "link", "set", link, f"state={state}")

    def states(self):
        return [port["state"] for port in self.subnet()["ports"]]

    def log(self):
        return (self.fabric.run_directory / "opensm" / "opensm.log").read_text()

    def test_opensm_acts_on_links_that_are_cut(self):
        # opensm sweeps by itself every 10 s: it acts now because the switch tells it (trap 128).
        self.assertIn("urnic1  link down", self.set_link("urnic1", "down"))
        self.assertEqual(self.states(), ["active", "down"])
        self.assertIn("State: Down", self.fabric.run_on_urnic("ibstat", "urnic1"))
        fabric.wait_until(lambda: "num:128" in self.log(), "the switch's trap")
        self.assertRegex(self.fabric.run_on_urnic("iblinkinfo", "-C", "urnic0"), r"2\[  \] ==\( +Down/ Polling\)")
        self.set_link("urnic1", "up")
        fabric.wait_until(lambda: self.states() == ["active", "active"], "the link to be active again")
        self.run_pair()
        self.assertIn("urnic switch:1  link down, to ", self.set_link("urnic switch:1", "down"))
        self.assertEqual(self.states(), ["down", "active"])
        self.set_link("urnic switch", "up")

    def test_programs_are_told(self):
        watch = self.fabric.start_on_urnic("stdbuf", "-oL", "ibv_asyncwatch", "-d", "urnic1")
        fabric.wait_until(lambda: "async event FD" in watch.output(), "the watch to begin")
        self.set_link("urnic1", "down")
        fabric.wait_until(lambda: "IBV_EVENT_PORT_ERR" in watch.output(), "the event of the cut")
        self.set_link("urnic1", "up")
        fabric.wait_until(lambda: "IBV_EVENT_PORT_ACTIVE" in watch.output(), "the event of the port")
        watch.kill()

    def test_counters_of_the_switch(self):
        self.run_pair()
        switch = re.search(r"lid (\d+)", self.fabric.run_on_urnic("ibswitches", "-C", "urnic0")).group(1)

        def packets(port):
            shown = self.fabric.run_on_urnic("perfquery", "-C", "urnic0", switch, str(port))
            return [int(re.search(rf"Port{way}Pkts:\.+(\d+)", shown).group(1)) for way in ("Xmit", "Rcv")]

        one, other, both = packets(1), packets(2), packets(255)
        self.assertGreater(min(one + other), 100)
        self.assertEqual([one[0], one[1]], [other[1], other[0]])  # what comes in by one leaves by the other
        self.assertEqual(both, [one[0] + other[0], one[1] + other[1]])
        self.assertIn("10 ports checked, 0 ports have errors", self.fabric.run_on_urnic("ibqueryerrors", "-C", "urnic0"))
        self.set_link("urnic1", "down")
        self.assertRegex(self.fabric.run_on_urnic("perfquery", "-C", "urnic0", switch, "2"), r"LinkDownedCounter:\.+1\b")
        self.fabric.run_on_urnic("perfquery", "-C", "urnic0", "-R", "-a", switch)
        self.assertEqual(packets(255), [0, 0])


class BrokenOpensm(Managed):
    def test_an_opensm_that_cannot_begin(self):
        program = self.fabric.home / "opensm"
        program.write_text("#!/bin/sh\necho it has no port >&2\nexit 7\n")
        program.chmod(0o755)
        environment = {"PATH": f"{self.fabric.home}:{self.fabric.environment['PATH']}"}
        why = "opensm has ended, and these ports are not active: urnic0 (initialize), urnic1 (initialize) (exit status 7: it has no port)"
        said = self.fabric.run(self.fabric.urnic, "run", "--infiniband", "--", "sh", "-c", "exit 3", status=3, environment=environment)
        self.assertIn(f"urnic: {why}: see {self.fabric.run_directory}/opensm/opensm.log", said)
        self.assertIn(why, self.fabric.run(self.fabric.urnic, "up", "--infiniband", status=1, environment=environment))
        self.assertIn("opensm has ended: exit status 7", self.fabric.run(self.fabric.urnic, "status"))


    def test_a_signal_ends_the_wait_for_a_manager(self):
        program = self.fabric.home / "opensm"
        program.write_text("#!/bin/sh\nexec sleep 1000\n")
        program.chmod(0o755)
        environment = {"PATH": f"{self.fabric.home}:{self.fabric.environment['PATH']}"}
        for number in (signal.SIGINT, signal.SIGTERM):
            running = self.fabric.start(self.fabric.urnic, "run", "--infiniband", "--", "echo", "it has begun", environment=environment)
            fabric.wait_until(lambda: self.subnet_manager_runs(), "the manager")
            os.kill(running.pid, number)
            self.assertIn(running.wait(), (128 + number, -number))
            self.assertEqual(running.output(), "")
            fabric.wait_until(lambda: not self.fabric.run_directory.exists(), "the end of the device process")

    def subnet_manager_runs(self):
        with contextlib.suppress(AssertionError, KeyError):
            return self.subnet()["state"] == "running"
        return False


class BuiltIn(Managed):
    def test_data_and_topology(self):
        self.fabric.up(BUILT_IN)
        subnet = self.subnet()
        self.assertEqual((subnet["manager"], subnet["state"], subnet["pid"]), ("built_in", "running", None))
        self.assertEqual([port["state"] for port in subnet["ports"]], ["active", "active"])
        self.run_pair()
        one, other = self.check_fabric()
        self.assertIn(f"lid {other}", self.fabric.run_on_urnic("ibtracert", "-C", "urnic0", str(one), str(other)))
        self.assertIn("subnet manager built in; 2 of 2 ports active", self.fabric.run(self.fabric.urnic, "status"))

    def test_doctor_tells_of_ports_that_wait(self):
        self.fabric.up(BUILT_IN)
        shown = self.fabric.run(self.fabric.urnic, "doctor")
        self.assertRegex(shown, r"ok +InfiniBand +.*subnet manager built in; 2 of 2 ports active")
        self.fabric.down()
        self.fabric.up(BUILT_IN.replace("built_in", "none"))
        shown = self.fabric.run(self.fabric.urnic, "doctor", status=1)
        self.assertRegex(shown, r"obstacle +InfiniBand +.*no subnet manager of its own; 0 of 2 ports active")

    def test_a_link_that_comes_back_is_active_again(self):
        self.fabric.up(BUILT_IN)
        one, other = self.check_fabric()
        switch = re.search(r"lid (\d+)", self.fabric.run_on_urnic("ibswitches", "-C", "urnic0")).group(1)
        self.fabric.run_on_urnic("ibportstate", "-C", "urnic0", switch, "2", "disable")
        self.assertEqual([port["state"] for port in self.subnet()["ports"]], ["active", "down"])
        self.fabric.run_on_urnic("ibportstate", "-C", "urnic0", switch, "2", "enable")
        fabric.wait_until(lambda: self.subnet()["ports"][1]["state"] == "active", "the link to come back")
        self.assertEqual(self.check_fabric(), [one, other])

    @unittest.skipUnless(OPENSM, "opensm is not installed: tools/install-packages test")
    def test_opensm_may_take_over(self):
        self.fabric.up(BUILT_IN)
        self.assertFalse(self.subnet()["program_manages"])
        start_manager(self.fabric)
        fabric.wait_until(lambda: self.subnet()["program_manages"], "opensm to say that it manages")
        fabric.wait_until(lambda: "SMINFO_MASTER" in self.fabric.run_on_urnic("sminfo", "-C", "urnic1"), "opensm to be the master")
        self.run_pair()


def can_hide_files():
    tried = subprocess.run(["unshare", "-m", "mount", "--bind", "/dev/null", "/dev/null"], capture_output=True, check=False)
    return tried.returncode == 0


class WithoutOpensm(Managed):
    @unittest.skipUnless(can_hide_files(), "this user can hide no file")
    def test_the_built_in_manager_stands_in(self):
        own = self.enterContext(fabric.Fabric(user=os.geteuid()))
        hidden = [file for file in ("/usr/local/sbin/opensm", "/usr/sbin/opensm") if os.path.exists(file)]
        hide = "".join(f"mount --bind /dev/null {file}; " for file in hidden)
        output = own.run("unshare", "-m", "sh", "-ec", f'{hide}exec "$@"', "-", own.urnic, "run", "--infiniband", "--", "sh", "-c",
                         PAIR.format(port=fabric.free_port()))
        self.assertIn("opensm is not installed, so the built-in subnet manager", output)
        self.assertEqual(len(re.findall("819200 bytes in", output)), 2, output)
        refused = own.directory / "opensm.toml"
        refused.write_text(BUILT_IN.replace("built_in", "opensm"))
        said = own.run("unshare", "-m", "sh", "-ec", f'{hide}exec "$@"', "-", own.urnic, "run", "--config", refused, "--", "true",
                       status=125)
        self.assertIn("opensm is not installed", said)


if __name__ == "__main__":
    unittest.main()
