"""The goals, as ratios between figures of one round, and whether a run reaches them."""

import statistics

from bench_parts.bystander import ATTACKS


class Goal:
    """`name` is a measurement. With `against`, another measurement, the goal is about the ratio of the two figures of a
    round. `better` is ">=" or "<="."""

    def __init__(self, figure, name, better, wanted, against=None, field="value", against_field="value", unit=""):
        self.figure, self.name, self.better, self.wanted = figure, name, better, wanted
        self.against, self.field, self.against_field, self.unit = against, field, against_field, unit

    def values(self, results):
        """One value for each round that has both figures. `results` are the results of one build, by name."""
        mine = results.get(self.name, [])
        if not self.against:
            return [result[self.field] for result in mine if self.field in result]
        return [result[self.field] / other[self.against_field]
                for result, other in zip(mine, results.get(self.against, []))
                if self.field in result and other.get(self.against_field)]

    def reached(self, results):
        """Whether the median reaches the goal; None without figures."""
        values = self.values(results)
        if not values:
            return None
        median = statistics.median(values)
        return median >= self.wanted if self.better == ">=" else median <= self.wanted


# In percent: a smaller share of a core counts as nothing.
NOTHING = 0.05

GOALS = [
    Goal("`ib_write_bw` 64 KiB / two-copy limit", "write", ">=", 1.6, "limit"),
    Goal("`ib_read_bw` 64 KiB / two-copy limit", "read", ">=", 1.5, "limit"),
    Goal("`ib_send_bw` 64 KiB / two-copy limit", "send", ">=", 1.6, "limit"),
    Goal("`ib_write_bw` 64 KiB / `tcp_bw`", "write", ">=", 2.0, "tcp_bw"),
    Goal("the same with an engine for each device / `tcp_bw`", "write engines", ">=", 1.0, "tcp_bw"),
    Goal("`ib_write_bw` 1 MiB / two copies of 1 MiB", "write 1 MiB", ">=", 1.2, "limit 1 MiB"),
    Goal("`ib_write_bw` 8 MiB / two copies of 8 MiB", "write 8 MiB", ">=", 1.2, "limit 8 MiB"),
    Goal("`ib_send_lat` 2 B, typical / `tcp_lat`", "send_lat", "<=", 0.2, "tcp_lat"),
    Goal("`ib_write_lat` 2 B, typical / `tcp_lat`", "write_lat", "<=", 0.2, "tcp_lat"),
    Goal("`ib_read_lat` 2 B, typical / `tcp_lat`", "read_lat", "<=", 0.2, "tcp_lat"),
    Goal("`ib_send_lat` 2 B, 99.9th percentile / typical", "send_lat", "<=", 8, "send_lat", "p99.9", "typical"),
    Goal("8 B inline writes, one QP, depth 128", "write 8 B", ">=", 2.0, unit="M/s"),
    Goal("8 B sends, two-sided, one QP, depth 128", "send 8 B", ">=", 1.0, unit="M/s"),
    Goal("16 QPs, `ib_write_bw -q` 4 KiB / one QP", "write 4 KiB on 16", ">=", 0.9, "write 4 KiB on 1"),
    Goal("256 QPs, `ib_write_bw -q` 4 KiB / one QP", "write 4 KiB on 256", ">=", 0.85, "write 4 KiB on 1"),
    Goal("16 QPs taking turns, 4 KiB / one QP", "turns 16", ">=", 0.9, "turns 1"),
    Goal("256 QPs taking turns, 4 KiB / one QP", "turns 256", ">=", 0.85, "turns 1"),
    Goal("4,096 QPs taking turns, 4 KiB / one QP", "turns 4096", ">=", 0.75, "turns 1"),
    Goal("16,384 QPs taking turns, 4 KiB / one QP", "turns 16384", ">=", 0.75, "turns 1"),
    Goal("device process's own memory, an idle RC QP", "memory", "<=", 16, unit="KiB"),
    Goal("QPs created and connected (RESET to RTS)", "connect", ">=", 5000, unit="/s"),
    Goal("connections by rdma_cm, made and taken down", "connect by address", ">=", 2000, unit="/s"),
    Goal("connections by `cmtime`, made and taken down", "cmtime", ">=", 2000, unit="/s"),
    Goal("one connection by rdma_cm, typical / TCP's", "connect by address", "<=", 3, "connect by address", "one_us",
         "tcp_one_us"),
    Goal("8 pairs of programs at once / one pair, total", "pairs 8", ">=", 0.9, "pairs 1"),
    Goal("a capture of the first 128 bytes into memory: what `ib_write_bw` 64 KiB keeps", "capture cut", ">=", 0.6,
         "capture off"),
    Goal("a capture of all bytes into memory: the same", "capture on", ">=", 0.6, "capture off"),
    *(Goal(f"transit beyond 2 × {delay:,} µs, median, both ways under load", f"transit {delay}", "<=", 20, unit="µs")
      for delay in (5, 50, 1000)),
    Goal("processor share of the device process, nothing happening", "idle 0", "<=", NOTHING, unit="%"),
    Goal("the same with 1,000 idle QPs", "idle 1000", "<=", NOTHING, unit="%"),
    Goal("sleeping programs: `ib_send_lat -e` 2 B, typical / `tcp_lat`", "send_lat events", "<=", 1.0, "tcp_lat"),
    *(goal for name, words in ATTACKS.items() if name != "idle" for goal in (
        Goal(f"a bystander's control requests less its own wait for a processor (99.9th percentile), {words}",
             f"bystander {name}", "<=", 1000, unit="µs"),
        Goal("the bystander's typical round trip then / with nobody beside it", f"bystander {name}", "<=", 2,
             "bystander idle", "round_trip", "round_trip"))),
]
