"""All measurements. Each runs once per round for each build. `run` returns {"value": number, ...}, or
{"points": {x: number}} if one run gives a whole curve."""

import os
import tempfile
import time

from bench_parts import beside, perftest
from bench_parts.bystander import ATTACKS, LIMITS, measure_bystander
from bench_parts.device import NOT_AVAILABLE, Device
from bench_parts.transit import transit_times
from lossbench_parts.programs import Failed

LARGE = 64 << 10
TURN_BYTES = 4096
TURNS = (1, 16, 256, 4096, 16384)
PAIRS = (1, 2, 4, 8)
DELAYS = (5, 50, 1000)  # microseconds
SIZES = tuple(2 << 2 * step for step in range(12))  # 2 B to 8 MiB
ENGINES = "[engine]\nengines = 2\n"
SETTLE_SECONDS = 1  # more than the engine needs to fall asleep after the last program


class Measurement:
    """A run gives one `value`. A measurement that does not depend on the build (`of_machine`) runs once per round."""
    of_machine = False
    curve = False  # part of a curve, measured in fewer rounds

    def __init__(self, name, unit, what):
        self.name, self.unit, self.what = name, unit, what


class Perftest(Measurement):
    """One figure of one perftest program. With `settings`, a configuration, it gets its own device process."""

    def __init__(self, name, unit, what, figure, program, *options, settings=None):
        super().__init__(name, unit, what)
        self.figure, self.program, self.options, self.settings = figure, program, options, settings

    def run(self, bench, device):
        if not self.settings:
            return self.on(bench, device)
        with Device(device.urnic, self.settings) as other:
            return self.on(bench, other)

    def on(self, bench, device):
        before, begin = device.processor_seconds(), time.monotonic()
        options = [option.format(seconds=bench.seconds) for option in self.options]
        result = {"value": self.figure(device, self.program, options, bench.timeout)}
        result["device_share"] = (device.processor_seconds() - before) / (time.monotonic() - begin)
        return result


class Latency(Measurement):
    """The typical latency of 2 bytes, and the mean and the 99.9th percentile of the same run."""

    def __init__(self, name, what, program, *options):
        super().__init__(name, "µs", what)
        self.program, self.options = program, options

    def run(self, bench, device):
        words = ["-s", "2", "-n", str(bench.iterations), *self.options]
        found = perftest.latencies(device, self.program, words, bench.timeout)[2]
        return {"value": found["typical"], **found}


class Qperf(Measurement):
    of_machine = True

    def __init__(self, name, unit, what, test, message_bytes, scale):
        super().__init__(name, unit, what)
        self.test, self.message_bytes, self.scale = test, message_bytes, scale

    def run(self, bench, _device):
        return {"value": self.scale * beside.qperf(self.test, self.message_bytes, bench.seconds, bench.timeout)}


class CopyLimit(Measurement):
    of_machine = True

    def __init__(self, name, what, *options):
        super().__init__(name, "GB/s", what)
        self.options = options

    def run(self, bench, _device):
        words = [bench.program("copy_limit"), "--seconds", str(bench.seconds / 2), *self.options]
        return {"value": beside.json_of(words, None, bench.timeout)["bytes_per_second"] / 1e9}


class Interruptions(Measurement):
    """The length of interruption that a thread suffers 100 times a second."""
    of_machine = True

    def __init__(self):
        super().__init__("interruptions", "µs",
                         "a thread alone on a core that only looks at the clock is away, 100 times a second")

    def run(self, bench, _device):
        words = [bench.program("interruptions"), "--seconds", str(bench.seconds / 2), "--per-second", "100"]
        return {"value": beside.json_of(words, None, bench.timeout)["nanoseconds"] / 1e3}


class FileLimit(Measurement):
    """How fast one thread writes to a new file in memory if it does nothing else: the limit of a capture."""
    of_machine = True
    piece, pieces = 1 << 20, 512

    def __init__(self):
        super().__init__("limit file", "GB/s", "writing 512 MiB to a new file in /dev/shm, one core")

    def run(self, _bench, _device):
        piece = bytes(self.piece)
        with tempfile.TemporaryFile(dir="/dev/shm", buffering=0) as file:
            begin = time.monotonic()
            for _ in range(self.pieces):
                file.write(piece)
            return {"value": self.piece * self.pieces / (time.monotonic() - begin) / 1e9}


