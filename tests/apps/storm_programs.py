"""The parts of storms: random links, fault plans and programs. `chance`, a random.Random, determines all of them."""

# The keys of a link and their values on a perfect wire (docs/configuration.md).
PERFECT = {"rate_gbps": 0, "delay_us": 0, "jitter_us": 0, "queue_packets": 1024, "loss": 0, "burst_start": 0,
           "duplicate": 0, "reorder": 0, "corrupt": 0, "ecn_threshold_packets": 0, "ecn_min_bytes": 0, "ecn_max_bytes": 0, "ecn_probability": 0, "pfc": "false",
           "pfc_xoff_bytes": 100000, "pfc_xon_bytes": 50000}
DEVICES = ("urnic0", "urnic1")
OPCODES = ("Acknowledge", "RDMA Write Middle", "RDMA Read Response Middle", "Send Only", "RDMA Read Request")

BANDWIDTH = ("ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_atomic_bw")
LATENCY = ("ib_write_lat", "ib_read_lat", "ib_send_lat", "ib_atomic_lat")
PINGPONG = ("ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "ibv_xsrq_pingpong")
# The transports of perftest's operations.
TRANSPORTS = {"write": ("RC", "UC", "XRC"), "read": ("RC", "XRC"), "send": ("RC", "UC", "UD", "XRC"),
              "atomic": ("RC", "XRC")}


def link(chance):
    """The settings of one direction of a link."""
    settings = dict(PERFECT)
    if chance.random() < 0.3:
        return settings
    for key, values in (("delay_us", (5, 50, 1000, 5000)), ("jitter_us", (3, 100)), ("rate_gbps", (0.1, 1, 10, 100)),
                        ("queue_packets", (1, 16, 1024)), ("loss", (0.001, 0.02, 0.3, 1)), ("burst_start", (0.01,)),
                        ("duplicate", (0.05, 1)), ("reorder", (0.05, 1)), ("corrupt", (0.02,))):
        if chance.random() < 0.25:
            settings[key] = chance.choice(values)
    settings["seed"] = chance.randrange(1 << 32)
    return settings


def fault_plan(chance):
    """The text of a plan of one to three rules."""
    actions = ('"drop"', '"duplicate"\ncopies = 3', '"delay"\ndelay_us = 2000', '"reorder"\nbehind_packets = 5',
               '"corrupt_after_icrc"', '"mark_ecn"', '"rnr_nak"', '"nak"', '"cut_link"\nfor_us = 3000', '"stop_qp"')
    rules = []
    for _ in range(chance.randint(1, 3)):
        lines = [f'device = "{chance.choice(DEVICES)}"', f"action = {chance.choice(actions)}"]
        if chance.random() < 0.5:
            lines.append(f"relative_psn = {chance.randrange(40)}")
        if chance.random() < 0.3:
            lines.append(f"transmission = {chance.randint(1, 3)}")
        if chance.random() < 0.3:
            lines.append(f'opcode = "{chance.choice(OPCODES)}"')
        if chance.random() < 0.5:
            lines.append(f"every = {chance.randint(1, 200)}")
        lines.append(f"count = {chance.choice((1, 10, 1000))}")
        rules.append("[[fault]]\n" + "\n".join(lines) + "\n")
    return "\n".join(rules)


def perftest(chance):
    name = chance.choice(BANDWIDTH + LATENCY)
    transport = chance.choice(TRANSPORTS[name.split("_")[1]])
    words = [name, "-F", "-x", "1", "-c", transport, "-n", str(chance.choice((100, 1000, 5000)))]
    if "atomic" not in name:
        most = 12 if transport == "UD" else 20
        words += ["-s", str(1 << chance.randint(1, most))]
    if name in BANDWIDTH and chance.random() < 0.3:
        words.append("-b")
    if name in BANDWIDTH and transport != "XRC" and chance.random() < 0.3:
        words += ["-q", str(chance.choice((2, 8, 32)))]
    if name == "ib_send_bw" and chance.random() < 0.3:
        words.append("-e")
    return words, words


def pingpong(chance):
    words = [chance.choice(PINGPONG), "-g", "1", "-n", str(chance.choice((100, 1000))), "-s",
             str(chance.choice((64, 2048)))]
    return words, words


def pair(chance):
    """The command lines of a server and a client, without devices and addresses."""
    return perftest(chance) if chance.random() < 0.8 else pingpong(chance)


def single(chance):
    """The command line of one of our own programs, its first word the program's name."""
    return chance.choice((["verbs_soak", "--seconds", "3", "--seed", str(chance.randrange(1 << 30))],
                          ["verbs_neighbour"], ["verbs_order"], ["verbs_atomics"], ["verbs_datagrams"],
                          ["verbs_shared_receive"], ["verbs_tag_matching"], ["verbs_xrc"]))
