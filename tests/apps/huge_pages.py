"""Huge pages of 2 MiB for tests, reserved as long as they need them."""

import contextlib
import pathlib

RESERVED = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
FREE = RESERVED.with_name("free_hugepages")


@contextlib.contextmanager
def reserved(count):
    """Makes the kernel reserve `count` more if it has fewer free ones and allows it. Yields whether so many are free."""
    try:
        before = RESERVED.read_text(encoding="ascii")
        missing = count - int(FREE.read_text(encoding="ascii"))
    except OSError:
        yield False  # a kernel without huge pages
        return
    if missing <= 0:
        yield True
        return
    try:
        RESERVED.write_text(str(int(before) + missing), encoding="ascii")
    except OSError:
        yield False
        return
    try:
        yield int(FREE.read_text(encoding="ascii")) >= count
    finally:
        RESERVED.write_text(before, encoding="ascii")
