"""Devices on UDP wires beside TCP on the same cable: `bench --wires`."""

import contextlib

from bench_parts import beside, perftest
from bench_parts.goals import Goal
from bench_parts.hosts import UdpDevice, cable, switched
from bench_parts.measurements import LARGE, Measurement
from lossbench_parts.programs import Failed, free_port, server

MTUS = (1500, 9000)
OFFLOADS = ("on", "off")  # as ethtool calls them: the kernel divides and joins packets, or does not
LOST_ONE_IN = 100


class OnCable(Measurement):
    """A figure of two hosts on a cable."""

    def __init__(self, name, unit, what, mtu, offloads, lost=False):
        super().__init__(name, unit, what)
        self.mtu, self.offloads, self.lost = mtu, offloads == "on", lost


class UdpBandwidth(OnCable):
    def run(self, bench, device):
        with cable(self.mtu, self.offloads) as hosts, contextlib.ExitStack() as stack:
            devices = [stack.enter_context(UdpDevice(device.urnic, host)) for host in hosts]
            if self.lost:  # on its way out of the cable, in both directions
                for each in devices:
                    each.set_link("--direction", "rx", f"loss={1 / LOST_ONE_IN}")
            before = [each.processor_seconds() for each in devices]
            words = ["-s", str(LARGE), "-D", str(bench.seconds)]
            text, = perftest.outputs_between(devices[0], devices[1:], "ib_write_bw", words, bench.timeout)
            return {"value": perftest.gigabytes(perftest.tables(text)[0]), **seen_by(devices),
                    **{f"{end}_seconds": each.processor_seconds() - seconds
                       for end, each, seconds in zip(("receiver", "sender"), devices, before)}}


class UdpLatency(OnCable):
    def run(self, bench, device):
        with cable(self.mtu, self.offloads) as hosts, contextlib.ExitStack() as stack:
            devices = [stack.enter_context(UdpDevice(device.urnic, host)) for host in hosts]
            words = ["-s", "2", "-n", str(bench.iterations)]
            text, = perftest.outputs_between(devices[0], devices[1:], "ib_send_lat", words, bench.timeout)
            found = perftest.latencies_of(text)[2]
            return {"value": found["typical"], **found}


class TcpOnCable(OnCable):
    of_machine = True

    def __init__(self, test, scale, message_bytes, *words):
        super().__init__(*words)
        self.test, self.scale, self.message_bytes = test, scale, message_bytes

    def run(self, bench, _device):
        with cable(self.mtu, self.offloads) as hosts:
            if self.lost and not all(host.lose_tcp(LOST_ONE_IN) for host in hosts):
                raise Failed("nothing here loses TCP's packets: nft is not installed")
            figure, = tcp_between(hosts[0], hosts[1:], self.test, self.message_bytes, bench)
            return {"value": self.scale * figure}


class TwoIntoOne(Measurement):
    """Two hosts write to a third one, all three on a switch."""

    def __init__(self):
        super().__init__("udp two senders", "GB/s", "`ib_write_bw` 64 KiB, two hosts into one, MTU 1500, total")

    def run(self, bench, device):
        with switched(3, 1500) as hosts, contextlib.ExitStack() as stack:
            devices = [stack.enter_context(UdpDevice(device.urnic, host)) for host in hosts]
            words = ["-s", str(LARGE), "-D", str(bench.seconds + 1)]
            texts = perftest.outputs_between(devices[0], devices[1:], "ib_write_bw", words, bench.timeout)
            shares = [perftest.gigabytes(perftest.tables(text)[0]) for text in texts]
            return {"value": sum(shares), "slowest": 2 * min(shares) / sum(shares), **seen_by(devices)}


class OneIntoOne(TwoIntoOne):
    def __init__(self):
        Measurement.__init__(self, "udp one sender", "GB/s", "`ib_write_bw` 64 KiB, one host into one, on the same switch")

    def run(self, bench, device):
        with switched(3, 1500) as hosts, contextlib.ExitStack() as stack:
            devices = [stack.enter_context(UdpDevice(device.urnic, host)) for host in hosts[:2]]
            words = ["-s", str(LARGE), "-D", str(bench.seconds + 1)]
            text, = perftest.outputs_between(devices[0], devices[1:], "ib_write_bw", words, bench.timeout)
            return {"value": perftest.gigabytes(perftest.tables(text)[0]), **seen_by(devices)}


