#!/usr/bin/python3
"""packaging/container/Containerfile, built by buildah, and its image, run as it says. Needs root."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "tests" / "apps"))
from made_packages import packages  # noqa: E402
from root_file_system import DISTRIBUTIONS  # noqa: E402

BASE, IMAGE = "localhost/base", "localhost/image"
# The user's program: a pingpong between the image's two devices, with the data checked.
PROGRAM = """#!/bin/bash
set -e
id -un
ibv_rc_pingpong -d urnic0 -g 1 -c >server &
until grep -q ':4853 .* 0A ' /proc/net/tcp /proc/net/tcp6; do kill -0 $! && sleep 0.1; done
ibv_rc_pingpong -d urnic1 -g 1 -c localhost
wait $!
"""


class Container(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="urnic-image-", dir="/var/tmp")))

    def buildah(self, *words):
        # Without a privilege to mount or to make control groups, as in containers.
        where = ("--root", self.folder / "storage", "--runroot", self.folder / "run", "--storage-driver", "vfs")
        quiet = ("--log-level", "error")
        return subprocess.run(["buildah", *quiet, *map(str, where), *map(str, words)], check=True, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "BUILDAH_ISOLATION": "chroot"}, cwd="/").stdout.strip()

    def make_base(self):
        """An image of Debian 12's packages, as registries of images have it."""
        made = subprocess.run([DISTRIBUTIONS / "make_chroot", "bookworm"], check=True, stdout=subprocess.PIPE, text=True)
        archive = self.folder / "base.tar"
        subprocess.run(["tar", "-C", made.stdout.split()[-1], "--exclude=./proc/*", "--exclude=./sys/*", "--exclude=./dev/*",
                        "-cf", archive, "."], check=True)
        container = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", container, archive, "/")
        self.buildah("commit", "--quiet", container, BASE)
        self.buildah("rm", container)
        archive.unlink()

    def test_image(self):
        self.make_base()
        context = self.folder / "context"
        context.mkdir()
        shutil.copy(packages("tar")[0], context / "urnic.tar.gz")
        (context / "program").write_text(PROGRAM)
        (context / "program").chmod(0o755)
        self.buildah("build", "--layers", "--build-arg", f"BASE={BASE}", "--file",
                     SOURCES / "packaging" / "container" / "Containerfile", "--tag", IMAGE, context)

        image = json.loads(self.buildah("inspect", "--type", "image", IMAGE))["OCIv1"]
        base = json.loads(self.buildah("inspect", "--type", "image", BASE))["OCIv1"]
        self.assertEqual(len(image["rootfs"]["diff_ids"]), len(base["rootfs"]["diff_ids"]) + 2)
        self.assertEqual(image["config"]["User"], "user")

        container = self.buildah("from", IMAGE)
        said = self.buildah("run", "--workingdir", "/home/user", container, "--", *image["config"]["Entrypoint"],
                            *image["config"]["Cmd"])
        self.assertIn("user\n", said)
        self.assertIn("usec/iter", said)


if __name__ == "__main__":
    unittest.main()
