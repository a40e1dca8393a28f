"""Requests on the admin socket: valid ones, and the same ones bent. None of them ends the device process or changes
what the bystander's devices (urnic0, urnic1) do: the admin socket's users are allowed to do that.

Usage: admin_requests.py SOCKET SEED SECONDS. Prints how many were sent and refused as JSON.
"""

import array
import contextlib
import json
import os
import random
import re
import select
import socket
import sys
import time

OWN = ("urnic2", "urnic3")
ALL = ("urnic0", "urnic1", "urnic2", "urnic3", "all")
PLAN = '[[fault]]\ndevice = "{device}"\naction = "{action}"\nevery = {every}\ncount = {count}\n'
ODD = (None, True, -1, 0, 1 << 63, 1e308, "", "x" * 300, [], {}, [[]] * 50, "\x00", "ünï", {"a": {"b": []}})
KINDS_OF_DESCRIPTORS = (lambda: os.open("/dev/null", os.O_RDONLY), lambda: os.memfd_create("odd"),
                        lambda: os.eventfd(1), lambda: os.open("/", os.O_PATH), lambda: os.pidfd_open(os.getpid()))


class AdminRequests:
    def __init__(self, path, chance):
        self.path, self.chance = str(path), chance
        self.connections = []
        self.sent = self.refused = 0
        self.queue_pairs = [(urnic, 1) for urnic in ALL]  # devices and QP numbers, the last that were seen

    def harmless(self):
        choose = self.chance.choice
        return choose(({"cmd": "status"}, {"cmd": "counters", "device": choose(ALL)}, {"cmd": "lease"}, {"cmd": "keep"},
                       {"cmd": "capture", "device": choose(ALL), "points": choose((["before"], ["after", "dropped"], []))},
                       {"cmd": "link", "device": choose(ALL)}, {"cmd": "gid"}, {"cmd": "fault", "do": "list"}, {"cmd": "queue_pairs"},
                       dict(zip(("device", "qpn"), choose(self.queue_pairs)), cmd=choose(("queue_pair", "capture")), sample=True)))

    def changing(self):
        choose, device = self.chance.choice, self.chance.choice(OWN)
        address = f"fd00::{self.chance.randrange(1, 20):x}"
        plan = PLAN.format(device=device, action=choose(("drop", "duplicate", "nak", "rnr_nak", "mark_ecn", "stop_qp", "odd")),
                           every=choose((1, 7, 100)), count=choose((1, 1000)))
        return choose(({"cmd": "link", "device": device, "direction": choose(("tx", "rx", "both")),
                        "set": {choose(("loss", "duplicate", "reorder", "corrupt")): self.chance.random(),
                                "delay_us": choose((0, 5, 500))}},
                       {"cmd": "link", "device": device, "set": {"state": choose(("up", "up", "down"))}},
                       {"cmd": "set", "device": device, "recovery": choose(("sack", "gbn", "selective", "irn", "odd"))},
                       {"cmd": "gid", "device": device, choose(("add", "remove")): address},
                       {"cmd": "fault", "do": "load", "name": "plan", "text": plan},
                       {"cmd": "fault", "do": "add", "name": "page", "text": plan, "times": choose((1, 3, 0))}, {"cmd": "fault", "do": "clear"}))

    def bend(self, request):
        """Replaces a value of the request, but never its device."""
        keys = [key for key in request if key != "device"] or ["cmd"]
        key = self.chance.choice(keys)
        value = self.chance.choice(ODD)
        if key == "text" or (key == "cmd" and value == "down"):
            return request
        return {**request, key: value}

    def line(self):
        if self.chance.random() < 0.5:
            request = self.changing()
            return json.dumps(self.bend(request) if self.chance.random() < 0.4 else request).encode() + b"\n"
        line = json.dumps(self.harmless()).encode()
        way = self.chance.random()
        if way < 0.6:
            return line + b"\n"
        bent = bytearray(line)
        for _ in range(self.chance.randint(1, 4)):
            bent[self.chance.randrange(len(bent))] = self.chance.randrange(256)
        if way < 0.7:
            bent *= self.chance.randint(1, 2000)
        return bytes(bent) + (b"\n" if way < 0.9 else b"")

    def some(self):
        """Sends a few more requests. Takes answers that are there by now."""
        if len(self.connections) < 12 and self.chance.random() < 0.5:
            connection = socket.socket(socket.AF_UNIX)
            with contextlib.suppress(OSError):
                connection.connect(self.path)
                connection.setblocking(False)
                self.connections.append(connection)
        for connection in list(self.connections):
            if self.chance.random() < 0.3:
                self.ask(connection)

    @staticmethod
    def has_answer(connection):
        look = select.poll()
        look.register(connection, select.POLLIN)
        return bool(look.poll(10))

    def ask(self, connection):
        descriptors = [self.chance.choice(KINDS_OF_DESCRIPTORS)() for _ in range(self.chance.choice((0, 0, 0, 0, 1, 8, 60)))]
        try:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
            connection.sendmsg([self.line()], rights)
            self.sent += 1
            if self.chance.random() < 0.8 and self.has_answer(connection):
                answer, got, _, _ = socket.recv_fds(connection, 1 << 16, 16)
                for descriptor in got:
                    os.close(descriptor)
                self.refused += answer.count(b'"error"')
                seen = re.findall(rb'"destination_qpn":\d+,"device":"(\w+)".*?"qpn":(\d+)', answer)
                self.queue_pairs = (self.queue_pairs + [(device.decode(), int(qpn)) for device, qpn in seen])[-50:]
                if not answer:
                    raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            self.connections.remove(connection)
            connection.close()
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        if self.chance.random() < 0.03 and connection in self.connections:
            self.connections.remove(connection)
            connection.close()

    def end(self):
        for connection in self.connections:
            connection.close()
        self.connections = []


def main():
    socket_path, seed, seconds = sys.argv[1:]
    requests = AdminRequests(socket_path, random.Random(int(seed)))
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        requests.some()
        time.sleep(requests.chance.random() * 0.05)
    requests.end()
    print(json.dumps({"sent": requests.sent, "refused": requests.refused}))


if __name__ == "__main__":
    main()
