#!/usr/bin/python3
"""The urnic command: help, JSON, exit statuses, refusals, and programs that are hard to preload."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

import fabric

SUBCOMMANDS = ("run", "up", "down", "status", "env", "cdi", "capture", "trace", "ladder", "plot", "counters", "doctor", "lesson", "link",
               "fault", "gid", "script", "set", "web", "wireshark")
SOURCES = pathlib.Path(__file__).parent / "programs"
# tools/urnic/failure.hpp
FAILED, USAGE, NOT_RUNNING, RUN_FAILED, NOT_EXECUTABLE, NOT_FOUND = 1, 2, 3, 125, 126, 127


class Command(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def urnic(self, *words, status=0, environment=None):
        return self.fabric.run(self.fabric.urnic, *words, status=status, environment=environment)

    def refused(self, *words, status, naming):
        """Checks that the command fails with `status` and prints one line, which contains `naming`."""
        said = self.urnic(*words, status=status)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertTrue(said.startswith("urnic: "), said)
        self.assertIn(naming, said)
        return said

    def compile(self, name, *command, source="int main(void) { return 0; }"):
        program = self.fabric.home / name
        subprocess.run([*command, "-x", "c", "-", "-o", program], input=source, text=True, check=True)
        program.chmod(0o755)
        return program


class Arguments(Command):
    def test_a_program_gets_its_arguments_as_they_are(self):
        words = ["[a,b]", '["x", 1]', "[]", "[", "", "%%", "{}", "a=b", '"q"', "--", "-x", "--name=3", "\1x", "\1[x]", "a,b", "[[1]]", "new\nline"]
        said = self.urnic("run", "--", "python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", *words)
        self.assertEqual(json.loads(said.splitlines()[0]), words)


class Help(Command):
    def test_every_command_has_help_with_an_example(self):
        listed = self.urnic("--help")
        for name in SUBCOMMANDS:
            with self.subTest(name):
                self.assertRegex(listed, rf"(?m)^\s+{name}\s")
                text = self.urnic(name, "--help")
                self.assertIn(f"Example: urnic", text)
                self.assertIn(name, text.split("Example:")[1])

    def test_version(self):
        self.assertRegex(self.urnic("--version"), r"urnic \d+\.\d+\.\d+")

    def test_what_is_not_understood(self):
        self.refused("status", "--nonsense", status=USAGE, naming="--nonsense")
        self.refused("nonsense", status=USAGE, naming="nonsense")
        self.refused("run", status=USAGE, naming="COMMAND")
        self.refused("capture", status=USAGE, naming="FILE")
        self.assertEqual(self.urnic(status=USAGE).count("\n"), 1)


class Life(Command):
    def test_up_status_down(self):
        for words in (("status",), ("down",), ("counters",), ("capture", "a.pcap")):
            with self.subTest(words):
                self.refused(*words, status=NOT_RUNNING, naming="urnic up")
        self.assertIn("running", self.urnic("up"))
        self.assertIn("runs already", self.urnic("up"))
        self.assertIn(str(self.fabric.device_process()), self.urnic("status"))
        self.urnic("down")
        self.assertIsNone(self.fabric.device_process())
        self.refused("status", status=NOT_RUNNING, naming="urnic up")

    def test_ends_by_itself_once_unused(self):
        self.fabric.run_on_urnic("true")
        fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of an unused device process")

    def test_stays_when_told_to(self):
        running = self.fabric.start_on_urnic("sleep", "30")
        fabric.wait_until(lambda: self.fabric.device_process() is not None, "a device process")
        fabric.wait_until(lambda: "running" in self.urnic("up") or True, "up")
        pid = self.fabric.device_process()
        running.kill()
        self.fabric.run_on_urnic("true")
        self.assertEqual(self.fabric.device_process(), pid)

    def test_names_are_apart(self):
        environment = {"URNIC_DIR": "", "XDG_RUNTIME_DIR": str(self.fabric.home)}
        try:
            for name in ("one", "two"):
                self.urnic("up", "--name", name, environment=environment)
            pids = {json.loads(self.urnic("status", "--json", "--name", name, environment=environment))["pid"]
                    for name in ("one", "two")}
            self.assertEqual(len(pids), 2)
        finally:
            for name in ("one", "two"):
                self.urnic("down", "--name", name, environment=environment)
        self.refused("status", "--name", "a/b", status=FAILED, naming="a/b")

    def test_run_directory_is_private(self):
        self.fabric.up()
        self.assertEqual(self.fabric.run_directory.stat().st_mode & 0o777, 0o700)


class Joining(Command):
    """Commands of one run directory: the same options join the device process, other ones wait for its end or say what differs."""

    OPTIONS = {"config": ("--config", "sack.toml"), "copy": ("--config", "copy.toml"), "other": ("--config", "gbn.toml"),
               "udp": ("--udp", "127.0.0.1"), "two addresses": ("--udp", "127.0.0.1,127.0.0.2"), "none": ()}

    def setUp(self):
        super().setUp()
        for name, recovery in (("sack", "sack"), ("copy", "sack"), ("gbn", "gbn")):
            (self.fabric.home / f"{name}.toml").write_text(f'[device]\nmtu = 4096\nrecovery = "{recovery}"\n')

    def start(self, options, *command):
        return self.fabric.start(self.fabric.urnic, "run", *self.OPTIONS[options], "--", *command)

    def holder(self, options):
        """A command that runs until it is killed; returns it and the device process's pid."""
        running = self.start(options, "sh", "-c", "echo begun; sleep 300")
        running.wait_for_output("begun")
        return running, self.fabric.device_process()

    def test_the_same_options_join(self):
        for first, second in (("config", "config"), ("config", "copy"), ("config", "none"), ("udp", "udp"), ("udp", "none"),
                              ("none", "none")):
            with self.subTest(first=first, second=second):
                running, pid = self.holder(first)
                self.assertEqual(self.start(second, "true").wait(), 0)
                self.assertEqual(self.fabric.device_process(), pid)
                running.kill()
                fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of the device process")

    def test_other_options_say_what_differs(self):
        for first, second, naming in (
                ("config", "other", ("sack.toml", "gbn.toml", "line 3", "recovery = \"sack\"", "recovery = \"gbn\"")),
                ("config", "udp", ("--config", "sack.toml", "--udp 127.0.0.1,")),
                ("udp", "two addresses", ("--udp 127.0.0.1,", "--udp 127.0.0.1,127.0.0.2")),
                ("none", "udp", ("the default devices", "--udp 127.0.0.1"))):
            with self.subTest(first=first, second=second):
                running, pid = self.holder(first)
                refused = self.start(second, "true")
                self.assertEqual(refused.wait(), RUN_FAILED)
                for words in (*naming, "--name", "urnic down"):
                    self.assertIn(words.rstrip(",") if words.startswith("--udp") else words, refused.output())
                self.assertIsNone(running.status)
                self.assertEqual(self.fabric.device_process(), pid)
                running.kill()
                fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of the device process")

    def test_a_file_that_has_changed(self):
        running, _ = self.holder("config")
        (self.fabric.home / "sack.toml").write_text("[device]\nmtu = 1024\n")
        refused = self.start("config", "true")
        self.assertEqual(refused.wait(), RUN_FAILED)
        self.assertIn("line 2 says 'mtu = 4096' there and 'mtu = 1024' here", refused.output())
        running.kill()

    def test_what_is_about_to_end_makes_way(self):
        """The device process before lingers for a second, and nobody uses it."""
        for number in range(20):
            options = ("config", "other", "udp", "none", "two addresses")[number % 5]
            program = self.start(options, "true")
            self.assertEqual((program.wait(), program.output()), (0, ""), options)

    def test_what_shall_stay_does_not_make_way(self):
        self.fabric.up()
        self.refused("run", "--udp", "127.0.0.1", "--", "true", status=RUN_FAILED, naming="the default devices")
        self.refused("up", "--udp", "127.0.0.1", status=FAILED, naming="the default devices")

    def test_many_at_once_share_one(self):
        for options in ("none", "config", "udp"):
            with self.subTest(options):
                together = [self.start(options, "sh", "-c", "readlink $URNIC_DIR; cat $URNIC_DIR/urnicd.pid; sleep 1")
                            for _ in range(12)]
                self.assertEqual([program.wait() for program in together], [0] * len(together), str(together[0]))
                self.assertEqual(len({program.output() for program in together}), 1)
                fabric.wait_until(lambda: self.fabric.device_process() is None, "the end of the device process")


