#!/usr/bin/python3
"""Attacks a whole device process, built with sanitizers. Hostile programs send control messages with descriptors of
every kind, write nonsense into the memory that they share with the device, and are killed meanwhile. The admin socket
gets valid and invalid requests. A bystander moves data all the time and must not notice. At the end the device process
must serve a fresh program, keep nothing of the attackers, and have no report from its sanitizers.

The seed, which is printed, determines everything but the scheduling of threads and processes. For an hour, or again:

    URNIC_DEVICE_FUZZ_SECONDS=3600 ctest --preset asan -L security_fuzz
    URNIC_DEVICE_FUZZ_SEED=123 ctest --preset asan -L security_fuzz
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import secrets
import shutil
import struct
import subprocess
import sys
import time

import fabric

ADMIN_REQUESTS = pathlib.Path(__file__).parent / "device_fuzz" / "admin_requests.py"
ATTACKERS = 3
ROUND_SECONDS = 20
LIFE_SECONDS = (0.3, 6.0)  # of an attacker
REST_SECONDS = 60
# Allocators and pools keep as much as was in use at once, and reach that peak after a few rounds. From the middle of
# the run on, memory must not grow from round to round.
GROWTH_MIB = 100
# The limits let attackers take all they may, and still leave the machine memory for its other work.
CONFIGURATION = """
[engine]
engines = {engines}
[limits]
memory_mib = 1024
[logging]
level = "{level}"
""" + "".join(f'[[devices]]\nname = "urnic{number}"\n' for number in range(4)) + 2 * '[[devices]]\nface = "mlx5"\n'
# The provider of a sanitized build loads the sanitizer's library after the stand-in.
BESIDE_SANITIZERS = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
# Of attackers: one in so many comes by libmlx5 (mlx5_scribbler).
SCRIBBLERS = 4


class Failed(Exception):
    """The text says what was wrong."""


class Counts:
    """The attackers' counters (device_fuzz/counts.hpp)."""
    OPCODES = 256

    def __init__(self, file, attacker):
        self.file = file
        self.names = subprocess.run([attacker, "--names"], check=True, capture_output=True, text=True).stdout.split()

    def read(self):
        size = 8 * (len(self.names) + 2 * self.OPCODES)
        words = struct.unpack(f"<{size // 8}Q", self.file.read_bytes()[:size].ljust(size, b"\0"))
        first = len(self.names)
        found = dict(zip(self.names, words))
        for name, begin in (("opcodes_served", first), ("opcodes_refused", first + self.OPCODES)):
            found[name] = {i: words[begin + i] for i in range(self.OPCODES) if words[begin + i]}
        return found


class DeviceProcess:
    """Started as a child, so that its exit status is known. Its sanitizers report to files."""

    def __init__(self, own, configuration):
        self.own = own
        self.reports = own.directory / "reports"
        self.reports.mkdir()
        file = own.directory / "configuration.toml"
        file.write_text(configuration)
        if own.user is not None:
            os.chown(self.reports, own.user, own.user)
            os.chown(file, own.user, own.user)
        options = f"log_path={self.reports}/report:quarantine_size_mb=16:malloc_context_size=20"
        self.program = own.start(own.prefix / "libexec/urnic/urnicd", "--foreground", "--run-dir", own.run_directory,
                                 "--config", file, environment={"ASAN_OPTIONS": options + ":detect_leaks=1",
                                                                "UBSAN_OPTIONS": options + ":print_stacktrace=1"})
        fabric.wait_until(lambda: self.program.status is not None or own.device_process() is not None
                          and (own.run_directory / "admin.sock").exists(), "the device process")
        self.check()

    @property
    def pid(self):
        return self.program.pid

    def reported(self):
        return "\n".join(file.read_text(errors="replace") for file in sorted(self.reports.iterdir()))

    def check(self):
        if self.program.status is not None or self.reported():
            raise Failed(f"the device process has ended, or a sanitizer reports:\n{self.program}\n{self.reported()}")

    def descriptors(self):
        """The number of open descriptors; None if only root may look."""
        with contextlib.suppress(PermissionError):
            return len(os.listdir(f"/proc/{self.pid}/fd"))
        return None

    def mebibytes(self):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise Failed("the device process has ended")

    def end(self):
        """Ends the device process with `urnic down`; LeakSanitizer then looks for leaks."""
        self.own.down()
        status = self.program.wait(120.0)
        if status != 0 or self.reported():
            raise Failed(f"the device process ended with status {status}\n{self.program}\n{self.reported()}")


