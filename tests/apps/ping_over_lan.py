"""A station on the LAN socket of a device process ([lan] listen): asks for MAC addresses and pings."""

import socket
import struct
import time

import fabric
from send_flows import checksum, to_bytes

OWN = bytes((2, 0, 0, 0, 0x77, 1))
ADDRESS = bytes((198, 18, 5, 77))
BROADCAST = b"\xff" * 6
ARP, IP = b"\x08\x06", b"\x08\x00"


class Station:
    """Use as a context manager."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._socket.settimeout(fabric.PATIENCE)
        self._frames = self._socket.makefile("rb")
        self._sequence = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._frames.close()
        self._socket.close()

    def _send(self, frame):
        self._socket.sendall(struct.pack("!I", len(frame)) + frame)

    def _next(self, wanted):
        """The next frame to this station that `wanted` accepts."""
        deadline = time.monotonic() + fabric.PATIENCE
        while time.monotonic() < deadline:
            frame = self._frames.read(int.from_bytes(self._frames.read(4), "big"))
            if not frame:
                break
            if frame[:6] == OWN and wanted(frame):
                return frame
        raise AssertionError("no answer came over the LAN")

    def find(self, address):
        """The MAC address of an IPv4 address."""
        target = socket.inet_aton(address)
        self._send(BROADCAST + OWN + ARP + bytes.fromhex("0001080006040001") + OWN + ADDRESS + bytes(6) + target)
        answer = self._next(lambda frame: frame[12:14] == ARP and frame[20:22] == b"\0\2" and frame[28:32] == target)
        self._peer = answer[22:28]
        return ":".join(f"{byte:02x}" for byte in self._peer)

    def ping(self, address, length):
        """Sends `length` bytes to an address that was found; AssertionError if the answer has others."""
        self._sequence += 1
        data = bytes(number * 7 % 251 for number in range(length))
        echo = struct.pack("!BBHHH", 8, 0, 0, 0x7572, self._sequence) + data
        echo = echo[:2] + struct.pack("!H", checksum(echo + b"\0" * (len(echo) % 2))) + echo[4:]
        addresses = ADDRESS + socket.inet_aton(address)
        head = struct.pack("!BBHHHBB", 0x45, 0, 20 + len(echo), self._sequence, 0, 64, 1)
        self._send(self._peer + OWN + IP + head + struct.pack("!H", checksum(head + b"\0\0" + addresses)) + addresses + echo)
        answer = self._next(lambda frame: frame[12:14] == IP and frame[23] == 1 and frame[34] == 0)
        reply = answer[34:14 + int.from_bytes(answer[16:18], "big")]
        assert answer[26:34] == addresses[4:] + addresses[:4], "an answer from another address"
        assert reply[4:] == echo[4:], "other data came back"
        assert checksum(reply + b"\0" * (len(reply) % 2)) == 0, "a wrong check sum"