class Status(Command):
    def test_program_with_objects(self):
        self.fabric.up()
        self.assertIn("no program uses a device", self.urnic("status"))
        program = self.fabric.start_on_urnic(self.fabric.verbs_program("verbs_device_death"), "sleep")
        program.wait_for_output("waiting")
        status = self.fabric.status()
        self.assertEqual([device["name"] for device in status["devices"]], list(fabric.DEVICES))
        for number, device in enumerate(status["devices"]):
            self.assertEqual(device["link"], "up")
            self.assertIn("::ffff:192.0.2.%d" % (number + 1), device["gids"])
        contexts = {context["device"]: context for context in status["contexts"]}
        self.assertEqual(sorted(contexts), list(fabric.DEVICES))
        for context in contexts.values():
            self.assertEqual(context["program"], "verbs_device_death"[:len(context["program"])])
            self.assertTrue(context["program"])
            self.assertEqual(context["objects"]["qp"], 1)
            self.assertEqual(context["objects"]["cq"], 2)
            self.assertEqual(context["objects"]["pd"], 1)
        self.assertEqual(contexts["urnic0"]["objects"]["mr"], 1)
        said = pathlib.Path(f"/proc/{contexts['urnic0']['pids'][0]}/cmdline").read_text(encoding="utf-8")
        self.assertIn("verbs_device_death", said, "the pid is not the program's")
        text = self.urnic("status")
        for word in ("urnic0", "urnic1", "link up", "::ffff:192.0.2.1", "verbs_device_death", "pid"):
            self.assertIn(word, text)
        queue_pairs = json.loads(self.urnic("status", "--qps", "--json"))
        self.assertEqual(sorted(each["device"] for each in queue_pairs), list(fabric.DEVICES))
        lines = self.urnic("status", "--qps").splitlines()
        for each in queue_pairs:
            self.assertTrue(any(f"QP {each['qpn']} {each['service']} {each['state']}" in line for line in lines), lines)

    def test_counters(self):
        self.fabric.up()
        self.assertIn("nothing has been counted", self.urnic("counters", "--device", "urnic0"))
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1"))
        counters = json.loads(self.urnic("counters", "--json"))
        self.assertEqual(sorted(counters), ["switch", *fabric.DEVICES])
        self.assertEqual(counters.pop("switch"), {"trunk_overruns": 0, "unknown_destination": 0})
        for device in counters.values():
            self.assertGreaterEqual(device["port_xmit_packets"], 4000)
            self.assertEqual(device["out_of_sequence"], 0)
        self.assertIn("port_xmit_packets", self.urnic("counters", "--device", "urnic0"))
        self.assertNotIn("urnic1", self.urnic("counters", "--device", "urnic0", "--all"))
        self.refused("counters", "--device", "urnic7", status=FAILED, naming="urnic7")
        path = "/sys/class/infiniband/urnic0/ports/1/counters/port_xmit_packets"
        fabric.wait_until(lambda: int(self.fabric.run_on_urnic("cat", path)) >= 4000, "a counter in sysfs")

    def test_counters_of_errors(self):
        """verbs_order sends to a receiver that is not ready; verbs_errors loses acknowledgements."""
        self.fabric.up()
        for name in ("verbs_order", "verbs_errors"):
            self.fabric.run_on_urnic(self.fabric.verbs_program(name))
        counters = json.loads(self.urnic("counters", "--json"))
        del counters["switch"]
        total = {name: sum(device[name] for device in counters.values()) for name in counters["urnic0"]}
        for name in ("rnr_nak_retry_err", "local_ack_timeout_err"):
            with self.subTest(name):
                self.assertGreater(total[name], 0)