class Attack:
    def __init__(self, own, device, options, counts):
        self.own, self.device, self.options, self.counts = own, device, options, counts
        self.chance = random.Random(options.seed)
        self.attackers, self.scribblers = [], []
        self.kills = self.started = self.admin_sent = self.admin_refused = 0

    def start_one(self):
        self.started += 1
        if self.chance.randrange(SCRIBBLERS) == 0:
            self.scribblers.append(self.own.start(*self.own.on_urnic(
                self.own.verbs_program("mlx5_scribbler"), "--seed", self.chance.randrange(1 << 60),
                "--seconds", self.chance.uniform(*LIFE_SECONDS)), environment=BESIDE_SANITIZERS))
            self.attackers.append(self.scribblers[-1])
            return
        self.attackers.append(self.own.start(
            self.own.verbs_program("fuzz_attacker"), "--run-dir", self.own.run_directory, "--counts", self.counts.file,
            "--seed", self.chance.randrange(1 << 60), "--seconds", self.chance.uniform(*LIFE_SECONDS),
            "--device-process", self.device.pid))

    def look_after(self):
        """Checks the attackers that have ended by themselves, starts new ones, and kills one now and then."""
        for attacker in list(self.attackers):
            if attacker.status is None:
                continue
            self.attackers.remove(attacker)
            # Others may have taken all that a scribbler needs: it then says so, and ends with 1.
            if attacker.status != 0 and not (attacker in self.scribblers and attacker.status == 1):
                raise Failed(f"an attacker ended with status {attacker.status}: {attacker}")
        while len(self.attackers) < self.options.attackers:
            self.start_one()
        if self.chance.random() < 0.1:
            self.kill(self.chance.choice(self.attackers))

    def kill(self, attacker):
        attacker.kill()
        self.kills += 1
        self.attackers.remove(attacker)

    def rage(self, seconds):
        # As the user who owns the devices: the admin socket refuses all others.
        script = self.own.directory / "admin_requests.py"
        shutil.copy(ADMIN_REQUESTS, script)
        script.chmod(0o644)
        admin = self.own.start(sys.executable, "-B", script, self.own.run_directory / "admin.sock",
                               self.chance.randrange(1 << 60), seconds)
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.is_enough():
            self.look_after()
            self.device.check()
            time.sleep(self.chance.random() * 0.05)
        for attacker in list(self.attackers):
            self.kill(attacker)
        if admin.wait() != 0:
            raise Failed(f"admin requests: {admin}")
        told = json.loads(admin.output().splitlines()[-1])
        self.admin_sent += told["sent"]
        self.admin_refused += told["refused"]

    def is_enough(self):
        return bool(self.options.messages) and self.counts.read()["messages"] >= self.options.messages


