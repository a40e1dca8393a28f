"""Checks of lesson 10."""

import collections
import pathlib

from checking.not_yet import require

HERE = pathlib.Path(__file__).parent
ORDERS = 20
UNKNOWN = "?"  # in the ledger: what was carried out is no order
# What a right bank must survive: a name, rules, and whether the connection survives.
WEATHER = (
    ("a perfect wire", "", True),
    ("the first packets are lost, one after another", """
[[fault]]
relative_psn = [0, 1, 2, 3, 4, 5, 6, 7]
transmission = 1
action = "drop"
""", True),
    ("every third acknowledgement is lost, and packets come twice", """
[[fault]]
opcode = "Acknowledge"
every = 3
action = "drop"
[[fault]]
every = 2
action = "duplicate"
""", True),
    ("second halves of orders come late", """
[[fault]]
device = "urnic0"
relative_psn = [1, 7, 13, 19]
action = "delay"
delay_us = 60000
""", True),
    ("one reply comes three seconds late", """
[[fault]]
device = "urnic1"
relative_psn = 4
action = "delay"
delay_us = 3000000
""", True),
    ("nothing comes through any more in the middle", """
[[fault]]
device = "urnic0"
relative_psn = 20
action = "stop_qp"
""", False),
)


def _build(work, bank):
    """A bank that keeps a ledger."""
    return work.build(bank, HERE / "ledger.c", work.file("pair.c"))


def _run(work, program, plan):
    """(Result, what was carried out: numbers of orders, in order)"""
    ledger = work.scratch / "ledger"
    ledger.unlink(missing_ok=True)
    result = work.run(program, faults=plan, environment={"LEDGER": str(ledger)}, timeout=40)
    return result, ledger.read_text().split() if ledger.exists() else []


def _supplied(work, plan):
    """What the bank that the lesson begins with does with the learner's plan."""
    result, ledger = _run(work, _build(work, HERE / "start" / "bank.c"), work.file(plan))
    result.require_success("the program is to believe that all is well")
    return ledger


def exercise_1(work):
    ledger = _supplied(work, "half.toml")
    wrong = ledger.count(UNKNOWN)
    require(wrong > 0, f"the bank carried out {len(ledger)} orders, all of them whole",
            "the bank looks at the page every millisecond, and acts on a new number. Which packet has the number? What must "
            "happen to the other one, whenever it is sent, so that the bank looks in between?")
    return f"{wrong} of the {len(ledger)} orders that the bank carried out were never given"


def exercise_2(work):
    ledger = _supplied(work, "twice.toml")
    twice = [order for order, count in collections.Counter(ledger).items() if count > 1 and order != UNKNOWN]
    require(twice, f"the bank carried out {len(ledger)} orders, none of them twice",
            "when does the teller order once more? It may be wrong about that: what must be late?")
    return f"order {twice[0]} was carried out {ledger.count(twice[0])} times"


def _require_right(name, result, ledger, survives):
    counts = collections.Counter(ledger)
    require(UNKNOWN not in counts, f"{name}: the bank carried out an order that was never given",
            "its receiver must be told when all of a WRITE has arrived: by a completion, not by looking into memory")
    twice = [order for order, count in counts.items() if count > 1]
    require(not twice, f"{name}: order {twice[0] if twice else 0} was carried out twice",
            "a reliable connection repeats by itself what is lost, and delivers it once. Who repeats it, too?")
    if survives:
        require(result.status == 0, f"{name}: the program ended with status {result.status}: {result.output.strip()[-200:]}",
                "all of this weather is survived by the connection")
        require(len(counts) == ORDERS, f"{name}: {len(counts)} of {ORDERS} orders were carried out", "all of them")
    else:
        require(result.status != 0, f"{name}: {len(counts)} of {ORDERS} orders were carried out, and the program ends as "
                "if all were", "look at the status of each completion, and end with a failure if it is not success")


def exercise_3(work):
    program = _build(work, "bank.c")
    for number, (name, rules, survives) in enumerate(WEATHER):
        plan = work.write(f"weather-{number}.toml", rules) if rules else None
        _require_right(name, *_run(work, program, plan), survives)
    return f"{ORDERS} orders, once each and whole, in {len(WEATHER) - 1} kinds of weather, and a clear end in the worst one"
