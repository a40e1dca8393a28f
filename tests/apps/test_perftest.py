#!/usr/bin/python3
"""perftest: over reliable connections, every program with every option of interest in its --help; and what the
programs support over extended and unreliable connections and with datagrams."""

import contextlib
import os
import queue
import re
import tempfile
import threading
import time
import unittest

import fabric

ATOMICS = ("CMP_AND_SWAP", "FETCH_AND_ADD")
PROGRAMS = (
    ("ib_send_bw",), ("ib_send_lat",), ("ib_write_bw",), ("ib_write_lat",), ("ib_read_bw",), ("ib_read_lat",),
    *((name, "-A", kind) for name in ("ib_atomic_bw", "ib_atomic_lat") for kind in ATOMICS),
)
UNRELIABLE = (
    *((name, "-c", "UC") for name in ("ib_send_bw", "ib_send_lat", "ib_write_bw", "ib_write_lat")),
    *((name, "-c", "UD") for name in ("ib_send_bw", "ib_send_lat")),
)
# For each result perftest compares its clocks, for 0.22 s: five seconds in the 23 sizes of -a, in which it needs no
# other program. So more pairs run at once.
ALL = ("-a", "-n", "25")
PAIRS_WITH_ALL_SIZES = 4
# Options by their letter.
OPTIONS = {
    "a": [ALL],
    "b": [("-b",)],
    "q": [("-q", "16")],
    "e": [("-e",)],
    "I": [("-I", "64")],
    # perftest wants whole lists.
    "l": [("-n", "512", "-l", "8", *options) for options in ((), ("-q", "4"), ("-t", "512", "-Q", "4"))],
    "t": [("-t", "16"), ("-t", "1000", "-Q", "50")],
    "m": [("-m", str(mtu)) for mtu in fabric.MTUS],
}
# Latency is measured with 2 bytes, and an atomic has 8: one packet, whatever the MTU.
OPTIONS_OF_ONE_PACKET = {**OPTIONS, "m": OPTIONS["m"][:1]}
# With the default number of rounds every program runs once (test_defaults). Rounds cost scheduling: the two programs
# and the engine poll on two processors.
ROUNDS = {"bw": ("-n", "500"), "lat": ("-n", "100")}
TRIES_OF_RAW_PAIRS = 4
SECOND_ALONE = (fabric.DEVICES[1], fabric.DEVICES[1])
# raw_ethernet_burst_lat counts one completion for each -Q sends, but signals all sends or none: so -Q 1. Its buffer
# for completions has the size of a burst, but it polls 16 at a time: so bursts of 16. It sends without waiting for
# replies, and the server sends no reply while its send queue is full: so both queues hold all that is sent.
ROUNDS_OF_BURSTS = 500
BURSTS = ("-n", ROUNDS_OF_BURSTS, "-Q", "1", "--burst_size=16", "-t", "1024", "-r", "1024")
ALL_SIZES = [1 << exponent for exponent in range(1, 24)]


def letters(name, on):
    """The one-letter options in a program's help."""
    program = on.start(name, "--help")
    program.wait()
    return set(re.findall(r"^\s*-(\w), --", program.output(), re.MULTILINE))


def sends_one_packet(program):
    return program[0].endswith("_lat") or "atomic" in program[0]


def command(program, device, options, gid="1"):
    return (program[0], "-F", "-x", gid, "-d", device, *program[1:], *options)


def shortened(program, options):
    return options if "-n" in options else (*options, *ROUNDS[program[0].rsplit("_", 1)[1]])


def rows(output):
    """The lines of the result table: [bytes, iterations, ...]."""
    return [line.split() for line in output.splitlines() if re.match(r"^\s*\d+\s+\d+\s+[\d.]+(\s|$)", line)]


def check(output, options):
    found = rows(output)
    sizes = [int(row[0]) for row in found]
    wanted = ALL_SIZES if "-a" in options else sizes[:1]
    if not sizes or sizes != wanted:
        raise AssertionError(f"results for the sizes {sizes} instead of {wanted or 'one'}:\n{output}")
    for row in found:
        if int(row[1]) <= 0:
            raise AssertionError(f"nothing was transferred:\n{output}")


def measure(on, program, options, devices=fabric.DEVICES, gid="1"):
    measure_whole(on, program, shortened(program, options), devices, gid)


def measure_whole(on, program, options, devices=fabric.DEVICES, gid="1"):
    # perftest compares its clocks first, and gives up if others have the processor meanwhile.
    for _ in range(5):
        _, output = on.run_pair(command(program, devices[0], options, gid), command(program, devices[1], options, gid))
        if "Correlation coefficient" not in output:
            break
    check(output, options)


