"""A cable between two stream sockets of Ethernet frames, both of which connect to it: a guest's, and one script's after the
other. Frames of a side go to the other one, or nowhere if that is not there."""

import socket
import threading


class FrameRelay:
    """Listens on two UNIX sockets, each for one connection at a time."""

    def __init__(self, first, second):
        self._ends = [None, None]
        for side, path in enumerate((first, second)):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(path))
            listener.listen(1)
            threading.Thread(target=self._accept, args=(side, listener), daemon=True).start()

    def _accept(self, side, listener):
        while True:
            connection, _ = listener.accept()
            self._ends[side] = connection
            with connection, connection.makefile("rb") as stream:
                self._carry(side, stream)
            self._ends[side] = None

    def _carry(self, side, stream):
        try:
            while length := stream.read(4):
                frame = stream.read(int.from_bytes(length, "big"))
                other = self._ends[1 - side]
                if other is not None:
                    other.sendall(length + frame)
        except OSError:
            pass  # one side has gone: so has the cable, until it comes back