class Pairs(Measurement):
    """Pairs of programs at once. Takes longer than other measurements, because the pairs do not start together."""

    def __init__(self, count):
        super().__init__(f"pairs {count}", "GB/s", f"`ib_write_bw` 64 KiB, {count} pair{'s' * (count > 1)} at once, total")
        self.count = count
        self.curve = count not in (1, 8)

    def run(self, bench, device):
        options = ["-s", str(LARGE), "-D", str(bench.seconds + 3)]
        total, slowest = perftest.bandwidth_of_pairs(device, self.count, "ib_write_bw", options, bench.timeout)
        return {"value": total, "slowest": slowest}


class Turns(Measurement):
    def __init__(self, count):
        super().__init__(f"turns {count}", "M/s", f"writes of 4 KiB on {count:,} QP{'s' * (count > 1)} taking turns")
        self.count = count

    def run(self, bench, device):
        words = ["--connections", str(self.count), "--bytes", str(TURN_BYTES), "--seconds", str(bench.seconds)]
        found = beside.on_urnic(device, bench.program("turns"), words, bench.timeout)
        return {"value": found["per_second"] / 1e6}


class ConnectRate(Measurement):
    def __init__(self):
        super().__init__("connect", "/s", "QPs created and brought from RESET to RTS")

    def run(self, bench, device):
        found = beside.on_urnic(device, bench.program("connect_rate"), [], bench.timeout)
        return {"value": found["per_second"], **{key: found[key] for key in ("create_us", "connect_us", "destroy_us")}}


class ConnectByAddress(Measurement):
    """Connections by rdma_cm between two programs, and TCP connections over loopback in the same run."""

    def __init__(self):
        super().__init__("connect by address", "/s", "connections by rdma_cm between two programs, made and taken down, "
                         "16 under way at a time")

    def run(self, bench, device):
        program = bench.program("connect_by_address")
        if not os.access(program, os.X_OK):
            raise Failed(NOT_AVAILABLE)
        found = beside.on_urnic(device, program, [], bench.timeout)
        return {"value": found["per_second"], **{key: found[key] for key in (
            "one_us", "one_by_one_per_second", "tcp_per_second", "tcp_one_us")}}


class Cmtime(Measurement):
    """Each step is done for all connections before the next begins."""
    count = 1000

    def __init__(self):
        super().__init__("cmtime", "/s", "connections by `cmtime`, made and taken down, all under way at a time")

    def run(self, bench, device):
        steps = beside.cmtime(device, self.count, bench.timeout)
        return {"value": 1e6 / sum(steps.values()), "cmtime_connect": steps["connect"], "cmtime_disconnect": steps["disconnect"]}


class OpenConnections(Measurement):
    """Fails if not all can be open at a time."""
    count = 10000

    def __init__(self):
        super().__init__("open connections", "/s", f"connections by rdma_cm made until {self.count:,} are open")

    def run(self, bench, device):
        program = bench.program("connect_by_address")
        if not os.access(program, os.X_OK):
            raise Failed(NOT_AVAILABLE)
        found = beside.on_urnic(device, program, ["--open", str(self.count)], 4 * bench.timeout)
        return {"value": found["made_per_second"], "ended_per_second": found["ended_per_second"]}


class QpMemory(Measurement):
    """Has its own device process, so that no memory of earlier programs is reused."""
    few, many = 1, 1001  # connections

    def __init__(self):
        super().__init__("memory", "KiB", "the device process's own memory for an idle RC QP")

    def run(self, bench, device):
        held = []
        with Device(device.urnic) as other:
            for connections in (self.few, self.many):
                with beside.IdleQps(other, bench.program("idle_qps"), connections, bench.timeout):
                    held.append(other.memory())
        qps = 2 * (self.many - self.few)
        sizes = {kind: (held[1][kind] - held[0][kind]) / qps / 1024 for kind in held[0]}
        return {"value": sizes["own"], "shared": sizes["shared"]}


class Idle(Measurement):
    """The device process's share of one core, in percent."""

    def __init__(self, qps):
        super().__init__(f"idle {qps}", "%", f"the device process's share of a core, {qps:,} idle QPs" if qps else
                         "the device process's share of a core, nothing happening")
        self.connections = qps // 2

    def run(self, bench, device):
        if not self.connections:
            return self.watch(bench, device)
        with beside.IdleQps(device, bench.program("idle_qps"), self.connections, bench.timeout):
            return self.watch(bench, device)

    @staticmethod
    def watch(bench, device):
        time.sleep(SETTLE_SECONDS)
        before, wakeups, begin = device.processor_seconds(), device.wakeups(), time.monotonic()
        time.sleep(2 * bench.seconds)
        passed = time.monotonic() - begin
        return {"value": 100 * (device.processor_seconds() - before) / passed,
                "wakeups": (device.wakeups() - wakeups) / passed}