class Perftest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.for_all_sizes = [cls.enterClassContext(fabric.Fabric()) for _ in range(PAIRS_WITH_ALL_SIZES)]
        for own in cls.for_all_sizes:
            own.up()
        cls.fabrics = cls.for_all_sizes[:2]
        cls.fabric = cls.fabrics[0]
        cls.has = {program[0]: letters(program[0], cls.fabric) for program in PROGRAMS}

    def side_by_side(self, cases, run=measure, fabrics=None):
        """Runs two pairs at a time, each on its own devices: the machine idles while a single pair starts and ends.
        Then the cases with all sizes."""
        with_all_sizes, others = [], []
        for case in cases:
            _, options, *_ = case
            (with_all_sizes if "-a" in options else others).append(case)
        self.on_fabrics(fabrics or self.fabrics, others, run)
        self.on_fabrics(self.for_all_sizes, with_all_sizes, run)

    def on_fabrics(self, fabrics, cases, run):
        """Runs as many cases at a time as there are fabrics."""
        waiting, failures = queue.SimpleQueue(), []
        for case in cases:
            waiting.put(case)

        def work(own):
            while True:
                try:
                    case = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    run(own, *case)
                except (AssertionError, OSError) as failure:
                    failures.append((case, failure))

        threads = [threading.Thread(target=work, args=(own,)) for own in fabrics]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for case, failure in failures:
            with self.subTest(case):
                raise failure
        self.assertTrue(waiting.empty(), "an exception has ended a thread")

    def matrix(self, letter):
        """Runs every program that has the option `letter`."""
        programs = [program for program in PROGRAMS if letter in self.has[program[0]]]
        self.assertTrue(programs, f"no program has -{letter}: the help was not understood")
        self.side_by_side((program, options) for program in programs
                          for options in (OPTIONS_OF_ONE_PACKET if sends_one_packet(program) else OPTIONS)[letter])

    def test_defaults(self):
        self.side_by_side(((program, ()) for program in PROGRAMS), measure_whole)

    def test_on_one_device(self):
        self.side_by_side((program, (), SECOND_ALONE) for program in PROGRAMS)

    def test_all_sizes(self):
        self.matrix("a")

    def test_both_directions(self):
        self.matrix("b")

    def test_sixteen_queue_pairs(self):
        self.matrix("q")

    def test_events(self):
        self.matrix("e")

    def test_inline(self):
        self.matrix("I")

    def test_lists_of_requests(self):
        self.matrix("l")
        self.side_by_side((program, ("-n", "512", *options)) for program, options in (
            (("ib_send_bw",), ("-l", "8", "-I", "64", "-s", "64")), (("ib_write_bw",), ("-l", "8", "-I", "64", "-s", "64")),
            (("ib_send_bw",), ("--recv_post_list=8", "-r", "64")), (("ib_send_bw",), ("--recv_post_list=8", "-r", "64", "-q", "4"))))

    def test_depths_of_send_queues(self):
        self.matrix("t")

    def test_every_mtu(self):
        self.matrix("m")

    def test_extended_posting(self):
        """With the part number of a device that perftest knows to support it, the programs post with ibv_qp_ex."""
        def run(own, program, options):
            words = shortened(program, options)
            _, output = own.run_pair(command(program, fabric.DEVICES[0], words),
                                     command(program, fabric.DEVICES[1], words))
            check(output, options)
            self.assertRegex(output, r"ibv_wr\* API\s*:\s*" + ("OFF" if options else "ON"))

        with fabric.Fabric() as one, fabric.Fabric() as other:
            for own in (one, other):
                own.up("[device]\nvendor_part_id = 4119\n")
            self.side_by_side(((program, options) for program in PROGRAMS for options in ((), ("--use_old_post_send",))),
                              run, (one, other))

    def test_without_acknowledgements(self):
        def cases():
            for program in UNRELIABLE:
                yield program, (), SECOND_ALONE
                for options in ((), ("-b",), ("-e",), ("-I", "64", "-s", "64")):
                    # By the programs' help, latency has no -b, and writes have no events.
                    if ("-b" in options and program[0].endswith("_lat")) or ("-e" in options and "write" in program[0]):
                        continue
                    yield program, options

        self.side_by_side(cases())

    def test_multicast(self):
        """perftest compares the sender's GID with the group's, an IPv6 GID; only ib_send_lat ignores the difference."""
        self.side_by_side(((name, "-c", "UD", "-g"), (), devices, gid)
                          for name, gid in (("ib_send_bw", "0"), ("ib_send_lat", "0"), ("ib_send_lat", "1"))
                          for devices in (fabric.DEVICES, SECOND_ALONE))

    def test_shared_receive_queue(self):
        self.side_by_side(((name,), ("--use-srq", *options))
                          for name in ("ib_send_bw", "ib_send_lat")
                          for options in ((), ("-q", "8"), ALL, ("-e",))
                          if name == "ib_send_bw" or options not in (("-q", "8"), ALL))

    def test_raw_packets(self):
        """Raw frames between two devices and on one: with the headers that flows match, to all, and to sniffers."""
        ips = ("-J", "192.0.2.2", "-j", "192.0.2.1")
        ports = (*ips, "-K", "5000", "-k", "5001")
        self.side_by_side((((name, "-n", "500", *options), devices)
                           for devices in (fabric.DEVICES, SECOND_ALONE)
                           for name in ("raw_ethernet_bw", "raw_ethernet_lat")
                           for options in ((), ("-s", "64"), ("-m", "4096", "-s", "4000"), ips, ports, (*ports, "--tcp"),
                                           ("--promiscuous",), ("--sniffer",))), self.raw_pair)

    def raw_pair(self, own, program, devices, server_rounds=None):
        """Runs both until they end well; with `server_rounds` (more than are sent), only the client ends."""
        macs = {device["name"]: device["mac"] for device in own.status()["devices"]}
        server = (*program, "-d", devices[0], "--server", "-B", macs[devices[0]], "-E", macs[devices[1]])
        if server_rounds is not None:
            server += ("-n", server_rounds)
        client = (*program, "-d", devices[1], "--client", "-B", macs[devices[1]], "-E", macs[devices[0]])
        # The two have no connection, and the server does not say when it is ready. Frames that arrive before the server
        # has posted its receives are lost, as on any Ethernet. Both then wait for ever, and the test tries again.
        for _ in range(TRIES_OF_RAW_PAIRS):
            receiving = own.start_on_urnic("stdbuf", "-oL", *server)  # prints each line at once
            receiving.wait_for_output("#bytes")
            time.sleep(0.3)
            sending = own.start_on_urnic(*client)
            try:
                self.assertEqual(sending.wait(15), 0, f"{sending}\n{receiving}")
                if server_rounds is None:
                    self.assertEqual(receiving.wait(15), 0, f"{sending}\n{receiving}")
                return self.assertTrue(rows(sending.output()), str(sending))
            except AssertionError as failure:
                last = failure
            finally:
                sending.kill()
                receiving.kill()
        raise last

    def test_raw_bursts(self):
        """Both rate limits of the program: the device's packet pacing, and its own. The program uses its own limit only
        in place of a static rate, which it thinks no Ethernet port supports; it refuses its own limit by name, and by
        default. The server destroys its QP after it has posted its last replies, sent or not, so the test makes the
        server wait for more packets than arrive."""
        ports = ("-J", "192.0.2.2", "-j", "192.0.2.1", "-K", "5000", "-k", "5001")
        cases = []
        for rate in (("--rate_limit_type=PP", "--rate_limit=100", "--rate_units=M"),
                     ("--rate_limit=10", "--rate_units=g")):
            for options in ((), ports, ("--reply_every=4",)):
                cases.append((("raw_ethernet_burst_lat", *BURSTS, *rate, *options), fabric.DEVICES,
                              2 * ROUNDS_OF_BURSTS))
        self.side_by_side(cases, self.raw_pair)

    def test_flow_rate(self):
        macs = [device["mac"] for device in self.fabric.status()["devices"]]
        program = self.fabric.start_on_urnic("raw_ethernet_fs_rate", "--server", "-d", fabric.DEVICES[0], "-B", macs[0], "-E",
                                             macs[1])
        self.assertEqual(program.wait(), 0, str(program))
        self.assertRegex(program.output(), r"(?m)^\s*1000\s+[\d.]+")

    def remove_domain_files(self):
        """The programs' XRC domains are files with fixed names. They stay, and may belong to another user."""
        for end in ("server", "client"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"/tmp/xrc_domain_{end}")

    def test_extended_reliable_connections(self):
        self.remove_domain_files()
        self.addCleanup(self.remove_domain_files)

        def cases():
            for program in PROGRAMS:
                yield (*program, "-c", "XRC"), (), SECOND_ALONE
                for options in ((), ("-b",), ("-q", "8"), ("-e",), ("-I", "64", "-s", "64"), ALL):
                    # The programs of latency take all sizes in test_all_sizes.
                    if options == ALL and program[0].endswith("_lat"):
                        continue
                    if not options or options[0][1] in self.has[program[0]]:
                        yield (*program, "-c", "XRC"), options

        self.side_by_side(cases())

    def test_duration(self):
        """Five seconds each, whatever the load, so five pairs run at once."""
        options = ("-D", "5")
        for first in range(0, len(PROGRAMS), 5):
            running = [(program, self.fabric.start_pair(command(program, fabric.DEVICES[0], options),
                                                        command(program, fabric.DEVICES[1], options)))
                       for program in PROGRAMS[first:first + 5]]
            for program, (server, client) in running:
                with self.subTest(" ".join(program + options)):
                    self.assertEqual((client.wait(), server.wait()), (0, 0), f"{client}\n{server}")
                    check(client.output(), options)

    def test_inline_is_not_turned_off(self):
        """perftest silently turns inline data off for devices that it does not know."""
        _, output = self.fabric.run_pair(command(("ib_send_lat",), fabric.DEVICES[0], ("-I", "64")),
                                         command(("ib_send_lat",), fabric.DEVICES[1], ("-I", "64")))
        self.assertRegex(output, r"Max inline data\s*:\s*64\[B\]")


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class PerftestAsRoot(unittest.TestCase):
    def test_as_root(self):
        with fabric.Fabric(user=None) as own:
            for program in PROGRAMS[:6]:
                measure(own, program, ())


