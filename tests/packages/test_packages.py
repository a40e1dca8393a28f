#!/usr/bin/python3
"""The packages of tools/package: built, installed or unpacked, used by an ordinary user with data checked, and removed.

URNIC_PACKAGES names a folder with packages that are there already. Needs root.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "tests" / "apps"))
from made_packages import packages, said_by  # noqa: E402
from root_file_system import ROOT, RootFileSystem  # noqa: E402

LIBRARIES = "/usr/lib/x86_64-linux-gnu"
OLDEST_C_LIBRARY = (2, 31)
# What a package of Debian's rpmbuild needs, which names Fedora's packages.
NEEDED_BY_RPM = ("libisal2", "libpcap0.8", "libseccomp2", "libspdlog1.10", "libtomlplusplus3")
# Drops a packet.
FAULTS = '[[fault]]\ndevice = "urnic0"\nfilter = "udp port 4791"\noccurrence = 3\naction = "drop"\n'
PACKET_SCRIPT = SOURCES / "tests" / "scripts" / "examples" / "03-a-hole.packets"


# Made of what the built command says of itself (packaging/commands), below the prefix; zsh's folder differs.
MADE = ("share/bash-completion/completions/urnic", "share/fish/vendor_completions.d/urnic.fish", "/_urnic",
        "share/man/man1/urnic.1", "share/man/man1/urnic-run.1", "share/man/man1/urnic-wireshark.1")


def check_made_files(test, listing):
    for name in MADE:
        test.assertRegex(listing, rf"(?m){re.escape(name)}(\.gz)?$")


def check_programs(test, system, urnic):
    """Devices; messages with their data checked, one of which loses a packet; the live page meanwhile, and the packets
    afterwards, in lines and as a picture. Filters are compiled by libpcap, which the tar brings. A packet script, whose agent
    takes the distribution's libibverbs, and a lesson, for which the distribution's Python is asked."""
    test.assertIn("urnic0", system.run(urnic, "run", "--", "ibv_devinfo", "-v"))
    (system.home / "faults.toml").write_text(FAULTS)
    system.run(urnic, "up")
    system.run(urnic, "fault", "load", "faults.toml")
    capture = system.start(urnic, "capture", "lost.pcapng")
    capture.wait_for_output("capturing to")
    system.pingpong(urnic)
    test.assertIn("<title>urnic", system.live_page(urnic))
    system.run(urnic, "down")
    capture.wait()
    lost = system.run(urnic, "trace", "--filter", "udp port 4791", "--only", "lost", "lost.pcapng")
    test.assertEqual(lost.count("rule \"fault 1\": dropped"), 1, lost)
    test.assertIn("</svg>", system.run(urnic, "plot", "lost.pcapng"))
    shutil.copy(PACKET_SCRIPT, system.home)
    for way in ("--virtual", "--live"):
        test.assertIn("passed: ", system.run(urnic, "script", way, PACKET_SCRIPT.name))
    system.run(urnic, "down")
    test.assertIn("Lesson 1: a first RDMA program", system.run(urnic, "lesson", "1"))


class Deb(unittest.TestCase):
    def test_lintian(self):
        said = said_by("lintian", "--allow-root", "--fail-on", "error,warning", *packages("deb"))
        self.assertNotRegex(said, r"(?m)^[EW]: |^status")

    def test_manual_pages_and_completion(self):
        package = next(package for package in packages("deb") if package.name.startswith("urnic_"))
        check_made_files(self, said_by("dpkg-deb", "--contents", package))

    def test_installed_used_and_removed(self):
        with RootFileSystem("bookworm") as system:
            # It fails on a machine without RDMA devices, and says so.
            plain = ("sh", "-c", "ibv_devices 2>&1; ibv_devinfo 2>&1; true")
            before, without = system.files("*urnic*"), system.run(*plain)
            for package in packages("deb"):
                shutil.copy(package, system.home)
            names = [f"./{package.name}" for package in packages("deb")]
            system.run("apt-get", "install", "--yes", "--no-install-recommends", *names, user=ROOT)

            check_programs(self, system, "urnic")
            self.check_plugin_by_name(system)
            # A program that is not started by urnic sees and says what it did before.
            self.assertEqual(system.run(*plain), without)

            system.run("apt-get", "purge", "--yes", "urnic", "urnic-lessons", "urnic-doc", "urnic-web", user=ROOT)
            self.assertEqual(system.files("*urnic*") - before, set())

    def check_plugin_by_name(self, system):
        """libibverbs finds the plugin in its own folder."""
        system.run("urnic", "up")
        environment = {"LD_PRELOAD": f"{LIBRARIES}/urnic/liburnic-kernel.so", "RDMAV_DRIVERS": "urnic"}
        self.assertIn("urnic0", system.run("ibv_devices", environment=environment))
        system.run("urnic", "down")


class Tar(unittest.TestCase):
    def test_unpacked_and_used_everywhere(self):
        """By an ordinary user, who installs nothing else."""
        for release in ("bullseye", "bookworm", "trixie", "sid"):
            with self.subTest(release), RootFileSystem(release) as system:
                shutil.copy(packages("tar")[0], system.home / "urnic.tar.gz")
                system.run("tar", "-xzf", "urnic.tar.gz")
                urnic = next(system.home.glob("urnic-*/bin/urnic"))
                check_programs(self, system, urnic)
                self.assertRegex(system.run(urnic, "doctor"), r"ok +devices +libibverbs sees urnic0, urnic1")

    def test_nothing_is_newer_than_the_oldest_c_library(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="urnic-packages-")))
        subprocess.run(["tar", "-xzf", packages("tar")[0], "-C", folder], check=True)
        check_made_files(self, "\n".join(map(str, folder.rglob("*"))))
        files = [file for file in folder.rglob("*") if file.is_file() and file.read_bytes()[:4] == b"\x7fELF"]
        brought = {file.name for file in folder.glob("*/lib/urnic/libraries/*") if file.is_file()}
        allowed = {name: brought for name in brought | {"urnic", "urnicd", "urnic-web"}}
        allowed.update({"urnic-script-agent": {"libibverbs.so.1"}, "liburnic-kernel.so": set(), "liburnic-rdmav34.so": set()})
        self.assertLessEqual(allowed.keys(), {file.name for file in files})
        for file in files:
            headers = said_by("objdump", "-p", file)
            for version in re.findall(r" GLIBC_([\d.]+)", headers):
                self.assertLessEqual(tuple(map(int, version.split("."))), OLDEST_C_LIBRARY, file)
            needed = set(re.findall(r"NEEDED +(\S+)", headers))
            in_libc = {name for name in needed if re.match(r"(ld-linux|lib(c|m|dl|rt|pthread)\.so)", name)}
            self.assertLessEqual(needed - in_libc, allowed.get(file.name, set()), file)


class Rpm(unittest.TestCase):
    def test_rpmlint(self):
        configuration = ("--config", SOURCES / "packaging" / "rpm" / "rpmlint.toml")
        for subject in (SOURCES / "packaging" / "rpm" / "urnic.spec", *packages("rpm")):
            with self.subTest(subject.name):
                self.assertRegex(said_by("rpmlint", *configuration, subject), r" 0 errors, 0 warnings")

    def test_version(self):
        said = said_by("rpmspec", "--query", SOURCES / "packaging" / "rpm" / "urnic.spec")
        version = re.search(r"project\(urnic VERSION (\S+)", (SOURCES / "CMakeLists.txt").read_text())[1]
        self.assertIn(f"urnic-{version}-", said)

    def test_unpacked_and_used(self):
        with RootFileSystem("bookworm") as system:
            system.run("apt-get", "install", "--yes", "--no-install-recommends", *NEEDED_BY_RPM, user=ROOT)
            for package in packages("rpm"):
                subprocess.run(f"rpm2cpio {package} | cpio -idm --quiet", shell=True, check=True, cwd=system.root)
            check_programs(self, system, "urnic")
            check_made_files(self, "\n".join(map(str, (system.root / "usr/share").rglob("*"))))


if __name__ == "__main__":
    unittest.main()
