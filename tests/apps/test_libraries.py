#!/usr/bin/python3
"""The provider plugin with the libibverbs that a program loads: of other releases of rdma-core (the folders in
URNIC_LIBIBVERBS_FOLDERS, separated by colons), with RTLD_LOCAL, under another name, two at once."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import fabric

DEVICES = f"{len(fabric.DEVICES)} opened\n"
PINGPONGS = (("ibv_rc_pingpong",), ("ibv_rc_pingpong", "-e"), ("ibv_rc_pingpong", "-t"), ("ibv_rc_pingpong", "-N"),
             ("ibv_ud_pingpong",), ("ibv_srq_pingpong",), ("ibv_xsrq_pingpong",))


def installed_library():
    listed = subprocess.run(["ldconfig", "-p"], check=True, capture_output=True, text=True,
                            env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"}).stdout
    return pathlib.Path(re.search(r"libibverbs\.so\.1 .*=> (\S+)", listed)[1]).resolve()


class Libraries(unittest.TestCase):
    def setUp(self):
        self.own = fabric.Fabric()
        self.addCleanup(self.own.stop)
        self.own.up()
        self.program = self.own.copy_home("open_by_library.py")

    def copy_library(self, *path):
        copy = self.own.home.joinpath(*path)
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(installed_library(), copy)
        return copy

    def opened(self, *libraries):
        return self.own.run_on_urnic("/usr/bin/python3", "-B", self.program, *libraries)

    def test_library_loaded_locally(self):
        self.assertEqual(self.opened("libibverbs.so.1"), DEVICES)

    def test_copy_whose_name_tells_no_release(self):
        self.assertEqual(self.opened(self.copy_library("libibverbs-6f3a.so.1")), DEVICES)

    def test_two_libraries_in_one_process(self):
        copy = self.copy_library("own", installed_library().name)
        self.assertEqual(self.opened("libibverbs.so.1", copy), DEVICES * 2)

    def test_library_that_is_loaded_when_another_has_listed_its_devices(self):
        # The dynamic linker has loaded the plugin already, and runs no constructor again.
        copy = self.copy_library("own", installed_library().name)
        self.assertEqual(self.opened("libibverbs.so.1", f"later:{copy}"), DEVICES + "0 nothing opened\n")

    def test_other_releases(self):
        folders = [folder for folder in os.environ.get("URNIC_LIBIBVERBS_FOLDERS", "").split(":") if folder]
        if not folders:
            self.skipTest("URNIC_LIBIBVERBS_FOLDERS names no folder with another libibverbs")
        for folder in folders:
            with_library = ("env", f"LD_LIBRARY_PATH={folder}")
            with self.subTest(folder):
                said = self.own.run_on_urnic(*with_library, "ibv_devinfo", "-v")
                self.assertEqual(said.count("PORT_ACTIVE"), len(fabric.DEVICES), said)
                for words in PINGPONGS:
                    pair = (*with_library, *words, "-d", "urnic0", "-g", "1", "-c")
                    self.own.run_pair(pair, pair)


if __name__ == "__main__":
    unittest.main()
