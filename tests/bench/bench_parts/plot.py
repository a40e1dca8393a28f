"""Plots of how cost grows: writes SVG directly, like tools/lossbench."""

import math
from xml.sax.saxutils import escape

from bench_parts import report, summary
from bench_parts.measurements import PAIRS, TURNS

# Colours that colour-blind people can tell apart (Okabe and Ito).
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#555555")
WIDTH, HEIGHT = 360, 200  # of a panel's plot
LEFT, TOP, GAP_X, GAP_Y = 56, 44, 72, 96
STYLE = ("<style>text{font:12px sans-serif;fill:#222}.title{font-weight:bold;font-size:13px}.note{font-size:11px;"
         "fill:#555}.end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:#ddd}</style>")


class LogScale:
    """A logarithmic scale between whole powers of `base`."""

    def __init__(self, values, base):
        self.base = base
        self.low = math.floor(math.log(min(values), base) + 1e-9)
        self.high = max(math.ceil(math.log(max(values), base) - 1e-9), self.low + 1)

    def part(self, value):
        return (math.log(value, self.base) - self.low) / (self.high - self.low)

    def marks(self):
        step = max(1, (self.high - self.low + 6) // 7)
        return [float(self.base) ** power for power in range(self.low, self.high + 1, step)]


class LinearScale:
    """A linear scale that begins at 0."""

    def __init__(self, values):
        self.high = max(1.0, math.ceil(max(values) * 5) / 5)

    def part(self, value):
        return value / self.high

    def marks(self):
        return [fifth / 5 for fifth in range(round(self.high * 5) + 1)]


class Panel:
    """One plot. `lines`: {name: {x: y}}. `across` and `up` make a scale from the values of an axis."""

    def __init__(self, title, note, lines, across, up, x_name=str):
        self.title, self.note, self.x_name = title, note, x_name
        self.lines = {name: points for name, points in lines.items() if points}
        if self.lines:
            self.across = across([x for points in self.lines.values() for x in points])
            self.up = up([y for points in self.lines.values() for y in points.values()])

    def draw(self, left, top):
        parts = [text(left, top - 24, self.title, "title"), text(left, top - 9, self.note, "note")]
        for mark in self.up.marks():
            y = top + HEIGHT - self.up.part(mark) * HEIGHT
            parts += [f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + WIDTH}" y2="{y:.1f}"/>',
                      text(left - 6, y + 4, f"{mark:,g}", "end")]
        for mark in self.across.marks():
            x = left + self.across.part(mark) * WIDTH
            parts += [f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + HEIGHT}"/>',
                      text(x, top + HEIGHT + 16, self.x_name(round(mark)), "middle")]
        for number, (name, points) in enumerate(self.lines.items()):
            parts += self.draw_line(left, top, name, points, COLOURS[number % len(COLOURS)])
            parts += key(left + number * WIDTH / len(self.lines), top + HEIGHT + 38, name, COLOURS[number % len(COLOURS)])
        return parts

    def draw_line(self, left, top, name, points, colour):
        places = [(left + self.across.part(x) * WIDTH, top + HEIGHT - self.up.part(y) * HEIGHT, x, y)
                  for x, y in points.items()]
        path = " ".join(f"{across:.1f},{up:.1f}" for across, up, _, _ in places)
        return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'] + [
            f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3" fill="{colour}"><title>{escape(name)}, '
            f"{self.x_name(x)}: {summary.number(y)}</title></circle>" for across, up, x, y in places]


def text(x, y, words, kind):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def key(x, y, name, colour):
    return [f'<line x1="{x:.1f}" y1="{y - 4}" x2="{x + 16:.1f}" y2="{y - 4}" stroke="{colour}" stroke-width="3"/>',
            text(x + 20, y, name, "note")]


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
                summary.size_name)
    yield Panel("Latency over message size", "µs, one way, typical; both scales logarithmic",
                sizes("ib_send_lat", "ib_write_lat", "ib_read_lat", "tcp_lat"), lambda values: LogScale(values, 2), by_ten,
                summary.size_name)
    yield Panel("Many QPs taking turns", "writes of 4 KiB a second, in units of one QP's",
                {"QPs": relative(results, {count: f"turns {count}" for count in TURNS})}, by_four, LinearScale,
                lambda count: f"{count:,}")
    yield Panel("Pairs of programs at once", "ib_write_bw 64 KiB, total, in units of one pair's",
                {"pairs": relative(results, {count: f"pairs {count}" for count in PAIRS})},
                lambda values: LogScale(values, 2), LinearScale)


def svg(record):
    """The plots of a record as SVG; None if it has no figures to draw."""
    drawn = [panel for panel in panels(record) if panel.lines]
    if not drawn:
        return None
    rows = (len(drawn) + 1) // 2
    width, height = LEFT + min(len(drawn), 2) * (WIDTH + GAP_X) - GAP_X + 24, TOP + rows * (HEIGHT + GAP_Y) - 20
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
             STYLE, f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for number, panel in enumerate(drawn):
        parts += panel.draw(LEFT + number % 2 * (WIDTH + GAP_X), TOP + number // 2 * (HEIGHT + GAP_Y))
    return "\n".join(parts + ["</svg>\n"])
