"""The figures as panels: share of goodput over loss, a line for each recovery."""

from plotter.panel import BLUE, GREY, ORANGE, YELLOW, LinearScale, Panel, ValueScale, sheet

COLOURS = {"gbn": GREY, "selective": BLUE, "irn": YELLOW, "sack": ORANGE}


def panel(title, note, entries, chosen):
    lines = {}
    for entry in sorted(entries, key=lambda entry: entry["loss"]):
        if entry["loss"] > 0 and "share" in entry and not entry.get("gave_up") and chosen(entry):
            lines.setdefault(entry["recovery"], {})[entry["loss"]] = min(max(entry["share"], 0), 1)
    return Panel(title, note, lines, ValueScale, LinearScale, x_name=lambda loss: f"{100 * loss:g} %",
                 y_name="{:.3f}".format, colours=COLOURS)


def live_panels(found):
    for program in dict.fromkeys(entry["program"] for entry in found.get("live", [])):
        yield panel(program, "64 KiB messages; share of goodput without loss, over packets lost", found["live"],
                    lambda entry, program=program: entry["program"] == program)


def laboratory_panels(found):
    entries = found.get("laboratory", {}).get("goodput", [])
    delay = min((entry["one_way_delay_us"] for entry in entries), default=0)
    for operation, mtu in (("write", 4096), ("read", 4096), ("write", 1024)):
        yield panel(f"{operation}, MTU {mtu}, in virtual time",
                    f"100 Gbit/s, {delay:g} µs each way; share of what is possible", entries,
                    lambda entry, operation=operation, mtu=mtu: (
                        entry["operation"], entry["mtu"], entry["one_way_delay_us"], entry["mean_burst"])
                    == (operation, mtu, delay, 1))


def svg(found):
    """The figures as SVG; None if there is none with loss."""
    return sheet([list(live_panels(found)), list(laboratory_panels(found))], 250, 170)