class Fuzz:
    def __init__(self, own, options):
        self.own, self.options = own, options
        chance = random.Random(options.seed)
        configuration = CONFIGURATION.format(engines=chance.choice((1, 2)), level=chance.choice(("warning", "debug")))
        self.device = DeviceProcess(own, configuration)
        self.counts = Counts(own.home / "counts", own.verbs_program("fuzz_attacker"))
        self.attack = Attack(own, self.device, options, self.counts)
        self.bystander = None
        self.sizes, self.open = [], []

    def on_urnic(self, *command):
        return self.own.start(*self.own.on_urnic(*command), environment=BESIDE_SANITIZERS)

    def status(self):
        return json.loads(self.own.run(self.own.urnic, "status", "--json",
                                       environment={"ASAN_OPTIONS": "detect_leaks=0"}))

    def used(self):
        """The resources that programs use, without those of the command that asks."""
        return {name: limit["used"] for name, limit in self.status()["limits"].items()}

    def wait_for_rest(self, used, what):
        """Waits until programs use no more than `used`, and no more descriptors are open than the first time."""
        last = {}

        def is_at_rest():
            self.device.check()
            last.update(self.used())
            last["open"] = self.device.descriptors()
            is_more_open = self.open and self.open[0] is not None and last["open"] > self.open[0]
            return not is_more_open and all(last[name] <= used[name] for name in used)
        try:
            fabric.wait_until(is_at_rest, what, REST_SECONDS)
        except AssertionError as problem:
            raise Failed(f"{problem}: {last} instead of {used}, open {self.open}") from None
        self.sizes.append(self.device.mebibytes())
        self.open.append(last["open"])

    def run(self):
        before = self.used()
        self.bystander = self.on_urnic(self.own.verbs_program("verbs_bystander"))
        self.bystander.wait_for_output("running")
        beside = self.used()
        self.wait_for_rest(beside, "a bystander alone")
        end = time.monotonic() + self.options.seconds
        while time.monotonic() < end and not self.attack.is_enough():
            self.attack.rage(min(ROUND_SECONDS, end - time.monotonic()))
            self.wait_for_rest(beside, "the attackers' things to go")
            self.check_bystander()
        times = self.end_bystander()
        self.check_alive()
        self.wait_for_rest(before, "everything to go")
        self.check_rest()
        self.device.end()
        return times

    def check_bystander(self):
        if self.bystander.status is not None:
            raise Failed(f"the bystander was harmed: {self.bystander}\n{self.own.log()}")

    def end_bystander(self):
        self.check_bystander()
        # `urnic run` passes the signal on.
        self.bystander.process.terminate()
        if self.bystander.wait() != 0:
            raise Failed(f"the bystander was harmed: {self.bystander}\n{self.own.log()}")
        return json.loads(self.bystander.output().splitlines()[-1])

    def check_alive(self):
        fresh = self.on_urnic(self.own.verbs_program("verbs_alive"))
        if fresh.wait() != 0:
            raise Failed(f"a fresh pair moves no data: {fresh}\n{self.own.log()}")

    def check_rest(self):
        status = self.status()
        if status["contexts"]:
            raise Failed(f"contexts are left: {status['contexts']}")
        pools = status["engine"]["pools"]
        if not all(pool["at_rest"] for pool in pools):
            raise Failed(f"an engine has something to do: {pools}")
        counts = self.counts.read()
        if counts["unanswered"]:
            raise Failed(f"{counts['unanswered']} requests were not answered within 30 s")
        middle = max(1, len(self.sizes) // 2)
        if self.sizes[-1] > self.sizes[middle] + GROWTH_MIB:
            raise Failed(f"the device process has grown, MiB after each round: {self.sizes}")

    @staticmethod
    def never(counts):
        """The names of requests that have a reply and were never granted: this run has not tested them."""
        protocol = (pathlib.Path(__file__).parents[2] / "device_model/abi/control.hpp").read_text()
        with_reply = re.findall(r"^  (\w+) = (\d+),(?!.*has no reply)", protocol, re.MULTILINE)
        served = counts["opcodes_served"]
        return ", ".join(sorted(name for name, number in with_reply if int(number) not in served)) or "none"

    def figures(self, times):
        counts = self.counts.read()
        in_us = lambda what: f"{times[what]['count']} (median {times[what]['median']:.0f} µs, worst {times[what]['worst']:.0f} µs)"
        return "\n".join((
            f"messages {counts['messages']}: {counts['served']} served, {counts['refused']} refused, "
            f"{counts['closed']} connections closed, {counts['unanswered']} without an answer",
            f"contexts {counts['contexts']}, children that joined {counts['joined']}, QPs in RTS {counts['connected']}",
            f"kinds of request served {len(counts['opcodes_served'])}, never {self.never(counts)}",
            f"descriptors handed over {counts['descriptors']}",
            f"attackers {self.attack.started}, by libmlx5 {len(self.attack.scribblers)}, killed {self.attack.kills}",
            f"work requests posted {counts['posted']}, words scribbled {counts['scribbled']}",
            f"admin requests {self.attack.admin_sent}, of which {self.attack.admin_refused} refused",
            f"bystander: round trips {in_us('round_trips')}, control requests {in_us('requests')}",
            f"device process: MiB {', '.join(f'{size:.0f}' for size in self.sizes)}; descriptors "
            f"{', '.join(map(str, self.open))}; leaks 0, reports 0"))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=int(os.environ.get("URNIC_DEVICE_FUZZ_SEED", secrets.randbelow(1 << 32))))
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("URNIC_DEVICE_FUZZ_SECONDS", "60")))
    parser.add_argument("--messages", type=int, default=0, help="end after so many control messages (default: no limit)")
    parser.add_argument("--attackers", type=int, default=ATTACKERS, help="at a time")
    return parser.parse_args()


def main():
    options = parse()
    print(f"seed {options.seed}, {options.seconds:g} s", flush=True)
    with fabric.Fabric() as own:
        try:
            fuzz = Fuzz(own, options)
            print(fuzz.figures(fuzz.run()))
        except (Failed, AssertionError) as problem:
            sys.exit(f"fuzz_device: seed {options.seed}: {problem}")


if __name__ == "__main__":
    main()
