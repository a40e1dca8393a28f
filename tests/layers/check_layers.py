#!/usr/bin/python3
"""Checks that every file includes only headers of folders that its own folder may know, as the READMEs say.

    check_layers.py    checks the sources; prints each include that is not allowed
"""

import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2]

TRANSPORT = {
    "device_model/transport": {"wire"},
    "device_model/transport/congestion": {"wire", "device_model/transport"},
    "device_model/transport/recovery": {"wire", "device_model/transport"},
    "device_model/transport/requester": {"wire", "device_model/transport", "device_model/transport/congestion",
                                         "device_model/transport/recovery"},
    "device_model/transport/responder": {"wire", "device_model/transport"},
    "device_model/transport/unreliable": {"wire", "device_model/transport"},
    "device_model/transport/reliable": {"wire", "device_model/transport", "device_model/transport/requester",
                                        "device_model/transport/congestion", "device_model/transport/responder"},
}
# What `wire` and the transport offer to the other folders.
TRANSPORT_FOR_ALL = {"wire", "device_model/transport"}
ENGINE = {"wire", "device_model/abi", "device_model/memory", "device_model/link", *TRANSPORT}
ENGINE_ROOMS = {f"device_model/engine/{room}" for room in (
    "loop", "rings", "completion", "steering", "device", "batch", "round", "receives", "queue_pair", "management",
    "doorbells", "mlx5_rings")}
BELOW_CONTROL = {"trust", "device_model/link/subnet_links", "device_model/link/udp", "device_model/link/neighbours", "device_model/link/membership",
                 "device_model/link/frames", "wire/mad",
                 "device_model/settings", "device_model/fault", "device_model/capture", "device_model/engine", "device_model/subnet",
                 "device_model/subnet/manager", "device_model/subnet/administration",
                 *ENGINE_ROOMS, *ENGINE}
CONTROL = "device_model/control"
LOG, LOOP, CONFINEMENT, FABRIC, OBJECTS, UVERBS, MLX5, SYSFS, GSI, UMAD, RDMA_CM, NETLINK, NETWORK, ADMIN, SUBNET_MANAGER = (
    f"{CONTROL}/{room}" for room in (
        "log", "loop", "confinement", "fabric", "objects", "uverbs", "mlx5", "sysfs", "gsi", "umad", "rdma_cm",
        "netlink", "network", "admin", "subnet_manager"))
# What `urnic script` needs.
SCRIPTS = {"script", *(f"script/{room}" for room in ("language", "packets", "run", "report", "virtual_host", "live_host"))}

