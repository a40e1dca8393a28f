"""Tells a person that a check still works: after two seconds a line on standard error, if that is a terminal."""

import sys
import threading


class Progress:
    """While it is entered, the work goes on."""

    PATIENCE = 2

    def __init__(self, what):
        self._what = what
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._show) if sys.stderr.isatty() else None

    def __enter__(self):
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _show(self):
        seconds = wait = self.PATIENCE
        while not self._over.wait(wait):
            print(f"\r{self._what}: {seconds} s\x1b[K", end="", file=sys.stderr, flush=True)
            seconds, wait = seconds + 1, 1
        if seconds > self.PATIENCE:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
