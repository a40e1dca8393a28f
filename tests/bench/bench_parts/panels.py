"""The figures of a record as panels: how cost grows."""

from bench_parts import report, summary, wires
from bench_parts.measurements import PAIRS, TURNS
from plotter.panel import LinearScale, LogScale, Panel, sheet


def relative(results, names):
    """{x: median over rounds of the figure divided by the round's figure of the first name}"""
    points = {}
    for x, name in names.items():
        first = results.get(next(iter(names.values())), [])
        ratios = [mine["value"] / one["value"] for mine, one in zip(results.get(name, []), first)
                  if "value" in mine and one.get("value")]
        if ratios:
            points[x] = summary.spread(ratios)[0]
    return points


def panels(record):
    results = report.by_name(record, 0)

    def sizes(*programs):
        return {program: summary.curve(results.get(f"{program} sizes", [])) for program in programs}

    def by_four(values):
        return LogScale(values, 4)

    def by_ten(values):
        return LogScale(values, 10)

    yield Panel("Bandwidth over message size", "GB/s; both scales logarithmic",
                sizes("ib_write_bw", "ib_read_bw", "ib_send_bw", "tcp_bw"), lambda values: LogScale(values, 2), by_ten,
                lambda size: summary.size_name(round(size)), summary.number)
    yield Panel("Latency over message size", "µs, one way, typical; both scales logarithmic",
                sizes("ib_send_lat", "ib_write_lat", "ib_read_lat", "tcp_lat"), lambda values: LogScale(values, 2), by_ten,
                lambda size: summary.size_name(round(size)), summary.number)
    yield Panel("Many QPs taking turns", "writes of 4 KiB a second, in units of one QP's",
                {"QPs": relative(results, {count: f"turns {count}" for count in TURNS})}, by_four, LinearScale,
                lambda count: f"{round(count):,}", summary.number)
    yield Panel("Pairs of programs at once", "ib_write_bw 64 KiB, total, in units of one pair's",
                {"pairs": relative(results, {count: f"pairs {count}" for count in PAIRS})},
                lambda values: LogScale(values, 2), LinearScale,
                lambda count: str(round(count)), summary.number)


def wire_panels(record):
    results = report.by_name(record, 0)

    def over_mtu(words):
        points = {f"{title}, {offloads}": {mtu: summary.spread(summary.values(results.get(f"{name} {mtu} {offloads}", [])))
                                           for mtu in wires.MTUS} for name, title in words for offloads in wires.OFFLOADS}
        return {title: {mtu: found[0] for mtu, found in each.items() if found} for title, each in points.items()}

    for head, unit, words in (
            ("Bandwidth over the MTU, offloads on and off", "GB/s", (("udp write", "ib_write_bw"), ("tcp_bw", "TCP"))),
            ("Latency over the MTU, offloads on and off", "µs, one way", (("udp send_lat", "ib_send_lat"), ("tcp_lat", "TCP")))):
        yield Panel(head, unit, over_mtu(words), lambda values: LogScale(values, 2), LinearScale,
                    lambda mtu: f"{round(mtu):,}", summary.number)


def svg(record, made=panels):
    """The plots of a record as SVG; None if it has no figures to draw."""
    drawn = [panel for panel in made(record) if panel.lines]
    return sheet([drawn[at:at + 2] for at in range(0, len(drawn), 2)], 360, 200)
