#!/usr/bin/python3
"""The hardening of the installed programs and libraries by compiler and linker (cmake/hardening.cmake)."""

import os
import pathlib
import platform
import re
import subprocess
import tempfile
import unittest

import fabric

PROGRAMS = ("bin/urnic", "libexec/urnic/urnicd", "libexec/urnic/urnic-web", "libexec/urnic/urnic-script-agent")
LIBRARIES = ("liburnic-kernel.so", "liburnic-rdmav34.so")


def readelf(what, file):
    # A string dump may contain any byte, for example of a checksum.
    return subprocess.run(["readelf", "--wide", what, file], check=True, capture_output=True, encoding="latin-1",
                          env={**os.environ, "LC_ALL": "C"}).stdout


def installed(prefix):
    """The installed programs and libraries, by name."""
    programs = [prefix / path for path in PROGRAMS]
    libraries = [path for path in prefix.glob("lib*/**/*.so") if path.name in LIBRARIES]
    return {path.name: path for path in (*programs, *libraries)}


def build_id(file):
    return re.search(r"Build ID: (\w+)", readelf("--notes", file)).group(1)


class Hardening(unittest.TestCase):
    def setUp(self):
        self.files = installed(fabric.tree())
        self.assertEqual(set(self.files), {"urnic", "urnicd", "urnic-web", "urnic-script-agent", *LIBRARIES})

    def each(self, what, check):
        for name, file in self.files.items():
            with self.subTest(name):
                check(readelf(what, file))

    def has(self, text, pattern):
        """Checks for `pattern`; a failure does not print the whole text of readelf."""
        self.assertIsNotNone(re.search(pattern, text), f"nothing there is like {pattern}")

    def has_no(self, text, pattern):
        self.assertIsNone(re.search(pattern, text), f"something there is like {pattern}")

    def imports(self, name):
        return {symbol for symbol in re.findall(r"UND (\w+)", readelf("--dyn-syms", self.files[name]))}

    def test_addresses_of_functions_are_resolved_at_the_start(self):
        self.each("--dynamic", lambda tags: self.has(tags, r"\(FLAGS\).*\bBIND_NOW\b|\(BIND_NOW\)"))

    def test_and_cannot_be_written_then(self):
        self.each("--program-headers", lambda headers: self.has(headers, r"\bGNU_RELRO\b"))

    def test_programs_have_no_fixed_address(self):
        for name in ("urnic", "urnicd", "urnic-script-agent"):
            with self.subTest(name):
                self.has(readelf("--file-header", self.files[name]), r"Type:\s+DYN")
                self.has(readelf("--dynamic", self.files[name]), r"\(FLAGS_1\).*\bPIE\b")

    def test_code_is_never_written(self):
        self.each("--dynamic", lambda tags: self.has_no(tags, "TEXTREL"))

        def check(headers):
            loaded = re.findall(r"^\s+LOAD(?:\s+0x\w+){5}\s+([RWE ]{3})\s", headers, re.MULTILINE)
            self.assertGreater(len(loaded), 2)
            self.assertEqual([flags for flags in loaded if "W" in flags and "E" in flags], [])

        self.each("--program-headers", check)

    def test_no_stack_is_executed(self):
        self.each("--program-headers", lambda headers: self.has(headers, r"\bGNU_STACK(?:\s+0x\w+){5}\s+RW\s"))

    def test_arrays_on_the_stack_are_guarded(self):
        for name in self.files:
            with self.subTest(name):
                self.assertTrue("__stack_chk_fail" in self.imports(name))

    def test_calls_of_the_c_library_are_checked(self):
        """Not in the stand-in: there the compiler knows for every call that it fits, and leaves no checked form."""
        for name in ("urnic", "urnicd", "liburnic-rdmav34.so"):
            with self.subTest(name):
                checked = {symbol for symbol in self.imports(name) if re.fullmatch(r"__\w+_chk", symbol)}
                self.assertNotEqual(checked, set())

    @unittest.skipUnless(platform.machine() == "x86_64", "shadow stacks are x86-64's")
    def test_a_shadow_stack_is_allowed(self):
        self.each("--notes", lambda notes: self.has(notes, r"x86 feature:.*\bSHSTK\b"))

    def test_debug_information_is_elsewhere(self):
        def check(sections):
            self.has_no(sections, r"\.debug_info\b")
            self.has_no(sections, r"\.symtab\b")
            self.has(sections, r"\.gnu_debuglink\b")

        self.each("--sections", check)

    def test_debug_information_can_be_installed_beside(self):
        """gdb looks for the name in .gnu_debuglink, in the folder .debug beside the file, and compares build IDs."""
        with tempfile.TemporaryDirectory(prefix="urnic-debug-") as folder:
            subprocess.run(["cmake", "--install", os.environ["URNIC_BUILD"], "--prefix", folder,
                            "--component", "debug-information"], check=True, capture_output=True)
            self.assertEqual(installed(pathlib.Path(folder)).keys() & LIBRARIES, set(), "that component alone")
            for name, file in self.files.items():
                with self.subTest(name):
                    link = re.search(r"\[\s*0\]\s+(\S+)", readelf("--string-dump=.gnu_debuglink", file)).group(1)
                    beside = pathlib.Path(folder) / file.relative_to(fabric.tree()).parent / ".debug" / link
                    self.has(readelf("--sections", beside), r"\.debug_info\b")
                    self.assertEqual(build_id(beside), build_id(file))


if __name__ == "__main__":
    unittest.main()