class Links(Command):
    """`urnic link` and similar commands: for one device, or for all as in a configuration."""

    def setUp(self):
        super().setUp()
        self.fabric.up()

    def links(self, *words):
        return json.loads(self.urnic("link", "show", *words, "--json"))

    def test_all_devices(self):
        said = self.urnic("link", "set", "all", "--direction", "tx", "loss=0.25", "delay_us=5")
        for device in fabric.DEVICES:
            self.assertRegex(said, rf"(?m)^{device}  link up$")
            link = self.links()[device]
            self.assertEqual((link["tx"]["settings"]["loss"], link["tx"]["settings"]["delay_us"]), (0.25, 5))
            self.assertEqual((link["rx"]["settings"]["loss"], link["rx"]["settings"]["delay_us"]), (0, 0))
        self.assertEqual(self.links("all"), self.links())
        self.assertEqual(list(self.links("urnic1")), ["urnic1"])
        self.urnic("link", "set", "all", "state=down", "recovery=gbn")
        for device in self.fabric.status()["devices"]:
            self.assertEqual((device["link"], device["recovery"]), ("down", "gbn"))
        self.urnic("link", "set", "all", "state=up", "loss=0", "delay_us=0")
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", "1", "-d", "urnic0"), ("ibv_rc_pingpong", "-g", "1", "-d", "urnic1"))

    def test_all_in_every_command_that_takes_a_device(self):
        self.urnic("set", "recovery", "irn", "--device", "all")
        self.assertEqual([device["recovery"] for device in self.fabric.status()["devices"]], ["irn", "irn"])
        self.assertEqual(json.loads(self.urnic("gid", "show", "all", "--json")), json.loads(self.urnic("gid", "show", "--json")))
        self.assertEqual(list(json.loads(self.urnic("counters", "--device", "all", "--json"))),
                         ["switch", *fabric.DEVICES])
        capture = self.fabric.start(self.fabric.urnic, "capture", "--device", "all", self.fabric.home / "a.pcap")
        capture.wait_for_output("capturing")
        capture.process.terminate()
        self.assertEqual(capture.wait(), 0, str(capture))
        self.refused("gid", "add", "all", "2001:db8::7", status=FAILED, naming="one device")

    def test_wrong_in_one_is_wrong_in_all(self):
        before = self.links()
        self.refused("link", "set", "all", "delay_us=5", "loss=2", status=FAILED, naming="loss = 2")
        self.refused("link", "set", "urnic9", "delay_us=5", status=FAILED, naming="urnic0, urnic1, all")
        self.assertEqual(self.links(), before)


