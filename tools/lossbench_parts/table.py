"""The figures as Markdown."""

RECOVERIES = ("gbn", "selective", "irn", "sack")


def percent(loss):
    return f"{100 * loss:g} %"


def in_order(values):
    return list(dict.fromkeys(values))


def markdown(rows):
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body]) + "\n"


def live(results, seconds):
    losses = in_order(entry["loss"] for entry in results)
    by_case = {(entry["program"], entry["recovery"], entry["loss"]): entry for entry in results}
    rows = [["program", "recovery"] + ["GB/s without loss" if loss == 0 else percent(loss) for loss in losses]]
    for program, recovery in in_order((entry["program"], entry["recovery"]) for entry in results):
        rows.append([f"`{program}`", f"`{recovery}`"] + [live_cell(by_case[program, recovery, loss]) for loss in losses])
    return (f"Messages of 64 KiB for {seconds} seconds; with loss, the share of the same recovery's goodput without.\n\n"
            + markdown(rows))


def live_cell(entry):
    if "bytes_per_second" not in entry:
        return "failed"
    if entry["loss"] == 0 or "share" not in entry:
        return f"{entry['bytes_per_second'] / 1e9:.2f}"
    return f"{entry['share']:.3f}"


def goodput_cell(entry):
    if entry is None:
        return ""
    if entry.get("gave_up"):
        return "gave up"
    closed = entry.get("closed_form_share")
    return f"{entry['share']:.4f}" + (f" ({closed:.4f})" if closed is not None else "")


def goodput(entries, delay, burst):
    """One table: all operations and MTUs with one delay and one kind of loss."""
    chosen = [entry for entry in entries if entry["one_way_delay_us"] == delay and entry["mean_burst"] == burst]
    losses = [loss for loss in in_order(entry["loss"] for entry in chosen) if loss > 0]
    by_case = {(e["operation"], e["mtu"], e["recovery"], e["loss"]): e for e in chosen}
    rows = [["operation", "MTU", "recovery"] + [percent(loss) for loss in losses]]
    for mtu, operation, recovery in sorted(in_order((e["mtu"], e["operation"], e["recovery"]) for e in chosen),
                                           key=lambda case: (-case[0], case[1] != "write", case[1],
                                                             RECOVERIES.index(case[2]))):
        rows.append([operation, str(mtu), f"`{recovery}`"]
                    + [goodput_cell(by_case.get((operation, mtu, recovery, loss))) for loss in losses])
    how = "each packet lost by itself" if burst == 1 else f"bursts of {burst:g} packets on average"
    return f"**{delay:g} µs each way, {how}**\n\n{markdown(rows)}"


def completion_times(entries):
    losses = in_order(entry["loss"] for entry in entries)
    keys = ("operation", "mtu", "one_way_delay_us", "mean_burst", "recovery")
    names = {"mtu": "MTU", "one_way_delay_us": "µs each way", "mean_burst": "burst"}
    by_case = {tuple(entry[key] for key in keys) + (entry["loss"],): entry for entry in entries}
    rows = [[names.get(key, key) for key in keys] + [percent(loss) for loss in losses]]
    for case in in_order(tuple(entry[key] for key in keys) for entry in entries):
        cells = [by_case.get(case + (loss,)) for loss in losses]
        rows.append([f"{value:g}" if isinstance(value, (int, float)) else str(value) for value in case]
                    + [f"{cell['p99']:.2f}" if cell and "p99" in cell else "" for cell in cells])
    return markdown(rows)


def laboratory(found):
    settings = found["settings"]
    parts = [f"A link of {settings['link_gbps']:g} Gbit/s under virtual time, messages of "
             f"{settings['message_bytes'] >> 20} MiB; share of what the link could carry at that loss, "
             "(1 − loss) × goodput without. For `gbn`, its closed form stands in brackets."]
    entries = found["goodput"]
    for delay, burst in in_order((entry["one_way_delay_us"], entry["mean_burst"]) for entry in entries):
        parts.append(goodput(entries, delay, burst))
    for caps in settings.get("irn", []):
        parts.append(f"`irn` at MTU {caps['mtu']}, {caps['one_way_delay_us']:g} µs: at most {caps['cap_packets']} packets "
                     f"in flight, timeouts {caps['timeout_low_us']:g} and {caps['timeout_high_us']:g} µs.")
    if found.get("completion_times"):
        parts.append("**Messages of 4 KiB one after another: 99th percentile of completion time, in units of the "
                     "lossless one**\n\n" + completion_times(found["completion_times"]))
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def document(found):
    parts = ["# Goodput under loss", "Made by `tools/lossbench --write`, in one run."]
    machine = found["machine"]
    if "live" in found:
        parts += ["## Real programs", f"{machine['cores']} cores of {machine['processor']}, Linux {machine['kernel']}, load "
                  f"{machine['load_average']:.1f} at the start; medians of {found['rounds']} round(s).",
                  live(found["live"], found["seconds"])]
    if "laboratory" in found:
        parts += ["## In virtual time", laboratory(found["laboratory"])]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"
