#!/usr/bin/python3
"""Installs a build and its test programs where an ordinary user can read them, or removes the installation.

Usage: prepare_tree.py install BUILD LINK [COMPONENT] | remove LINK
LINK becomes a symbolic link to the installed tree. COMPONENT: the test programs (default: apps).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def install(build, link, component):
    remove(link)
    # Not inside the build folder, which other users may be unable to read.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="urnic-tree-"))
    folder.chmod(0o755)
    link.symlink_to(folder)
    for words in ((), ("--component", component)):
        subprocess.run(["cmake", "--install", build, "--prefix", folder, *words], check=True)


def remove(link):
    if not link.is_symlink():
        return
    folder = pathlib.Path(os.readlink(link))
    if folder.name.startswith("urnic-tree-"):
        shutil.rmtree(folder, ignore_errors=True)
    link.unlink()


if __name__ == "__main__":
    if len(sys.argv) in (4, 5) and sys.argv[1] == "install":
        install(sys.argv[2], pathlib.Path(sys.argv[3]), (sys.argv[4:] or ["apps"])[0])
    elif len(sys.argv) == 3 and sys.argv[1] == "remove":
        remove(pathlib.Path(sys.argv[2]))
    else:
        sys.exit(__doc__)