class Environment(Command):
    def test_env_in_a_shell(self):
        self.fabric.up()
        said = self.fabric.run("sh", "-c", f'eval "$({self.fabric.urnic} env)" && ibv_devices')
        self.assertIn("urnic0", said)

    def test_env_as_json(self):
        variables = json.loads(self.urnic("env", "--json"))
        self.assertEqual(variables["URNIC_DIR"], str(self.fabric.run_directory))
        self.assertIn("LD_PRELOAD", variables)

    def test_a_launcher_clears_the_environment(self):
        self.fabric.up()
        wrapper = self.fabric.home / "with urnic's devices"
        self.urnic("env", "--wrapper", wrapper)
        self.fabric.run_on_urnic("env", "-i", "/usr/bin/ibv_devinfo", status=255)  # ibv_devinfo finds no device
        said = self.fabric.run("env", "-i", wrapper, "/usr/bin/ibv_devices")
        self.assertIn("urnic0", said)
        self.assertEqual(self.fabric.run("env", "-i", wrapper, "/bin/echo", "two words", "$HOME").strip(),
                         "two words $HOME")
        self.refused("env", "--wrapper", "/nowhere/at/all", status=FAILED, naming="/nowhere/at/all")

    def test_what_was_set_before_stays(self):
        said = self.fabric.run(*self.fabric.on_urnic("sh", "-c", "echo $LD_PRELOAD $ASAN_OPTIONS $RDMAV_DRIVERS"),
                               environment={"LD_PRELOAD": "libm.so.6", "ASAN_OPTIONS": "detect_leaks=0",
                                            "RDMAV_DRIVERS": "rxe"})
        for word in ("libm.so.6", "detect_leaks=0", "rxe"):
            self.assertIn(word, said)


