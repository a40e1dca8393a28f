#!/usr/bin/python3
"""Python's http.server on a socket that librspreload can take over. Usage: rsocket_http_server.py PORT FOLDER

Python asks for each socket with SOCK_CLOEXEC, which rsocket() refuses, and takes connections by accept4, which
librspreload does not know. So the calls of the C library are made here without either.
"""

import ctypes
import http.server
import os
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)


class Socket(socket.socket):
    def __init__(self, descriptor):
        if descriptor < 0:
            raise OSError(ctypes.get_errno(), "socket or accept")
        super().__init__(socket.AF_INET, socket.SOCK_STREAM, 0, descriptor)

    def accept(self):
        return Socket(libc.accept(self.fileno(), None, None)), ("", 0)


class Server(http.server.HTTPServer):
    def __init__(self, port):
        super().__init__(("127.0.0.1", port), http.server.SimpleHTTPRequestHandler, bind_and_activate=False)
        self.socket.close()
        self.socket = Socket(libc.socket(int(socket.AF_INET), int(socket.SOCK_STREAM), 0))
        self.server_bind()
        self.server_activate()


os.chdir(sys.argv[2])
Server(int(sys.argv[1])).serve_forever()