class SharedMemory(unittest.TestCase):
    """Buffers in files in /dev/shm, which the device process maps."""

    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())
        self.fabric.up()
        self.files = [self.shared_file() for _ in range(2)]

    def shared_file(self):
        try:
            file = self.enterContext(tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="urnic-test-"))
        except OSError as error:
            self.skipTest(f"no file can be made in /dev/shm: {error}")
        file.truncate(16 << 20)
        if self.fabric.user is not None:
            os.chown(file.name, self.fabric.user, self.fabric.user)
        return file

    def mapped(self):
        return self.fabric.status()["engine"]["mapped_regions"]

    def start_pair(self, program):
        common = (program, "-F", "-x", "1", "-D", "2")
        pair = self.fabric.start_pair((*common, "-d", fabric.DEVICES[0], f"--mmap={self.files[0].name}"),
                                      (*common, "-d", fabric.DEVICES[1], f"--mmap={self.files[1].name}"))
        fabric.wait_until(lambda: self.mapped() == 2 or pair[1].status is not None, f"mapped regions: {pair[0]}\n{pair[1]}")
        self.assertIsNone(pair[1].status, f"{pair[0]}\n{pair[1]}")
        return pair

    def test_mapped_buffers(self):
        for program in ("ib_write_bw", "ib_read_bw", "ib_send_bw"):
            with self.subTest(program):
                fabric.end_pair(*self.start_pair(program), fabric.PATIENCE, self.fabric.log)
        self.assertEqual(self.mapped(), 0)

    def test_a_buffer_that_loses_its_pages(self):
        """The request to it fails; the device process goes on, and a fresh pair moves data."""
        pid = self.fabric.device_process()
        server, client = self.start_pair("ib_write_bw")
        self.files[0].truncate(0)
        self.assertNotEqual(client.wait(), 0, client)
        server.kill()
        self.assertEqual(self.fabric.device_process(), pid)
        self.files[0].truncate(16 << 20)
        fabric.end_pair(*self.start_pair("ib_write_bw"), fabric.PATIENCE, self.fabric.log)