class TwoTcpIntoOne(Measurement):
    of_machine = True

    def __init__(self):
        super().__init__("tcp two senders", "GB/s", "TCP, two hosts into one, total")

    def run(self, bench, _device):
        with switched(3, 1500) as hosts:
            return {"value": 1e-9 * sum(tcp_between(hosts[0], hosts[1:], "tcp_bw", LARGE, bench))}


def seen_by(devices):
    """What the kernel dropped, and how much each system call moved."""
    counters = [device.udp_counters() for device in devices]
    sent, calls = (sum(each[name] for each in counters) for name in ("sent", "send_calls"))
    return {"kernel_drops": sum(each["kernel_drops"] for each in counters),
            "no_buffer": sum(each["no_buffer"] for each in counters), "per_call": sent / max(calls, 1)}


def tcp_between(receiver, senders, test, message_bytes, bench):
    with contextlib.ExitStack() as servers:
        clients = []
        for sender in senders:
            port = free_port()
            servers.enter_context(server([*receiver.enter, "qperf", "-lp", str(port)], port, None, 20, receiver.tables))
            clients.append(([*sender.enter, *beside.qperf_client(receiver.address, port, test, message_bytes, bench.seconds)],
                            None))
        return [beside.qperf_figure(test, text) for text in perftest.outputs_at_once(clients, bench.timeout)]


def with_loss(mtu):
    where = f"MTU {mtu:,}, offloads off, 1 % lost"
    return [UdpBandwidth(f"udp lossy {mtu}", "GB/s", f"`ib_write_bw` 64 KiB, {where}", mtu, "off", True),
            TcpOnCable("tcp_bw", 1e-9, LARGE, f"tcp lossy {mtu}", "GB/s", f"TCP (`tcp_bw` 64 KiB), {where}", mtu, "off", True)]


def everything():
    """What is compared stands together."""
    found = []
    for mtu in MTUS:
        for offloads in OFFLOADS:
            place = (mtu, offloads)
            where = f"MTU {mtu:,}, offloads {offloads}"
            found += [
                TcpOnCable("tcp_bw", 1e-9, LARGE, f"tcp_bw {mtu} {offloads}", "GB/s", f"TCP (`tcp_bw` 64 KiB), {where}", *place),
                UdpBandwidth(f"udp write {mtu} {offloads}", "GB/s", f"`ib_write_bw` 64 KiB, {where}", *place)]
            if offloads == "off":
                found += with_loss(mtu)
            found += [
                UdpLatency(f"udp send_lat {mtu} {offloads}", "µs", f"`ib_send_lat` 2 B, typical, {where}", *place),
                TcpOnCable("tcp_lat", 1e6, 2, f"tcp_lat {mtu} {offloads}", "µs", f"TCP (`tcp_lat` 2 B), mean, {where}", *place)]
    return found + [OneIntoOne(), TwoIntoOne(), TwoTcpIntoOne()]


def all_goals():
    for mtu in MTUS:
        for offloads, wanted in zip(OFFLOADS, (0.5, 1)):
            where = f"MTU {mtu:,}, offloads {offloads}"
            yield Goal(f"`ib_write_bw` 64 KiB / TCP, {where}", f"udp write {mtu} {offloads}", ">=", wanted,
                       f"tcp_bw {mtu} {offloads}")
            yield Goal(f"`ib_send_lat` 2 B / TCP, {where}", f"udp send_lat {mtu} {offloads}", "<=", 1,
                       f"tcp_lat {mtu} {offloads}")
        kept = 1 - 1 / LOST_ONE_IN
        yield Goal(f"1 % lost / nothing lost, MTU {mtu:,}", f"udp lossy {mtu}", ">=", 0.95 * kept, f"udp write {mtu} off")
    yield Goal("two senders into one host / one sender", "udp two senders", ">=", 0.9, "udp one sender")


GOALS = list(all_goals())