class BystanderBeside(Measurement):
    """The control requests of a well-behaved program beside one that attacks. A request's time counts without the
    time in which the asking thread itself was ready and had no processor: no device process can change that."""

    def __init__(self, attack):
        super().__init__(f"bystander {attack}", "µs",
                         f"a bystander's control requests less its own wait for a processor (99.9th percentile), {ATTACKS[attack]}")
        self.attack = attack

    def run(self, bench, device):
        # Its own device process: memory that an attack leaves in allocators must not change other measurements.
        with Device(device.urnic, LIMITS) as other:
            return measure_bystander(bench, other, self.attack)


class CapturedWrite(Measurement):
    """Writes a fixed amount of data, so that its capture fits into memory: all of each packet, its first bytes, or none."""
    WAYS = {"off": ("a capture not made", 8),
            "on": ("a capture into /dev/shm", 1),
            "cut": ("a capture of each packet's first 128 bytes into /dev/shm", 8)}

    def __init__(self, way):
        words, self.gib = self.WAYS[way]
        super().__init__(f"capture {way}", "GB/s", f"`ib_write_bw` 64 KiB, {words}, {self.gib} GiB")
        self.way = way

    def run(self, bench, device):
        count = (self.gib << 30) // LARGE
        words = ["-s", str(LARGE), "-n", str(count), "-N"]
        if self.way == "off":
            return {"value": perftest.bandwidth(device, "ib_write_bw", words, bench.timeout)}
        options, share = (("--snaplen", "128"), 24) if self.way == "cut" else ((), 1)  # 4 KiB become 144 bytes
        with beside.Capture(device, count * LARGE * 17 // 16 // share, options) as capture:
            value = perftest.bandwidth(device, "ib_write_bw", words, bench.timeout)
        if capture.frames < count * LARGE // 4096:
            raise Failed(f"only {capture.frames} frames in the capture, {capture.lost} lost")
        return {"value": value, "frames": capture.frames, "lost": capture.lost}


class Transit(Measurement):
    """The transit time of packets beyond the links' delays, with traffic both ways, in the slower direction. One run's
    packets fit into the capture's ring, because the engine would wait for a slow reader of the ring."""
    messages, runs = 100, 5  # each way

    def __init__(self, delay_us):
        super().__init__(f"transit {delay_us}", "µs", f"transit over links of {delay_us} µs each, beyond the "
                         f"{2 * delay_us:,} µs, `ib_write_bw -b` 64 KiB with a capture")
        self.delay_us = delay_us

    def run(self, bench, device):
        settings = f"[[link]]\ndelay_us = {self.delay_us}\n"
        words = ["-s", str(LARGE), "-n", str(self.messages), "-b", "-N"]
        with Device(device.urnic, settings) as other:
            with beside.Capture(other, 4 * self.runs * self.messages * LARGE * 17 // 16, links=True,
                                look_at=transit_times) as capture:
                for _ in range(self.runs):
                    perftest.bandwidth(other, "ib_write_bw", words, bench.timeout)
        if len(capture.found) != 2 or capture.lost:
            raise Failed(f"the capture has packets of {len(capture.found)} devices, {capture.lost} are lost")
        late = [sorted(1e6 * time_taken - 2 * self.delay_us for time_taken in times) for times in capture.found.values()]
        at = lambda share: max(times[int(share * (len(times) - 1))] for times in late)
        return {"value": at(0.5), "p99": at(0.99), "least": min(times[0] for times in late)}


class Sizes(Measurement):
    """A curve over the message size: GB/s of a bandwidth program of perftest."""
    curve = True

    def __init__(self, program):
        super().__init__(f"{program} sizes", "GB/s", f"`{program}`")
        self.program = program

    def run(self, bench, device):
        points = {}
        for size in bench.sizes:
            count = min(max(bench.curve_bytes // size, bench.curve_messages // 2000), bench.curve_messages)
            words = ["-s", str(size), "-n", str(count), "-N"]
            points[size] = perftest.bandwidth(device, self.program, words, bench.timeout)
        return {"points": points}


class LatencySizes(Measurement):
    """A curve over the message size: typical latency. perftest itself runs every power of two."""
    curve = True

    def __init__(self, program):
        super().__init__(f"{program} sizes", "µs", f"`{program}`, typical")
        self.program = program

    def run(self, bench, device):
        found = perftest.latencies(device, self.program, ["-a", "-n", str(bench.iterations // 100)], bench.timeout)
        return {"points": {size: found[size]["typical"] for size in bench.sizes}}


class TcpSizes(Measurement):
    curve = True
    of_machine = True

    def __init__(self, test, unit, scale):
        super().__init__(f"{test} sizes", unit, f"TCP over loopback (qperf `{test}`)")
        self.test, self.scale = test, scale

    def run(self, bench, _device):
        return {"points": {size: self.scale * beside.qperf(self.test, size, 1, bench.timeout)
                           for size in bench.sizes}}


class MemorySpeed(Measurement):
    """The costs of memory access, in nanoseconds per operation: for each way a curve over the size."""
    curve = True
    of_machine = True

    def __init__(self):
        super().__init__("memory speed", "ns", "reaching memory")

    def run(self, bench, _device):
        ways = {}
        for entry in beside.json_of([bench.program("memory_speed"), 0.1], None, bench.timeout):
            ways.setdefault(entry["what"], {})[entry["bytes"]] = entry["ns"]
        return {"ways": ways}


def bandwidth(name, what, program, size, settings=None):
    return Perftest(name, "GB/s", what, perftest.bandwidth, program, "-s", str(size), "-D", "{seconds}", settings=settings)


def rate(name, what, program, *options):
    return Perftest(name, "M/s", what, perftest.message_rate, program, *options, "-D", "{seconds}")


def everything():
    """All measurements in the order of a round. Measurements that are compared stand close together."""
    small = ("-s", "8", "-I", "8", "-t", "128", "-q", "1")
    return [
        CopyLimit("limit", "two copies of 64 KiB, process to process, one core"),
        bandwidth("write", "`ib_write_bw` 64 KiB", "ib_write_bw", LARGE),
        bandwidth("read", "`ib_read_bw` 64 KiB", "ib_read_bw", LARGE),
        bandwidth("send", "`ib_send_bw` 64 KiB", "ib_send_bw", LARGE),
        bandwidth("write 1 MiB", "`ib_write_bw` 1 MiB", "ib_write_bw", 1 << 20),
        bandwidth("write 8 MiB", "`ib_write_bw` 8 MiB", "ib_write_bw", 8 << 20),
        CopyLimit("limit 1 MiB", "two copies of 1 MiB on 4 KiB pages, 128 KiB at a time", "--bytes", str(1 << 20)),
        CopyLimit("limit 8 MiB", "two copies of 8 MiB on 4 KiB pages, 128 KiB at a time", "--bytes", str(8 << 20)),
        CopyLimit("limit mapped", "one copy of 64 KiB, out of memory that is mapped", "--mapped", "source"),
        CopyLimit("limit both mapped", "one copy of 64 KiB, all memory mapped", "--mapped", "both"),
        bandwidth("write engines", "`ib_write_bw` 64 KiB, an engine for each device", "ib_write_bw", LARGE, ENGINES),
        Qperf("tcp_bw", "GB/s", "qperf `tcp_bw`, 64 KiB", "tcp_bw", LARGE, 1e-9),
        Qperf("tcp_lat", "µs", "qperf `tcp_lat`, 2 B, mean", "tcp_lat", 2, 1e6),
        Interruptions(),
        Latency("send_lat", "`ib_send_lat` 2 B, typical", "ib_send_lat"),
        Latency("write_lat", "`ib_write_lat` 2 B, typical", "ib_write_lat"),
        Latency("read_lat", "`ib_read_lat` 2 B, typical", "ib_read_lat"),
        Latency("send_lat events", "`ib_send_lat -e` 2 B, typical", "ib_send_lat", "-e"),
        rate("write 8 B", "`ib_write_bw` 8 B, inline, one QP, depth 128", "ib_write_bw", *small),
        rate("send 8 B", "`ib_send_bw` 8 B, inline, one QP, depth 128", "ib_send_bw", *small),
        *(rate(f"write 4 KiB on {count}", f"`ib_write_bw` 4 KiB, {count} QP{'s' * (count > 1)}", "ib_write_bw", "-s",
               str(TURN_BYTES), "-q", str(count)) for count in (1, 16, 256)),
        *(Turns(count) for count in TURNS),
        *(Pairs(count) for count in PAIRS),
        FileLimit(), *map(CapturedWrite, CapturedWrite.WAYS), *(Transit(delay) for delay in DELAYS),
        ConnectRate(), ConnectByAddress(), Cmtime(), OpenConnections(), QpMemory(), Idle(0), Idle(1000), *(BystanderBeside(name) for name in ATTACKS),
        *(Sizes(program) for program in ("ib_write_bw", "ib_read_bw", "ib_send_bw")), TcpSizes("tcp_bw", "GB/s", 1e-9),
        *(LatencySizes(program) for program in ("ib_send_lat", "ib_write_lat", "ib_read_lat")),
        TcpSizes("tcp_lat", "µs", 1e6), MemorySpeed(),
    ]