# For each folder the others that it may know. A folder that is not named counts as the named folder above it.
MAY_KNOW = {
    "wire": set(),
    "wire/mad": {"wire"},
    "command_line": set(),
    "control_groups": set(),
    "json": set(),
    "terminal": set(),
    "trust": {"device_model/abi", "device_model/memory"},
    "device_model/abi": set(),
    **TRANSPORT,
    "device_model/cm": {"wire/mad", *TRANSPORT_FOR_ALL},
    "device_model/subnet": {"wire", "wire/mad"},
    "device_model/subnet/administration": {"device_model/subnet", "wire/mad", *TRANSPORT_FOR_ALL},
    "device_model/subnet/manager": {"device_model/subnet", "wire", "wire/mad"},
    "device_model/memory": TRANSPORT_FOR_ALL,
    "device_model/settings": {"terminal"},
    "device_model/link": TRANSPORT_FOR_ALL,
    "device_model/link/subnet_links": {"device_model/link", *TRANSPORT_FOR_ALL},
    "device_model/link/udp": {"device_model/link", "device_model/memory", *TRANSPORT_FOR_ALL},
    "device_model/link/neighbours": {"device_model/link", *TRANSPORT_FOR_ALL},
    "device_model/link/membership": TRANSPORT_FOR_ALL,
    "device_model/link/frames": {"device_model/link", "device_model/link/neighbours", "device_model/link/membership",
                                 "device_model/memory", *TRANSPORT_FOR_ALL},
    "device_model/fault": {"device_model/link", "device_model/settings", "wire/mad", *TRANSPORT_FOR_ALL},
    "device_model/capture": {"device_model/memory", "terminal", "wire"},
    **{f"device_model/engine/{room}": {*(f"device_model/engine/{other}" for other in others), *ENGINE}
       for room, others in {
           "loop": (),
           "rings": (),
           "completion": (),
           "mlx5_rings": ("rings", "completion"),
           "steering": (),
           "device": ("completion",),
           "batch": ("device",),
           "round": ("batch", "completion"),
           "receives": ("rings", "completion", "device", "round"),
           "queue_pair": ("rings", "completion", "device", "batch", "round", "receives"),
           "management": ("completion", "device", "batch", "round"),
           "doorbells": ("rings", "completion", "queue_pair", "round"),
       }.items()},
    "device_model/engine": {*ENGINE_ROOMS, *ENGINE},
    "device_model/in_process": {"device_model/engine", *ENGINE_ROOMS, *ENGINE},
    LOG: {"terminal"},
    LOOP: {LOG, "trust", "device_model/memory", "device_model/abi"},
    CONFINEMENT: {"device_model/memory"},
    FABRIC: {LOG, LOOP, "control_groups", *BELOW_CONTROL},
    OBJECTS: {LOG, LOOP, CONFINEMENT, FABRIC, "terminal", *BELOW_CONTROL},
    UVERBS: {LOG, LOOP, FABRIC, OBJECTS, *BELOW_CONTROL},
    MLX5: {LOG, LOOP, FABRIC, OBJECTS, UVERBS, *BELOW_CONTROL},
    SYSFS: {LOG, LOOP, FABRIC, *BELOW_CONTROL},
    GSI: {LOG, LOOP, FABRIC, SYSFS, "wire/mad", *BELOW_CONTROL},
    UMAD: {LOG, LOOP, FABRIC, GSI, "wire/mad", *BELOW_CONTROL},
    RDMA_CM: {LOG, LOOP, FABRIC, GSI, "device_model/cm", "wire/mad", *BELOW_CONTROL},
    NETLINK: {LOG, LOOP, FABRIC, OBJECTS, SYSFS, *BELOW_CONTROL},
    NETWORK: {LOG, LOOP, FABRIC, *BELOW_CONTROL},
    SUBNET_MANAGER: {LOG, LOOP, CONFINEMENT, FABRIC, *BELOW_CONTROL},
    ADMIN: {"json", LOG, LOOP, FABRIC, NETWORK, SUBNET_MANAGER, OBJECTS, UVERBS, SYSFS, RDMA_CM, *BELOW_CONTROL},
    CONTROL: {LOG, LOOP, CONFINEMENT, FABRIC, NETWORK, SUBNET_MANAGER, OBJECTS, UVERBS, MLX5, SYSFS, GSI, UMAD, RDMA_CM, NETLINK, ADMIN, "command_line", *BELOW_CONTROL},
    "provider": {"provider/freestanding", "device_model/abi", "trust"},
    # Its other folders are one: an object's fast path belongs to the object.
    "provider/freestanding": set(),
    "provider/shared_pages": {"provider", "provider/freestanding", "device_model/abi"},
    "provider/plugin": {"provider", "provider/freestanding", "provider/shared_pages", "provider/plugin/library", "device_model/abi", "trust"},
    "provider/plugin/library": {"provider"},
    "provider/kernel": {"provider", "provider/freestanding", "provider/shared_pages", "device_model/abi", "trust"},
    "analysis/capture_files": {"terminal", "wire"},
    "analysis/dissection": {"wire", "wire/mad"},
    "web/server": {"analysis/capture_files", "analysis/dissection", "analysis/flows", "command_line", "device_model/capture",
                   "device_model/memory", "json", "tools/urnic", "trust", "wire"},
    "analysis/flows": {"analysis/capture_files", "analysis/dissection", "wire", "wire/mad"},
    "analysis/pictures": {"analysis/dissection", "analysis/flows", "terminal", "wire"},
    "script/language": {"wire", "wire/mad"},
    "script": {"script/language", *TRANSPORT_FOR_ALL},
    "script/values": {"script", "script/language", "wire"},
    "script/packets": {"analysis/dissection", "script", "script/language", "script/values", "wire", "wire/mad"},
    "script/run": {"analysis/dissection", "analysis/pictures", "script", "script/language", "script/packets", "script/values",
                   "wire"},
    "script/report": {"json", "script/language", "script/run"},
    "script/virtual_host": {"device_model/in_process", "device_model/engine", "script", "script/language", *ENGINE_ROOMS,
                            *ENGINE},
    "script/live_host": {"analysis/dissection", "device_model/link/frames", "device_model/memory", "script", "wire"},
    "script/agent": {"command_line", "device_model/memory", "script", "script/language", "trust"},
    "tools/urnic": {*SCRIPTS, "analysis/capture_files", "analysis/dissection", "analysis/flows", "analysis/pictures", "command_line", "control_groups", "json", "device_model/abi", "device_model/capture", "device_model/memory", "terminal", "trust", "wire"},
}


