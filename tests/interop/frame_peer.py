"""A peer on a stream socket of frames, to check a guest without urnic: answers ARP and ICMP echo requests for one address."""

import ipaddress
import socket
import struct
import threading


def checksum(data):
    words = struct.unpack(f"!{len(data) // 2}H", data) if len(data) % 2 == 0 else struct.unpack(f"!{len(data) // 2 + 1}H", data + b"\0")
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class FramePeer:
    """Listens on the UNIX socket `path`, for one connection."""

    def __init__(self, path, address="10.0.0.1", mac="02:00:00:00:00:01"):
        self.address = ipaddress.ip_address(address).packed
        self.mac = bytes.fromhex(mac.replace(":", ""))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(1)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        connection, _ = self._listener.accept()
        self._listener.close()
        with connection, connection.makefile("rb") as stream:
            while length := stream.read(4):
                answer = self._answer(stream.read(int.from_bytes(length, "big")))
                if answer:
                    connection.sendall(len(answer).to_bytes(4, "big") + answer)

    def _answer(self, frame):
        kind = frame[12:14]
        if kind == b"\x08\x06" and frame[20:22] == b"\0\1" and frame[38:42] == self.address:
            return (frame[6:12] + self.mac + frame[12:20] + b"\0\2" + self.mac + self.address + frame[22:32])
        if kind == b"\x08\x00" and frame[23] == 1 and frame[30:34] == self.address and frame[34] == 8:
            end = 14 + int.from_bytes(frame[16:18], "big")
            reply = bytearray(b"\0\0\0\0" + frame[38:end])
            struct.pack_into("!H", reply, 2, checksum(bytes(reply)))
            return frame[6:12] + self.mac + frame[12:26] + frame[30:34] + frame[26:30] + bytes(reply)
        return None
