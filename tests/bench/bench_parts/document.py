"""Generates the figures in docs/performance.md from a run. The prose around them is written by hand and stays."""

from bench_parts import report, summary, wires
from bench_parts.goals import GOALS
from bench_parts.measurements import PAIRS, TURNS
from bench_parts.panels import relative
from bench_parts.summary import curve, in_words, number, size_name, spread, values
from lossbench_parts.table import markdown

BEGIN = "<!-- what follows is made by tests/bench/bench --write: edit above or below -->"
END = "<!-- end of what is made -->"


def with_figures(document, text):
    """`document` with the new `text` between the two marks. ValueError unless each mark occurs exactly once."""
    if document.count(BEGIN) != 1 or document.count(END) != 1:
        raise ValueError(f"has not one line '{BEGIN}' and one line '{END}'")
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{text}\n{END}{after}"


def figures(record):
    results = report.by_name(record, 0)
    parts = [report.machine_line(record) + ".", "## Goals", goals(results, GOALS), "## What was measured", measured(record)]
    parts += ["## How cost grows", "![Bandwidth and latency over message size; many QPs and many programs]"
              "(images/performance.svg)", sizes(results), scale(results)]
    parts += ["## Reaching memory", memory(results)]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def wire_figures(record):
    results = report.by_name(record, 0)
    parts = [report.machine_line(record) + ".", goals(results, wires.GOALS), measured(record),
             "![Bandwidth and latency over the MTU](images/wires.svg)"]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def goals(results, wanted):
    rows = [["figure", "median (least – most)", "goal", "reached"]]
    rows += [[goal.figure, *report.goal_cells(goal, results)] for goal in wanted if goal.name in results]
    return markdown(rows)


def measured(record):
    rows = [["", "median (least – most)", "medians of what else was seen"]]
    for entry in record["measurements"]:
        results = entry["builds"][0]
        found = spread(values(results))
        if found is None and (entry["curve"] or not summary.failure(results)):
            continue
        figure = in_words(found, entry["unit"]) if found else summary.failure(results)
        rows.append([entry["what"], figure, report.note(results)])
    return markdown(rows)


def sizes(results):
    columns = [(f"{program} sizes", f"`{program}` {unit}") for program, unit in (
        ("ib_write_bw", "GB/s"), ("ib_read_bw", "GB/s"), ("ib_send_bw", "GB/s"), ("tcp_bw", "GB/s"),
        ("ib_send_lat", "µs"), ("ib_write_lat", "µs"), ("ib_read_lat", "µs"), ("tcp_lat", "µs"))]
    curves = [curve(results.get(name, [])) for name, _ in columns]
    every = sorted({size for points in curves for size in points})
    rows = [["message", *(title for _, title in columns)]]
    rows += [[size_name(size), *(number(points[size]) if size in points else "" for points in curves)] for size in every]
    return markdown(rows) if every else ""


def scale(results):
    tables = []
    for head, names in ((["QPs taking turns", "million writes of 4 KiB a second", "one QP = 1"],
                         {count: f"turns {count}" for count in TURNS}),
                        (["pairs of programs", "`ib_write_bw` 64 KiB, total GB/s", "one pair = 1"],
                         {count: f"pairs {count}" for count in PAIRS})):
        shares = relative(results, names)
        rows = [[f"{count:,}", in_words(spread(values(results[names[count]]))), number(share)]
                for count, share in shares.items()]
        if rows:
            tables.append(markdown([head, *rows]))
    return "\n".join(tables)


def memory(results):
    found = summary.ways(results.get("memory speed", []))
    every = sorted({size for points in found.values() for size in points})
    rows = [["nanoseconds an operation", *(size_name(size) for size in every)]]
    rows += [[way, *(number(points[size]) if size in points else "" for size in every)] for way, points in found.items()]
    return markdown(rows) if every else ""