class RunStatus(Command):
    def test_the_commands_own(self):
        for status in (0, 1, 2, 3, 77, 125, 255):
            self.fabric.run_on_urnic("sh", "-c", f"exit {status}", status=status)
        self.fabric.run_on_urnic("sh", "-c", "kill -9 $$", status=128 + 9)
        self.fabric.run_on_urnic("sh", "-c", "kill -TERM $$", status=128 + 15)

    def test_failed_without_a_device(self):
        """A program that loses the stand-in, or asks for another device, says only that it failed."""
        said = self.fabric.run_on_urnic("env", "-i", "/usr/bin/ibv_devinfo", status=255)
        self.assertRegex(said, r"(?m)^urnic: env ended with status 255, and no program had looked for RDMA devices: .*LD_PRELOAD "
                               r"was lost on the way.*'urnic doctor -- env'$")
        self.assertNotIn("urnic:", self.fabric.run_on_urnic("env", "-i", "/bin/true"))
        said = self.fabric.run_on_urnic("ibv_devinfo", "-d", "mlx5_0", status=255)
        self.assertRegex(said, r"(?m)^urnic: ibv_devinfo ended with status 255; libibverbs had looked for devices, and the "
                               r"program opened none: 'urnic status' shows their names")
        # They have opened a device, and fail for a reason of their own.
        self.assertNotIn("urnic:", self.fabric.run_on_urnic("sh", "-c", "ibv_devinfo && exit 1", status=1))
        self.assertNotIn("urnic:", self.fabric.run_on_urnic("perfquery", "-t", "10", "99", status=255))

    def test_ended_by_a_limit(self):
        for script, status, cause in (("ulimit -St 1; while :; do :; done", 128 + 24, "ulimit -t"),
                                      ("ulimit -c 0 -f 1; exec dd if=/dev/zero of=file bs=4k count=2", 128 + 25, "ulimit -f"),
                                      ("kill -SYS $$", 128 + 31, "the container's filter forbids")):
            with self.subTest(cause):
                said = self.fabric.run_on_urnic("bash", "-c", script, status=status)
                self.assertRegex(said, rf"(?m)^urnic: bash was ended by signal {status - 128}: .*{cause}")

    def test_ended_by_a_share(self):
        """The device process refuses a program what is beyond its share of memory."""
        configuration = self.fabric.home / "little.toml"
        configuration.write_text("[limits]\nmemory_mib = 1\n")
        said = self.urnic("run", "--config", configuration, "--", "ibv_rc_pingpong", "-d", "urnic0", "-g", "1", "-r", "16000", status=1)
        self.assertRegex(said, r"(?m)^urnic: ibv_rc_pingpong ended with status 1, and a program had been refused what is beyond its "
                               r"share of the device process's memory: ")

    def test_no_such_command(self):
        self.refused("run", "--", "no-such-command", status=NOT_FOUND, naming="no-such-command")
        self.refused("run", "--", "/no/such/command", status=NOT_FOUND, naming="/no/such/command")

    def test_not_executable(self):
        file = self.fabric.home / "text"
        file.write_text("text")
        self.refused("run", "--", file, status=NOT_EXECUTABLE, naming=str(file))

    def test_unknown_device(self):
        said = self.fabric.start(*self.fabric.on_urnic("ibv_devinfo", "-d", "urnic9"))
        self.assertNotEqual(said.wait(), 0)
        self.assertIn("urnic9", said.output())
        self.fabric.up()
        self.refused("capture", "--device", "urnic9", self.fabric.home / "a.pcap", status=FAILED, naming="urnic9")

    def test_configuration_that_is_wrong(self):
        file = self.fabric.home / "wrong.toml"
        self.refused("run", "--config", file, "--", "true", status=USAGE, naming=str(file))
        file.write_text("[nonsense\n")
        said = self.urnic("run", "--config", file, "--", "true", status=RUN_FAILED)
        self.assertRegex(said, re.escape(str(file)) + r"\D+\d+")

    def test_run_directory_that_cannot_be(self):
        said = self.fabric.run(self.fabric.urnic, "run", "--", "true", status=RUN_FAILED,
                               environment={"URNIC_DIR": "/proc/nowhere"})
        self.assertIn("/proc/nowhere", said)
        said = self.fabric.run(self.fabric.urnic, "run", "--", "true", status=RUN_FAILED,
                               environment={"URNIC_DIR": "/tmp/" + "x" * 200})
        self.assertIn("URNIC_DIR", said)


