"""perftest over urnic, unmodified: the server on urnic0, the client on urnic1."""

import contextlib
import re
import subprocess
import time

from lossbench_parts.programs import Failed, free_port, last_line, output_of, server, start, stop

MIB = 1 << 20


def tables(text):
    """Every line of numbers that perftest prints, with the names of its columns."""
    names, found = None, []
    for line in text.splitlines():
        if line.strip().startswith("#bytes"):
            names = re.findall(r"(?:BW |99(?:\.9)?% )?\S+", line)  # names may contain a space or be one space apart
        elif names and line.split() and all(re.fullmatch(r"-?[\d.]+|-?nan", word) for word in line.split()):
            values = [float(word) for word in line.split()]
            if len(values) != len(names):
                raise Failed(f"perftest printed {len(values)} numbers under {len(names)} names")
            found.append(dict(zip(names, values)))
    if not found:
        raise Failed(f"no result in perftest's output: {last_line(text)}")
    return found


def column(table, beginning):
    for name, value in table.items():
        if name.startswith(beginning):
            return value
    raise Failed(f"perftest printed no {beginning}, only {', '.join(table)}")


def command(device, program, options, port):
    return [*device.enter, device.urnic, "run", "--", program, "-F", "-p", str(port), *options]


def output(device, program, options, timeout):
    """The client's output."""
    port = free_port()
    words = command(device, program, options, port)
    with server(words + ["-d", "urnic0"], port, device.environment, 20):
        return output_of(words + ["-d", "urnic1", "127.0.0.1"], device.environment, timeout)


def outputs_between(receiver, senders, program, options, timeout):
    """The clients' outputs: one on each of the devices `senders`, all at once, with servers on the device `receiver`. All
    are alone on their hosts."""
    with contextlib.ExitStack() as servers:
        clients = []
        for sender in senders:
            port = free_port()
            words = ["-d", "urnic0", "-x", "0"]
            servers.enter_context(server(command(receiver, program, options, port) + words, port, receiver.environment, 20,
                                         receiver.host.tables))
            clients.append((command(sender, program, options, port) + words + [receiver.host.address], sender.environment))
        return outputs_at_once(clients, timeout)


def gigabytes(table):
    return column(table, "BW average") * MIB / 1e9


def bandwidth(device, program, options, timeout):
    return gigabytes(tables(output(device, program, options, timeout))[0])


def message_rate(device, program, options, timeout):
    """Millions of messages per second."""
    return column(tables(output(device, program, options, timeout))[0], "MsgRate")


def latencies(device, program, options, timeout):
    """As `latencies_of`."""
    return latencies_of(output(device, program, options, timeout))


def latencies_of(text):
    """For each size: typical, mean and 99.9th percentile of the one-way latency, in microseconds."""
    return {int(column(table, "#bytes")): {"typical": column(table, "t_typical"), "mean": column(table, "t_avg"),
                                           "p99.9": column(table, "99.9%")}
            for table in tables(text)}


def bandwidth_of_pairs(device, count, program, options, timeout):
    """The total of `count` pairs that run at once, and the slowest pair's rate relative to an even share."""
    with contextlib.ExitStack() as servers:
        clients = []
        for _ in range(count):
            port = free_port()
            words = command(device, program, options, port)
            servers.enter_context(server(words + ["-d", "urnic0"], port, device.environment, 20))
            clients.append((words + ["-d", "urnic1", "127.0.0.1"], device.environment))
        figures = outputs_at_once(clients, timeout)
    figures = [gigabytes(tables(text)[0]) for text in figures]
    return sum(figures), min(figures) * count / sum(figures)


def outputs_at_once(commands, timeout):
    """`commands`: pairs of a command and its environment."""
    processes = []
    try:
        for words, environment in commands:
            processes.append(start(words, environment))
        deadline = time.monotonic() + timeout
        return [output_until(process, deadline) for process in processes]
    finally:
        for process in processes:
            stop(process)


def output_until(process, deadline):
    try:
        text, _ = process.communicate(timeout=max(deadline - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        raise Failed("one of many clients did not end in time") from None
    if process.returncode != 0:
        raise Failed(f"one of many clients: exit status {process.returncode}: {last_line(text)}")
    return text
