"""Panels of lines as SVG, written directly."""

import math
from xml.sax.saxutils import escape

# Colours that colour-blind people can tell apart (Okabe and Ito).
ORANGE, BLUE, GREEN, YELLOW, GREY = "#d55e00", "#0072b2", "#009e73", "#e69f00", "#555555"
COLOURS = (ORANGE, BLUE, GREEN, GREY, YELLOW)
LEFT, TOP, GAP_X, GAP_Y = 56, 44, 72, 96
STYLE = ("<style>text{font:12px sans-serif;fill:#222}.title{font-weight:bold;font-size:13px}.note{font-size:11px;"
         "fill:#555}.end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:#ddd}</style>")


class LogScale:
    """A logarithmic scale between whole powers of `base`, with marks at powers."""

    def __init__(self, values, base):
        self.base = base
        self.low = math.floor(math.log(min(values), base) + 1e-9)
        self.high = max(math.ceil(math.log(max(values), base) - 1e-9), self.low + 1)

    def part(self, value):
        return (math.log(value, self.base) - self.low) / (self.high - self.low)

    def marks(self):
        step = max(1, (self.high - self.low + 6) // 7)
        return [float(self.base) ** power for power in range(self.low, self.high + 1, step)]


class ValueScale:
    """A logarithmic scale from the least to the largest value, with a mark at each."""

    def __init__(self, values):
        self.values = sorted(set(values))
        self.low, self.high = math.log(self.values[0]), math.log(self.values[-1])

    def part(self, value):
        return (math.log(value) - self.low) / ((self.high - self.low) or 1)

    def marks(self):
        return self.values


class LinearScale:
    """A linear scale that begins at 0; its end is a fifth at or above 1."""

    def __init__(self, values):
        self.high = max(1.0, math.ceil(max(values) * 5) / 5)

    def part(self, value):
        return value / self.high

    def marks(self):
        return [fifth / 5 for fifth in range(round(self.high * 5) + 1)]


class Panel:
    """One plot. `lines`: {name: {x: y}}. `across` and `up` make a scale from the values of an axis; `x_name` and
    `y_name` turn a value into text. `colours`: {name: colour}, else by place."""

    def __init__(self, title, note, lines, across, up, x_name=str, y_name="{:,g}".format, colours=None):
        self.title, self.note, self.x_name, self.y_name = title, note, x_name, y_name
        self.lines = {name: points for name, points in lines.items() if points}
        self.colours = colours or dict(zip(self.lines, COLOURS))
        if self.lines:
            self.across = across([x for points in self.lines.values() for x in points])
            self.up = up([y for points in self.lines.values() for y in points.values()])

    def draw(self, left, top, width, height):
        parts = [text(left, top - 24, self.title, "title"), text(left, top - 9, self.note, "note")]
        for mark in self.up.marks():
            y = top + height - self.up.part(mark) * height
            parts += [f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}"/>',
                      text(left - 6, y + 4, f"{mark:,g}", "end")]
        for mark in self.across.marks():
            x = left + self.across.part(mark) * width
            parts += [f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + height}"/>',
                      text(x, top + height + 16, self.x_name(mark), "middle")]
        for number, (name, points) in enumerate(self.lines.items()):
            places = [(left + self.across.part(x) * width, top + height - self.up.part(y) * height, x, y)
                      for x, y in points.items()]
            parts += self.draw_line(name, places, self.colours[name])
            parts += key(left + number * width / len(self.lines), top + height + 38, name, self.colours[name])
        return parts

    def draw_line(self, name, places, colour):
        path = " ".join(f"{across:.1f},{up:.1f}" for across, up, _, _ in places)
        return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'] + [
            f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3" fill="{colour}"><title>{escape(name)}, '
            f"{self.x_name(x)}: {self.y_name(y)}</title></circle>" for across, up, x, y in places]


def text(x, y, words, kind):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def key(x, y, name, colour):
    return [f'<line x1="{x:.1f}" y1="{y - 4}" x2="{x + 16:.1f}" y2="{y - 4}" stroke="{colour}" stroke-width="3"/>',
            text(x + 20, y, name, "note")]


def sheet(rows, width, height):
    """Rows of panels as SVG, each plot `width` by `height`; None if no panel has a line."""
    rows = [drawn for drawn in ([panel for panel in row if panel.lines] for row in rows) if drawn]
    if not rows:
        return None
    columns = max(len(row) for row in rows)
    across = LEFT + columns * (width + GAP_X) - GAP_X + 24
    down = TOP + len(rows) * (height + GAP_Y) - 20
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" height="{down}">',
             STYLE, f'<rect width="{across}" height="{down}" fill="#ffffff"/>']
    for row, panels in enumerate(rows):
        for column, panel in enumerate(panels):
            parts += panel.draw(LEFT + column * (width + GAP_X), TOP + row * (height + GAP_Y), width, height)
    return "\n".join(parts + ["</svg>\n"])
