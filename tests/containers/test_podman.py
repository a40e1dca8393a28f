#!/usr/bin/python3
"""Containers of podman on a device process outside of them, by `urnic cdi`: of root and of an ordinary user, with images of another
distribution, without libibverbs, with nothing but a program, of musl. Needs root (podman.py)."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import podman  # which names the folders of the next two
import fabric
from guest import root_of

WITHOUT = ("./proc/*", "./sys/*", "./dev/*", "./var/lib/apt/*", "./usr/share/doc/*")
PINGPONG = ("ibv_rc_pingpong", "-d", "urnic0", "-g", "1", "-c")
CANNOT_START, NO_COMMAND = 126, 127
MUSL = "#include <stdio.h>\nint main(void) { return puts(\"a program of musl\") < 0; }\n"


def archive_of(folder, file):
    subprocess.run(["tar", "-C", folder, *(f"--exclude={name}" for name in WITHOUT), "-cf", file, "."], check=True)
    return file


def libraries_of(program, root):
    """The files that a program of a root file system loads, by its dynamic linker's own words."""
    listed = subprocess.run(["chroot", root, "ldd", program], check=True, capture_output=True, text=True).stdout
    return [word for word in listed.split() if word.startswith("/")]


class Containers:
    """Tests for both kinds of users; `ROOT` says which."""

    ROOT = None

    @classmethod
    def setUpClass(cls):
        cls.archives = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="urnic-images-", dir="/var/tmp")))
        cls.archives.chmod(0o755)
        cls.host = cls.enterClassContext(podman.Podman(cls.ROOT))
        for option, why in cls.host.options.items():
            print(f"{cls.__name__}: {option}, because {why}", flush=True)
        cls.bullseye = root_of("bullseye")
        cls.host.add_tree("bullseye", archive_of(cls.bullseye, cls.archives / "bullseye.tar"))
        cls.host.run(cls.host.urnic, "up")
        # Where rootless runtimes look, too: podman 4.3 knows no other place.
        pathlib.Path("/etc/cdi/urnic.dev-nic.json").write_text(cls.host.run(cls.host.urnic, "cdi"))

    def test_another_distributions_programs(self):
        said = self.host.container("bullseye", "sh", "-c", "cat /etc/debian_version; ibv_devices")
        self.assertIn("11.", said)
        self.assertIn("urnic0", said)
        self.assertIn("urnic1", said)

    def test_two_containers_exchange_data(self):
        self.host.pair("bullseye", *PINGPONG)
        self.host.pair("bullseye", *PINGPONG, "-s", "1000000", "-n", "200")
        server, _ = self.host.pair("bullseye", "ib_write_bw", "-d", "urnic0", "-x", "1", "-n", "500")
        self.assertIn("65536", server)

    def test_a_device_by_its_name(self):
        for names, seen in ((("urnic1", ), {"urnic1"}), (("urnic0", "urnic1"), set(fabric.DEVICES)), (("urnic1", "all"), set(fabric.DEVICES))):
            with self.subTest(names):
                said = self.host.container("bullseye", "ibv_devices", devices=[f"urnic.dev/nic={name}" for name in names])
                self.assertEqual({device for device in fabric.DEVICES if device in said}, seen, said)
        # Nobody names a device to the program: it takes what it sees.
        _, client = self.host.pair("bullseye", "ib_write_bw", "-x", "1", "-n", "500", device="urnic.dev/nic=urnic1")
        self.assertIn("urnic1", client)

    def test_connections_without_a_network(self):
        """rdma_cm has the devices' own addresses, whatever network the containers have."""
        network = ("--network=none", )
        server = self.host.start_container("bullseye", "rping", "-s", "-a", "192.0.2.1", "-C", "10", "-V", options=network)
        script = "for attempt in $(seq 300); do rping -c -a 192.0.2.1 -C 10 -V && exit; sleep 0.1; done; exit 1"
        client = self.host.start_container("bullseye", "sh", "-c", script, options=network)
        fabric.end_pair(server, client, fabric.PATIENCE, lambda: "")

    def test_a_root_that_cannot_be_written(self):
        self.host.pair("bullseye", *PINGPONG, options=("--read-only", ))
        self.host.pair("bullseye", *PINGPONG, options=("--read-only", "--read-only-tmpfs=false"))

    def test_no_capability_and_no_new_privilege(self):
        self.host.pair("bullseye", *PINGPONG, options=("--cap-drop=all", "--security-opt=no-new-privileges"))

    def test_what_a_container_sees_cannot_be_written(self):
        said = self.host.container("bullseye", "sh", "-c", "touch /run/urnic.dev/nic/lib/x /run/urnic.dev/nic/run/x || true")
        self.assertEqual(said.count("Read-only file system"), 2, said)

    def test_options_instead_of_a_specification(self):
        options = self.host.run(self.host.urnic, "cdi", "--podman-options").split()
        self.assertIn("urnic1", self.host.container("bullseye", "ibv_devices", devices=(), options=options))
        self.assertNotIn("urnic1", self.host.container("bullseye", "sh", "-c", "ibv_devices || true", devices=()))

    def test_another_device_process_is_another_class(self):
        configuration = self.host.home / "lab.toml"
        configuration.write_text('[[devices]]\nname = "urnic_lab"\n')
        self.host.run(self.host.urnic, "up", "--name", "lab", "--config", configuration)
        specification = pathlib.Path("/etc/cdi/urnic.dev-lab.json")
        try:
            specification.write_text(self.host.run(self.host.urnic, "cdi", "--name", "lab"))
            said = self.host.container("bullseye", "ibv_devices", devices=("urnic.dev/lab=urnic_lab", ))
            self.assertIn("urnic_lab", said)
            self.assertNotIn("urnic0", said)
        finally:
            specification.unlink(missing_ok=True)
            self.host.run(self.host.urnic, "down", "--name", "lab")

    def test_an_unknown_name(self):
        said = self.host.container("bullseye", "true", devices=("urnic.dev/nic=urnic7", ), status=CANNOT_START)
        self.assertIn("unresolvable CDI devices urnic.dev/nic=urnic7", said)

    def test_an_image_without_libibverbs(self):
        """The dynamic linker says what is missing."""
        said = self.host.container("bullseye", "sh", "-c", "rm /usr/lib/*/libibverbs.so.*; ibv_devices", status=NO_COMMAND)
        self.assertIn("libibverbs.so.1: cannot open shared object file", said)

    def test_an_image_with_nothing_but_a_program(self):
        """As images without a distribution are: no shell, no /etc, no /run, no /tmp."""
        bare = self.archives / "bare"
        for file in ("/usr/bin/ibv_devices", *libraries_of("/usr/bin/ibv_devices", self.bullseye)):
            to = bare / file.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            inside = subprocess.run(["chroot", self.bullseye, "readlink", "-f", file], check=True, capture_output=True, text=True).stdout
            shutil.copy(self.bullseye / inside.strip().lstrip("/"), to)
        (bare / "etc/libibverbs.d").mkdir(parents=True)
        self.host.add_tree("bare", archive_of(bare, self.archives / "bare.tar"))
        shutil.rmtree(bare)
        self.assertIn("urnic1", self.host.container("bare", "/usr/bin/ibv_devices"))
        self.assertIn("urnic1", self.host.container("bare", "/usr/bin/ibv_devices", options=("--read-only", )))

    @unittest.skipIf(shutil.which("musl-gcc") is None, "there is no musl-gcc: tools/install-packages containers")
    def test_an_image_of_musl(self):
        """musl's dynamic linker does not start a program with a preloaded library that it cannot load."""
        image = self.archives / "musl"
        (image / "lib").mkdir(parents=True)
        (image / "program.c").write_text(MUSL)
        subprocess.run(["musl-gcc", "-o", image / "program", image / "program.c"], check=True)
        shutil.copy("/usr/lib/x86_64-linux-musl/libc.so", image / "lib/ld-musl-x86_64.so.1")
        self.host.add_tree("musl", archive_of(image, self.archives / "musl.tar"))
        shutil.rmtree(image)
        self.assertIn("a program of musl", self.host.container("musl", "/program", devices=()))
        said = self.host.container("musl", "/program", status=NO_COMMAND)
        self.assertIn("Error relocating /run/urnic.dev/nic/lib/liburnic-kernel.so", said)

    def test_a_library_that_is_not_there(self):
        """glibc's dynamic linker warns, and the program has no devices."""
        said = self.host.container("bullseye", "sh", "-c", "LD_PRELOAD=/nowhere/liburnic-kernel.so ibv_devices || true")
        self.assertIn("/nowhere/liburnic-kernel.so' from LD_PRELOAD cannot be preloaded", said)
        self.assertNotIn("urnic0", said)

    def test_another_user_inside(self):
        """A program gives its memory to its own user's device process only, and says why there are no devices."""
        said = self.host.container("bullseye", "sh", "-c", "ibv_devices || true", options=("--user=1234", ))
        self.assertIn("belongs to another user", said)
        self.assertNotIn("urnic0", said)

    def test_a_device_process_that_has_ended(self):
        """Containers have the directory of the one before, so they must be started anew; none starts while there is none."""
        self.host.run(self.host.urnic, "up", "--name", "brief")
        specification = pathlib.Path("/etc/cdi/urnic.dev-brief.json")
        specification.write_text(self.host.run(self.host.urnic, "cdi", "--name", "brief"))
        word = {"devices": ("urnic.dev/brief=all", )}
        script = "ibv_devices; until [ -e /signs/go ]; do sleep 0.1; done; echo anew; ibv_devices || true"
        signs = self.host.home / "signs"
        self.host.run("mkdir", signs)
        lasting = self.host.start_container("bullseye", "sh", "-c", script, options=(f"--volume={signs}:/signs", ), **word)
        try:
            lasting.wait_for_output("urnic1")
            self.host.run(self.host.urnic, "down", "--name", "brief")
            self.assertIn("urnic/brief", self.host.container("bullseye", "ibv_devices", status=NO_COMMAND, **word))
            self.host.run(self.host.urnic, "up", "--name", "brief")
            self.host.run("touch", signs / "go")
            lasting.wait()
            self.assertNotIn("urnic0", lasting.output().split("anew")[1])
            self.assertIn("urnic0", self.host.container("bullseye", "ibv_devices", **word))
        finally:
            lasting.kill()
            specification.unlink()
            self.host.run(self.host.urnic, "down", "--name", "brief")


