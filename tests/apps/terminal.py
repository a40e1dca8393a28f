"""A program on a terminal of its own: what it shows, and keys that are pressed."""

import os
import pty
import select
import subprocess
import time

import fabric


class Terminal:
    """Use as a context manager; the end kills the program. `own` is the Fabric on which the program runs. `only_errors`:
    the terminal is standard error alone."""

    def __init__(self, own, *command, only_errors=False, environment=None):
        words = list(map(str, command))
        if own.user is not None:
            words = ["setpriv", "--reuid", str(own.user), "--regid", str(own.user), "--clear-groups", "--", *words]
        self._ours, theirs = pty.openpty()
        other = subprocess.DEVNULL if only_errors else theirs
        # The terminal is the session's, as shells want it.
        self.process = subprocess.Popen(["setsid", "--ctty", "--wait", *words] if not only_errors else words,
                                        env={**own.environment, "TERM": "xterm", **(environment or {})}, cwd=own.home,
                                        stdin=other, stdout=other, stderr=theirs, start_new_session=only_errors)
        os.close(theirs)
        self.shown = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def press(self, keys):
        os.write(self._ours, keys.encode())

    def read(self, seconds=0.05):
        """Adds what the program shows meanwhile to `shown`. False once nothing can come any more."""
        if select.select([self._ours], [], [], seconds)[0]:
            try:
                self.shown += os.read(self._ours, 1 << 16).decode(errors="replace")
            except OSError:  # all other ends are closed
                return False
        return True

    def read_until(self, condition, what):
        """Reads until `condition` is true. AssertionError if it does not come true."""
        deadline = time.monotonic() + fabric.PATIENCE
        while not condition():
            if not self.read() or time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come; shown was:\n{self.shown[-4000:]}")

    def read_to_end(self):
        """Returns the exit status."""
        deadline = time.monotonic() + fabric.PATIENCE
        while self.read() and time.monotonic() < deadline:
            pass
        return self.process.wait(fabric.PATIENCE)