def folder_of(path):
    """The deepest folder of the table that contains the file; None if none does."""
    parts = path.split("/")[:-1]
    while parts and "/".join(parts) not in MAY_KNOW:
        parts.pop()
    return "/".join(parts) or None


def wrong_includes(path, text):
    """The includes in the file at `path`, relative to the sources, that the table does not allow."""
    own = folder_of(path)
    for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
        theirs = folder_of(header)
        if theirs != own and theirs not in MAY_KNOW[own]:
            yield header


def circles():
    """The folders that may know themselves through others."""
    for folder in MAY_KNOW:
        seen, waiting = set(), list(MAY_KNOW[folder])
        while waiting:
            known = waiting.pop()
            if known not in seen:
                seen.add(known)
                waiting += MAY_KNOW[known]
        if folder in seen:
            yield folder


def self_test():
    wrong = lambda path, header: list(wrong_includes(path, f'#include <vector>\n#include "{header}"\n'))
    assert wrong("wire/psn.cpp", "device_model/abi/queues.hpp")
    assert wrong("device_model/transport/host.hpp", "device_model/transport/requester/requester.hpp")
    assert wrong("device_model/control/loop/peer.cpp", "device_model/control/device_process.hpp")
    assert wrong("device_model/engine/device.cpp", "provider/plugin/objects/qp.hpp")
    assert wrong("device_model/engine/device.cpp", "tests/unit/engine/program.hpp")
    assert wrong("device_model/engine/queue_pair/queue_pair_context.cpp", "device_model/engine/device.hpp")
    assert wrong("device_model/engine/completion/completion_queue.cpp", "device_model/engine/round/round.hpp")
    assert not wrong("device_model/engine/device.cpp", "device_model/transport/reliable/queue_pair.hpp")
    assert wrong("wire/frame.cpp", "wire/mad/mad_header.hpp")
    assert not wrong("wire/psn.cpp", "wire/psn.hpp")
    assert not wrong("wire/mad/vendor.cpp", "wire/identifiers.hpp")


def main():
    self_test()
    problems = [f"{folder} may know itself by way of others: correct MAY_KNOW" for folder in circles()]
    files = 0
    for top in ("command_line", "control_groups", "json", "terminal", "wire", "trust", "analysis", "device_model", "script", "provider", "tools/urnic", "web"):
        for file in sorted((SOURCES / top).rglob("*.[ch]pp")):
            path = str(file.relative_to(SOURCES))
            files += 1
            problems += [f"{path} includes {header}: {folder_of(path)} may not know that"
                         for header in wrong_includes(path, file.read_text(encoding="utf-8"))]
    for problem in problems:
        print(problem)
    print(f"{files} files, {len(problems)} includes that are not allowed")
    if not files:
        raise SystemExit("there are no sources")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