class OfRoot(Containers, unittest.TestCase):
    ROOT = True


class OfAUser(Containers, unittest.TestCase):
    ROOT = False

    def test_the_users_own_number_inside(self):
        keep = ("--userns=keep-id", )
        self.assertIn(str(podman.USER), self.host.container("bullseye", "id", "-u", options=keep))
        self.host.pair("bullseye", *PINGPONG, options=keep)
        self.host.pair("bullseye", *PINGPONG, options=(*keep, "--read-only"))

    def test_how_the_memory_of_programs_is_reached(self):
        """In a PID namespace of its own a program cannot show that a number is its own: its memory file is used."""
        for options, way in (((), "/proc/PID/mem"), (("--userns=keep-id", ), "/proc/PID/mem"), (("--pid=host", ), "process_vm_readv")):
            with self.subTest(options):
                server = self.host.start_container("bullseye", "timeout", "5", *PINGPONG[:-1], "-p", fabric.free_port(), options=options)
                fabric.wait_until(lambda: self.contexts() or server.status is not None, f"a program: {server}")
                self.assertEqual([process["memory"] for process in self.contexts()[0]["processes"]], [way])
                server.wait()
                fabric.wait_until(lambda: not self.contexts(), "the end of the program")

    def contexts(self):
        return json.loads(self.host.run(self.host.urnic, "status", "--json"))["contexts"]


if __name__ == "__main__":
    podman.own_mounts()
    unittest.main(verbosity=2)
