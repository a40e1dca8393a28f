"""A well-behaved program, the bystander, while another program attacks the device process (tests/bench/attacks.cpp, and
verbs_greedy and verbs_bystander of tests/apps/programs)."""

import contextlib
import json
import os
import select
import signal
import subprocess
import threading

from lossbench_parts.programs import Failed, last_line, stop

# So low that a greedy program soon reaches its limit.
LIMITS = """[limits]
descriptors = 8000
memory_mib = 1024
contexts = 400
queue_pairs = 32768
completion_queues = 8000
"""
ATTACKS = {
    "idle": "nobody beside it",
    "dying_qp": "a QP goes to which 100,000 windows are bound",
    "killed": "a program with 100,000 windows is killed",
    "mappings": "a range of 65,000 mappings is registered again and again",
    "resize_cq": "a CQ with 491,520 completions is resized again and again",
    "doorbells": "doorbells of 12,000 idle QPs ring all the time",
    "contexts": "a program takes all contexts that it may have, and is killed",
    "memory": "a program takes all memory that it may have, and is killed",
    "queue_pairs": "a program takes all QPs that it may have, and is killed",
    "completion_queues": "a program takes all CQs that it may have, and is killed",
    "keys": "a program takes all memory keys that it may have, and is killed",
}
GREED = ("contexts", "memory", "queue_pairs", "completion_queues", "keys")
OWN_ATTACK = {"killed": "dying_qp"}  # with the same preparations


def start(device, *command):
    words = [device.urnic, "run", "--", *map(str, command)]
    return subprocess.Popen(words, env=device.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, start_new_session=True)


def wait_for(process, word, timeout):
    ready, _, _ = select.select([process.stdout], [], [], timeout)
    line = process.stdout.readline().strip() if ready else "nothing"
    if line != word:
        raise Failed(f"'{line}' instead of '{word}'")


@contextlib.contextmanager
def prepared(bench, device, attack):
    """A program that is ready to attack; None for an attack without preparation."""
    if attack == "idle" or attack in GREED:
        yield None
        return
    process = start(device, bench.program("attacks"), OWN_ATTACK.get(attack, attack))
    try:
        wait_for(process, "ready", bench.timeout)
        yield process
    finally:
        stop(process)


@contextlib.contextmanager
def attacking(bench, device, attack, process):
    greedy, end_of_greed = None, None
    if attack == "killed":
        os.killpg(process.pid, signal.SIGKILL)
    elif process is not None:
        process.stdin.write("\n")
        process.stdin.flush()
    elif attack in GREED:
        greedy = start(device, bench.program("verbs_greedy"), attack)
        # So that the release of all its resources happens during the bystander's measurement too.
        end_of_greed = threading.Timer(bench.seconds / 2, lambda: os.killpg(greedy.pid, signal.SIGKILL))
        end_of_greed.start()
    try:
        yield
        if attack != "killed" and process is not None and process.poll() is not None:
            raise Failed(f"the attack has ended: {last_line(process.stdout.read())}")
    finally:
        if greedy is not None:
            end_of_greed.cancel()
            stop(greedy)


def measure_bystander(bench, device, attack):
    with prepared(bench, device, attack) as process:
        bystander = start(device, bench.program("verbs_bystander"), "--seconds", bench.seconds)
        try:
            wait_for(bystander, "running", bench.timeout)
            with attacking(bench, device, attack, process):
                text, _ = bystander.communicate(timeout=bench.timeout)
        except subprocess.TimeoutExpired:
            raise Failed("the bystander does not end") from None
        finally:
            stop(bystander)
    try:
        found = json.loads(last_line(text))
    except json.JSONDecodeError:
        raise Failed(f"the bystander: {last_line(text)}") from None
    trips, requests = found["round_trips"], found["requests"]
    return {"value": found["requests_without_own_waiting"]["p99.9"], "whole_p99.9": requests["p99.9"],
            "request": requests["median"], "worst_request": requests["worst"],
            "round_trip": trips["median"], "round_trip_p99": trips["p99"], "worst_round_trip": trips["worst"]}