class Doctor(Command):
    def findings(self, *words, status=0, limits=""):
        """What the doctor finds, by subject; `limits` are commands of a shell that starts it."""
        command = shlex.join([str(self.fabric.urnic), "doctor", "--json", *map(str, words)])
        output = self.fabric.run("bash", "-c", f"{limits} {command}", status=status)
        said = json.loads(output[output.index("{"):])  # what a device process says of its own failure is in front
        return {finding["subject"]: finding for finding in said["findings"]}

    def obstacle(self, subject, *words, limits="", naming=""):
        """Checks that there is an obstacle, which contains `naming`, and a remedy."""
        found = self.findings(*words, status=FAILED, limits=limits)[subject]
        self.assertEqual(found["severity"], "obstacle")
        self.assertIn(naming, found["seen"])
        self.assertTrue(found["remedy"], found)

    def test_nothing_is_wrong(self):
        found = self.findings("--", "ibv_devinfo")
        self.assertNotIn("obstacle", [finding["severity"] for finding in found.values()])
        self.assertIn("urnic0, urnic1", found["devices"]["seen"])
        for subject in ("libibverbs", "its libraries"):
            self.assertRegex(found[subject]["seen"], r"libibverbs.so.1 \(release \d+\)")
        self.assertIn("libibverbs.so.1", self.urnic("doctor", "--", "ibv_devinfo"))

    def test_programs(self):
        self.obstacle("program", "--", "no-such-command", naming="no-such-command")
        self.obstacle("program", "--", self.compile("static", "gcc", "-static"), naming="statically linked")
        self.assertIn("may load", self.findings("--", "/bin/true")["its libraries"]["seen"])

    def test_limits(self):
        self.obstacle("descriptors", limits="ulimit -n 128;")
        self.obstacle("address space", limits="ulimit -v 262144;")
        self.assertEqual(self.findings(limits="ulimit -v 2097152;")["address space"]["severity"], "hint")
        self.assertEqual(self.findings(limits="taskset -c 0")["processors"]["severity"], "hint")

    def test_run_directory_that_cannot_be(self):
        self.obstacle("device process", limits="URNIC_DIR=/proc/nowhere", naming="did not get ready")


