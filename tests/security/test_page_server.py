#!/usr/bin/python3
"""What another user, or a page of another site, can do to the live page's server: every program of this machine can connect
to it. The page of its own user works meanwhile, and the server's memory does not grow."""

import contextlib
import pathlib
import re
import socket
import threading
import time
import unittest

from fabric import Fabric, wait_until
from web_page import WebPage

KIBIBYTES = 1024  # a unit
MOST_GROWTH = 32 * KIBIBYTES  # KiB, under every attack together


class UnderAttack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(Fabric())
        cls.fabric.up()
        cls.page = WebPage(cls.fabric)
        cls.page.ask("/api/source")
        cls.server = next(int(entry.parent.name) for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                          if cls.is_server(entry))
        cls.at_rest = cls.memory()

    @classmethod
    def is_server(cls, command):
        with contextlib.suppress(OSError):
            words = command.read_bytes().split(b"\0")
            return words[0].endswith(b"urnic-web") and bytes(cls.fabric.run_directory) in words
        return False

    @classmethod
    def memory(cls):
        """The most that the server ever had, KiB."""
        return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{cls.server}/status").read_text())[1])

    def tearDown(self):
        self.assertLess(self.memory() - self.at_rest, MOST_GROWTH)
        self.assertEqual(self.page.ask("/api/source"), {"source": "devices"})

    def connect(self):
        connection = socket.create_connection((self.page.host, self.page.port), timeout=30)
        self.addCleanup(connection.close)
        return connection

    def flood(self, head, size, piece=b"x" * 65536):
        """Sends so many bytes behind a head, or until the server has had enough; returns what the server says."""
        connection = self.connect()
        said = b""
        try:
            connection.sendall(head)
            for _ in range(0, size, len(piece)):
                connection.sendall(piece)
        except OSError:
            pass
        with contextlib.suppress(OSError):
            while more := connection.recv(65536):
                said += more
        return said

    def test_bodies_without_the_token(self):
        host = f"Host: {self.page.host}:{self.page.port}\r\n"
        megabyte = 1 << 20
        for length in ("Transfer-Encoding: chunked\r\n", "Content-Length: 300000000\r\n", ""):
            for token in ("", "Authorization: Bearer wrong\r\n"):
                with self.subTest(length=length, token=token):
                    head = f"POST /api/link HTTP/1.1\r\n{host}{token}{length}\r\n".encode()
                    self.flood(head, 200 * megabyte, b"10000\r\n" + b"x" * 65536 + b"\r\n")
                    self.assertLess(self.memory() - self.at_rest, MOST_GROWTH)

    def test_headers_without_end(self):
        for piece in (b"x" * 65536, b"A: b\r\n" * 10000):
            self.flood(b"GET / HTTP/1.1\r\nX: ", 300 << 20, piece)
            self.assertLess(self.memory() - self.at_rest, MOST_GROWTH)

    def answers_while(self, seconds):
        """The page asks for so long, and has each answer. Returns the longest time of one."""
        longest = 0
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            self.assertEqual(self.page.ask("/api/source"), {"source": "devices"})
            self.assertEqual(self.page.request("/", token=False)[0], 200)
            longest = max(longest, time.monotonic() - began)
            time.sleep(0.05)
        return longest

    def test_slow_connections(self):
        """Sixty send a byte now and then, and never a whole header: each has a limit for the whole of it."""
        ended = []
        stop = threading.Event()

        def drip():
            connection = self.connect()
            try:
                while not stop.wait(0.2):
                    connection.sendall(b"G")
            except OSError:
                ended.append(connection)

        threads = [threading.Thread(target=drip) for _ in range(60)]
        for thread in threads:
            thread.start()
        try:
            # A server whose threads wait for slow clients answers when those give up, if at all.
            self.assertLess(self.answers_while(2), 20)
            wait_until(lambda: len(ended) == len(threads), "the end of all slow connections", 60)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_readers_that_do_not_read(self):
        for _ in range(60):
            self.connect().sendall(f"GET /main.js HTTP/1.1\r\nHost: {self.page.host}:{self.page.port}\r\n\r\n".encode() * 20)
        self.answers_while(2)

    def test_idle_connections(self):
        idle = [self.connect() for _ in range(1000)]
        self.answers_while(1)
        for connection in idle:
            connection.close()

    def test_a_page_that_is_open_stays_open(self):
        events = self.page.events(most=1000)
        self.assertEqual(next(events)[0], "overview")
        for _ in range(500):
            self.connect()
        for _ in range(20):
            next(events)


if __name__ == "__main__":
    unittest.main()
