"""The packages that tools/package makes, and what looks at them."""

import functools
import os
import pathlib
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parents[2]
ENDINGS = {"deb": "deb", "rpm": "rpm", "tar": "tar.gz"}


@functools.cache
def packages(kind):
    """The packages of a kind, made if URNIC_PACKAGES does not name a folder that has them."""
    folder = os.environ.get("URNIC_PACKAGES")
    if not folder:
        subprocess.run([SOURCES / "tools" / "package", kind], check=True)
    found = pathlib.Path(folder or SOURCES / "build" / "package").glob(f"urnic*.{ENDINGS[kind]}")
    return sorted(path.resolve() for path in found if "dbgsym" not in path.name)


def said_by(*command):
    """What a command prints, and its status if that is not 0."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout + ("" if done.returncode == 0 else f"status {done.returncode}")