class HardToPreload(Command):
    def refused_before_start(self, program, naming):
        self.refused("run", "--", program, status=NOT_EXECUTABLE, naming=naming)
        self.assertIsNone(self.fabric.device_process(), "a device process was started for nothing")

    def test_static(self):
        source = '#include <stdio.h>\nint main(void) { puts("started"); return 0; }'
        self.refused_before_start(self.compile("static", "gcc", "-static", source=source), "statically linked")

    @unittest.skipUnless(os.geteuid() == 0, "needs root to make a program setuid")
    def test_setuid(self):
        program = self.compile("setuid", "gcc")
        program.chmod(0o4755)
        self.refused_before_start(program, "setuid")
        program.chmod(0o755)
        self.fabric.run_on_urnic(program)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setcap"), "needs root and setcap")
    def test_capabilities(self):
        program = self.compile("capable", "gcc")
        if subprocess.run(["setcap", "cap_net_raw+ep", program], check=False).returncode != 0:
            self.skipTest("this file system keeps no capabilities")
        self.refused_before_start(program, "capabilities")

    def test_script_of_a_static_interpreter(self):
        interpreter = self.compile("interpreter", "gcc", "-static")
        script = self.fabric.home / "script"
        script.write_text(f"#!{interpreter}\n")
        script.chmod(0o755)
        self.refused_before_start(script, "statically linked")

    def test_address_sanitizer(self):
        source = (SOURCES / "list_devices.c").read_text(encoding="utf-8")
        for compiler, *options in (("gcc",), ("gcc", "-static-libasan"), ("clang-14",)):
            with self.subTest(compiler=compiler, options=options):
                program = self.fabric.home / "sanitized"
                source_file = self.fabric.home / "list_devices.c"
                source_file.write_text(source)
                subprocess.run([compiler, "-fsanitize=address", *options, source_file, "-o", program, "-libverbs"],
                               check=True)
                program.chmod(0o755)
                self.assertIn("2 devices", self.fabric.run_on_urnic(program))

    def test_no_pidfd_can_be_had(self):
        """valgrind 3.19 does not know pidfd_open, and system call filters refuse it. Forked children must work too."""
        source = (SOURCES / "without_pidfd.c").read_text(encoding="utf-8")
        without = self.compile("without_pidfd", "gcc", source=source)
        for program in ("verbs_alive", "verbs_fork"):
            with self.subTest(program):
                self.fabric.run_on_urnic(without, self.fabric.verbs_program(program))

    def test_run_directory_is_mounted_elsewhere(self):
        """As in a container: the device process bound its sockets to a path that does not exist here."""
        self.fabric.up()
        elsewhere = self.fabric.directory / "elsewhere"
        self.fabric.run_directory.rename(elsewhere)
        try:
            self.fabric.run(*self.fabric.on_urnic(self.fabric.verbs_program("verbs_alive")),
                            environment={"URNIC_DIR": str(elsewhere)})
        finally:
            elsewhere.rename(self.fabric.run_directory)

    def test_other_programs_run_as_without(self):
        for command in (("bash", "-c", "echo $((1+1)); ls / >/dev/null"), ("python3", "-c", "print(2)"),
                        ("env", "-i", "/bin/true"), ("sh", "-c", "exec 3>&- 4>&-; sleep 0; ibv_devices | grep -c urnic")):
            with self.subTest(command):
                self.fabric.run_on_urnic(*command)


class BrokenTrees(unittest.TestCase):
    """In a tree with a missing part, one line names the part."""

    def test_missing_parts(self):
        whole = fabric.tree()
        for part in ("liburnic-kernel.so", "liburnic-rdmav34.so", "urnicd"):
            with self.subTest(part), fabric.Fabric() as scratch:
                broken = scratch.directory / "tree"
                shutil.copytree(whole, broken)
                for file in broken.rglob(part):
                    file.unlink()
                said = scratch.run(broken / "bin" / "urnic", "run", "--", "true", status=RUN_FAILED)
                self.assertEqual(said.count("\n"), 1, said)
                self.assertIn(part, said)

    def test_moved_tree(self):
        """The installed tree works from any prefix."""
        with fabric.Fabric() as scratch:
            moved = scratch.directory / "moved" / "deeper"
            shutil.copytree(fabric.tree(), moved)
            self.assertIn("urnic0", scratch.run(moved / "bin" / "urnic", "run", "--", "ibv_devices"))


if __name__ == "__main__":
    unittest.main()
