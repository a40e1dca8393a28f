"""The figures as a plot: SVG, written directly."""

import math
from xml.sax.saxutils import escape

# Colours that colour-blind readers can tell apart (Okabe and Ito).
COLOURS = {"gbn": "#555555", "selective": "#0072b2", "irn": "#e69f00", "sack": "#d55e00"}
WIDTH, HEIGHT = 250, 170  # of a panel's plot
LEFT, TOP, GAP_X, GAP_Y = 52, 64, 44, 84


class Panel:
    """Share of goodput over loss, a line for each recovery."""

    def __init__(self, title, note, lines):
        self.title, self.note, self.lines = title, note, lines

    def draw(self, x, y, losses):
        low, high = math.log10(min(losses)), math.log10(max(losses))

        def place(loss, share):
            across = (math.log10(loss) - low) / ((high - low) or 1)
            return f"{x + across * WIDTH:.1f},{y + HEIGHT - min(max(share, 0), 1) * HEIGHT:.1f}"

        parts = [text(x, y - 22, self.title, "title"), text(x, y - 8, self.note, "note")]
        for tenth in range(0, 11, 2):
            level = y + HEIGHT - tenth / 10 * HEIGHT
            parts.append(f'<line class="grid" x1="{x}" y1="{level:.1f}" x2="{x + WIDTH}" y2="{level:.1f}"/>')
            parts.append(text(x - 6, level + 4, f"{tenth / 10:g}", "end"))
        for loss in losses:
            across = place(loss, 0).split(",")[0]
            parts.append(f'<line class="grid" x1="{across}" y1="{y}" x2="{across}" y2="{y + HEIGHT}"/>')
            parts.append(text(float(across), y + HEIGHT + 16, f"{100 * loss:g} %", "middle"))
        for recovery, points in self.lines.items():
            colour = COLOURS.get(recovery, "#000000")
            path = " ".join(place(loss, share) for loss, share in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            for loss, share in points:
                cx, cy = place(loss, share).split(",")
                parts.append(f'<circle cx="{cx}" cy="{cy}" r="3" fill="{colour}"><title>{escape(recovery)}, '
                             f"{100 * loss:g} %: {share:.3f}</title></circle>")
        return parts


def text(x, y, words, kind):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def lines_of(entries, chosen):
    lines = {}
    for entry in entries:
        if entry["loss"] > 0 and "share" in entry and not entry.get("gave_up") and chosen(entry):
            lines.setdefault(entry["recovery"], []).append((entry["loss"], entry["share"]))
    return {recovery: sorted(points) for recovery, points in lines.items()}


def live_panels(found):
    for program in dict.fromkeys(entry["program"] for entry in found.get("live", [])):
        lines = lines_of(found["live"], lambda entry, program=program: entry["program"] == program)
        yield Panel(program, "64 KiB messages; share of goodput without loss", lines)


def laboratory_panels(found):
    entries = found.get("laboratory", {}).get("goodput", [])
    delay = min((entry["one_way_delay_us"] for entry in entries), default=0)
    for operation, mtu in (("write", 4096), ("read", 4096), ("write", 1024)):
        lines = lines_of(entries, lambda entry, operation=operation, mtu=mtu: (
            entry["operation"], entry["mtu"], entry["one_way_delay_us"], entry["mean_burst"]) == (operation, mtu, delay, 1))
        if lines:
            yield Panel(f"{operation}, MTU {mtu}, in virtual time",
                        f"100 Gbit/s, {delay:g} µs each way; share of what is possible", lines)


def legend(x, y):
    parts = []
    for recovery, colour in COLOURS.items():
        parts.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 24}" y2="{y - 4}" stroke="{colour}" stroke-width="3"/>')
        parts.append(text(x + 30, y, recovery, "name"))
        x += 110
    return parts


def svg(found):
    rows = [panels for panels in (list(live_panels(found)), list(laboratory_panels(found))) if panels]
    losses = sorted({loss for panels in rows for panel in panels for points in panel.lines.values() for loss, _ in points})
    if not losses:
        return None
    across = max(len(panels) for panels in rows)
    width = LEFT + across * (WIDTH + GAP_X)
    height = TOP + len(rows) * (HEIGHT + GAP_Y) - 16
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
             "<style>text{font:12px sans-serif;fill:#222}.title{font-weight:bold;font-size:13px}.note{font-size:11px;"
             "fill:#555}.end{text-anchor:end}.middle{text-anchor:middle}.name{font-size:13px}.grid{stroke:#ddd}</style>",
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    parts += legend(LEFT, 20)
    for row, panels in enumerate(rows):
        y = TOP + 16 + row * (HEIGHT + GAP_Y)
        for column, panel in enumerate(panels):
            parts += panel.draw(LEFT + column * (WIDTH + GAP_X), y, losses)
    parts.append(text(LEFT, height - 10, "across: packets lost, each way", "note"))
    return "\n".join(parts + ["</svg>\n"])
