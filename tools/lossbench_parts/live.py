"""Real programs over a link that loses packets: perftest, between urnic0 and urnic1."""

import os
import pathlib
import re
import statistics
import tempfile

from lossbench_parts.programs import Failed, free_port, last_line, output_of, server

PROGRAMS = ("ib_write_bw", "ib_read_bw", "ib_send_bw")
MESSAGE_BYTES = 64 << 10
MIB = 1 << 20


def configuration(recovery, loss, seed):
    """urnic1's link loses packets with the same probability each way; urnic0's link loses none."""
    return f"""[device]
recovery = "{recovery}"

[[link]]
device = "urnic1"
loss = {loss!r}
seed = {seed}
"""


def average_bandwidth(text):
    """Bytes a second, from perftest's line of numbers: the average is the fourth number."""
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == str(MESSAGE_BYTES) and len(words) >= 4 and re.fullmatch(r"[\d.]+", words[3]):
            return float(words[3]) * MIB
    raise Failed(f"no result in perftest's output: {last_line(text)}")


def measure(urnic, program, recovery, loss, seed, seconds):
    """One run with a device process of its own."""
    with tempfile.TemporaryDirectory(prefix="urnic-lossbench-") as folder:
        environment = dict(os.environ, URNIC_DIR=os.path.join(folder, "run"))
        settings = pathlib.Path(folder, "link.toml")
        settings.write_text(configuration(recovery, loss, seed), encoding="utf-8")
        output_of([urnic, "up", "--config", str(settings)], environment, 20)
        try:
            port = free_port()
            words = [urnic, "run", "--", program, "-F", "-s", str(MESSAGE_BYTES), "-D", str(seconds), "-p", str(port)]
            with server(words + ["-d", "urnic0"], port, environment, 20):
                text = output_of(words + ["-d", "urnic1", "127.0.0.1"], environment, seconds + 30)
            return average_bandwidth(text)
        finally:
            output_of([urnic, "down"], environment, 20)


def run(options, progress):
    """A result for each program, recovery and loss. A share is of the lossless goodput of the same round, because
    other load on the machine changes slowly."""
    cases = [(program, recovery, loss) for program in options.program for recovery in options.recovery
             for loss in options.loss]
    found = {case: {"rounds": []} for case in cases}
    for number in range(1, options.rounds + 1):
        for at, case in enumerate(cases, 1):
            program, recovery, loss = case
            progress(f"round {number} of {options.rounds}, {at} of {len(cases)}: {program}, {recovery}, "
                     f"{100 * loss:g} % loss")
            try:
                figure = measure(options.urnic, program, recovery, loss, options.seed + number, options.seconds)
                found[case]["rounds"].append(figure)
            except Failed as failure:
                found[case]["rounds"].append(None)
                found[case]["failure"] = str(failure)
    return [result(case, found) for case in cases]


def result(case, found):
    program, recovery, loss = case
    rounds = found[case]["rounds"]
    lossless = found.get((program, recovery, 0.0), {"rounds": []})["rounds"]
    good = [figure for figure in rounds if figure]
    shares = [figure / whole for figure, whole in zip(rounds, lossless) if figure and whole]
    entry = {"program": program, "recovery": recovery, "loss": loss, "rounds": rounds}
    if good:
        entry["bytes_per_second"] = statistics.median(good)
    if shares:
        entry["share"] = statistics.median(shares)
    if "failure" in found[case]:
        entry["failure"] = found[case]["failure"]
    return entry