class PrivateMemory(unittest.TestCase):
    """Buffers on the heap, which become shared memory when they are registered."""

    def with_setting(self, way):
        on = self.enterContext(fabric.Fabric())
        on.up(f'[engine]\nprivate_memory = "{way}"\n')
        return on

    def sharing(self, on):
        return on.status()["engine"]["memory_sharing"]

    def test_shared_and_copied(self):
        for way, shares in (("when_it_pays", True), ("shared", True), ("copied", False)):
            on = self.with_setting(way)
            for program in (("ib_write_bw",), ("ib_read_bw",), ("ib_send_bw",), ("ib_atomic_bw",), ("ib_send_bw", "-c", "UD")):
                with self.subTest(way, program=program):
                    before = self.sharing(on)["shared"]
                    measure(on, program, ())
                    self.assertEqual(self.sharing(on)["shared"] - before >= 2, shares)
                    self.assertEqual(on.status()["engine"]["mapped_regions"], 0)
                    self.assertEqual(on.status()["limits"]["shared_memory"]["used"], 0)

    def test_a_region_for_each_of_many_queue_pairs(self):
        on = self.with_setting("shared")
        measure(on, ("ib_write_bw",), ("--mr_per_qp", "-q", "64", "-s", "4096"))
        self.assertGreaterEqual(self.sharing(on)["shared"], 128)


if __name__ == "__main__":
    unittest.main()
