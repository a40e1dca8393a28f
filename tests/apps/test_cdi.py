#!/usr/bin/python3
"""`urnic cdi`: what it prints keeps the rules of the Container Device Interface, version 0.5, its files exist, and a program that has
nothing but its mounts and variables finds the devices. With podman: tests/containers."""

import json
import os
import pathlib
import platform
import re
import shutil
import unittest

import fabric

MANIFESTS = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "kubernetes"
FAILED, NOT_RUNNING = 1, 3  # tools/urnic/failure.hpp
# Each object's members and their types, by SPEC.md: a reader refuses a specification that has any others.
SPECIFICATION = {"cdiVersion": str, "kind": str, "devices": list, "containerEdits": dict}
DEVICE = {"name": str, "containerEdits": dict}
EDITS = {"env": list, "mounts": list, "deviceNodes": list, "hooks": list}
MOUNT = {"hostPath": str, "containerPath": str, "options": list, "type": str}
PREFIX = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
CLASS = r"[A-Za-z][A-Za-z0-9_-]{0,61}[A-Za-z0-9]"  # without dots, which version 0.6 brought; podman 4.3 wants two characters
NAME = r"[A-Za-z0-9][A-Za-z0-9_.:-]*[A-Za-z0-9]"


def check_members(found, allowed, required=()):
    for member, value in found.items():
        assert member in allowed, f"{member}: no such member"
        assert isinstance(value, allowed[member]), f"{member}: {value}"
    for member in required:
        assert member in found, f"{member} is missing"


def check_edits(edits):
    check_members(edits, EDITS)
    for variable in edits.get("env", []):
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*=.*", variable), variable
    for mount in edits.get("mounts", []):
        check_members(mount, MOUNT, ("hostPath", "containerPath"))
        assert os.path.isabs(mount["hostPath"]) and os.path.isabs(mount["containerPath"]), mount
        assert "bind" in mount["options"], mount  # without it a runtime takes the path for a file system's type


def check_specification(text):
    """Whether a specification keeps the rules; returns it."""
    found = json.loads(text)
    check_members(found, SPECIFICATION, ("cdiVersion", "kind", "devices"))
    assert found["cdiVersion"] == "0.5.0", found["cdiVersion"]
    assert re.fullmatch(f"{PREFIX}/{CLASS}", found["kind"]), found["kind"]
    names = [device["name"] for device in found["devices"]]
    assert names and len(set(names)) == len(names), names
    check_edits(found["containerEdits"])
    for device in found["devices"]:
        check_members(device, DEVICE, ("name", "containerEdits"))
        assert re.fullmatch(NAME, device["name"]), device["name"]
        check_edits(device["containerEdits"])
        assert device["containerEdits"], "a device without edits is refused"
    return found


class Command(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(fabric.Fabric())

    def cdi(self, *words, status=0, environment=None):
        return self.fabric.run(self.fabric.urnic, "cdi", *words, status=status, environment=environment)

    def specification(self, *words):
        return check_specification(self.cdi(*words))


class Specification(Command):
    def test_keeps_the_rules(self):
        self.fabric.up('[[devices]]\nname = "urnic_a"\n[[devices]]\nname = "urnic-b"\n')
        found = self.specification()
        self.assertEqual(found["kind"], "urnic.dev/nic")
        self.assertEqual([device["name"] for device in found["devices"]], ["all", "urnic_a", "urnic-b"])
        # A device by itself changes the one variable that nobody else's name can take.
        self.assertEqual([device["containerEdits"] for device in found["devices"]],
                         [{"env": ["URNIC_SHOW=all"]}, {"env": ["URNIC_SHOW_0=urnic_a"]}, {"env": ["URNIC_SHOW_1=urnic-b"]}])

    def test_a_name_that_containers_cannot_ask_for(self):
        self.fabric.up('[[devices]]\nname = "urnic-"\n[[devices]]\nname = "urnic1"\n')
        said = self.cdi("--write", "--directory", self.fabric.home)
        self.assertIn("'urnic-'", said)
        found = check_specification((self.fabric.home / "urnic.dev-nic.json").read_text())
        self.assertEqual([device["name"] for device in found["devices"]], ["all", "urnic1"])
        self.assertEqual(found["devices"][1]["containerEdits"], {"env": ["URNIC_SHOW_1=urnic1"]})

    def test_what_is_mounted_exists(self):
        self.fabric.up()
        edits = self.specification()["containerEdits"]
        places = {mount["containerPath"]: pathlib.Path(mount["hostPath"]) for mount in edits["mounts"]}
        self.assertIn(self.fabric.run_directory, places.values())
        for folder in places.values():
            self.assertTrue(folder.is_dir(), folder)
        variables = dict(variable.split("=", 1) for variable in edits["env"])
        self.assertIn(variables["URNIC_DIR"], places)

        def outside(path):
            inside = next(place for place in places if path.startswith(f"{place}/"))
            return places[inside] / path.removeprefix(f"{inside}/")

        self.assertTrue(outside(variables["LD_PRELOAD"]).is_file())
        self.assertTrue(outside(variables["RDMAV_DRIVERS"] + "-rdmav34.so").is_file())
        # Names of other releases of rdma-core are links, which must not lead out of the folder.
        for name in outside(variables["LD_PRELOAD"]).parent.iterdir():
            self.assertTrue(not name.is_symlink() or "/" not in os.readlink(name), name)

    def test_a_program_sees_the_devices_by_it(self):
        self.fabric.up()
        edits = self.specification()["containerEdits"]
        steps = "mount -t tmpfs -o mode=755 none /run\n" if os.path.realpath("/var/run") == "/run" else ""
        for mount in edits["mounts"]:
            options = ",".join(option for option in mount["options"] if option != "bind")
            steps += (f"mkdir -p {mount['containerPath']}\nmount --bind {mount['hostPath']} {mount['containerPath']}\n"
                      f"mount -o remount,bind,{options} {mount['containerPath']}\n")
        inside = ("unshare", "-Urm", "sh", "-ec", steps + 'exec env "$@"', "-", "--unset=URNIC_DIR", *edits["env"])
        tried = self.fabric.start("unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/run")
        if tried.wait() != 0 or not steps.startswith("mount"):
            self.skipTest(f"a user may make no mounts of his own here: {tried.output().strip()}")
        said = self.fabric.run(*inside, "ibv_devices")
        for device in fabric.DEVICES:
            self.assertIn(device, said)

    def test_programs_see_the_devices_that_are_named(self):
        """Also with libibverbs that would ask by netlink, and by the addresses of rdma_cm."""
        self.fabric.up("[[devices]]\n" * 3)
        variables = {device["name"]: device["containerEdits"]["env"] for device in self.specification()["devices"]}

        def seen(*names):
            chosen = dict(variable.split("=", 1) for name in names for variable in variables[name])
            return re.findall(r"urnic\d", self.fabric.run(*self.fabric.on_urnic("ibv_devices"), environment=chosen))

        self.assertEqual(seen("urnic1"), ["urnic1"])
        self.assertEqual(seen("urnic2", "urnic0"), ["urnic0", "urnic2"])
        self.assertEqual(seen("urnic2", "all"), ["urnic0", "urnic1", "urnic2"])
        only = {"URNIC_SHOW_0": "urnic1"}
        self.assertIn("hca_id:\turnic1", self.fabric.run(*self.fabric.on_urnic("ibv_devinfo"), environment=only))
        self.assertEqual(self.fabric.run(*self.fabric.on_urnic("ibstat", "-l"), environment=only).split(), ["urnic1"])
        self.assertIn("not found", self.fabric.run(*self.fabric.on_urnic("ibv_rc_pingpong", "-d", "urnic0"), environment=only, status=1))

    def test_classes(self):
        self.fabric.up()
        found = self.specification("--class", "lab-2")
        self.assertEqual(found["kind"], "urnic.dev/lab-2")
        self.assertIn("URNIC_DIR=/run/urnic.dev/lab-2/run", found["containerEdits"]["env"])
        for wrong in ("a", "2lab", "lab.2", "lab-", "lab/2", "ä" * 4, "a" * 64):
            said = self.cdi("--class", wrong, status=FAILED)
            self.assertIn("--class", said)

    def test_a_name_is_a_class(self):
        runtime = {"XDG_RUNTIME_DIR": str(self.fabric.home)}
        self.fabric.run(self.fabric.urnic, "up", "--name", "lab", environment=runtime)
        try:
            found = check_specification(self.cdi("--name", "lab", environment=runtime))
        finally:
            self.fabric.run(self.fabric.urnic, "down", "--name", "lab", environment=runtime)
        self.assertEqual(found["kind"], "urnic.dev/lab")
        self.assertIn(str(self.fabric.home / "urnic" / "lab"), [mount["hostPath"] for mount in found["containerEdits"]["mounts"]])

    def test_no_device_process(self):
        self.assertIn("urnic up", self.cdi(status=NOT_RUNNING))

    def test_podmans_options_say_the_same(self):
        self.fabric.up()
        edits = self.specification()["containerEdits"]
        words = self.cdi("--podman-options").split()
        self.assertEqual([word.removeprefix("--env=") for word in words if word.startswith("--env=")], edits["env"])
        self.assertEqual([word.removeprefix("--volume=").split(":")[:2] for word in words if word.startswith("--volume=")],
                         [[mount["hostPath"], mount["containerPath"]] for mount in edits["mounts"]])
        self.assertEqual(len(words), len(edits["env"]) + len(edits["mounts"]))

    def test_podmans_options_take_no_path_that_splits(self):
        for name in ("two words", "a:b", "a,b"):
            with self.subTest(name):
                runtime = {"URNIC_DIR": str(self.fabric.home / name)}
                self.fabric.run(self.fabric.urnic, "up", environment=runtime)
                try:
                    self.assertIn("--write", self.cdi("--podman-options", status=FAILED, environment=runtime))
                    check_specification(self.cdi(environment=runtime))
                finally:
                    self.fabric.run(self.fabric.urnic, "down", environment=runtime)


class Installed(Command):
    def setUp(self):
        super().setUp()
        self.folder = self.fabric.home / ".config" / "cdi"
        self.file = self.folder / "urnic.dev-nic.json"

    def test_write_and_remove(self):
        self.fabric.up()
        said = self.cdi("--write")
        self.assertIn(f"--cdi-spec-dir {self.folder} run --device urnic.dev/nic=all", said)
        self.assertEqual(check_specification(self.file.read_text()), self.specification())
        self.cdi("--write")
        self.assertEqual(list(self.folder.iterdir()), [self.file])
        self.fabric.down()
        self.cdi("--remove")
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertIn(str(self.file), self.cdi("--remove", status=FAILED))

    def test_everybody_may_read_it(self):
        """Rootless runtimes read root's file, whatever root's umask is."""
        self.fabric.up()
        self.fabric.run("sh", "-c", 'umask 077; exec "$@"', "-", self.fabric.urnic, "cdi", "--write")
        self.assertEqual(self.file.stat().st_mode & 0o7777, 0o644)
        self.assertEqual(self.folder.stat().st_mode & 0o7777, 0o755)

    def test_a_reader_sees_all_of_it_or_nothing(self):
        """What is there is replaced, not written: a reader that has it open, or a link to it, keeps the old one."""
        self.fabric.up()
        self.folder.mkdir(parents=True)
        victim = self.fabric.home / "victim"
        victim.write_text("untouched")
        self.file.symlink_to(victim)
        for folder in (self.folder, self.folder.parent):
            os.chown(folder, self.fabric.user or -1, -1)
        self.cdi("--write")
        self.assertEqual(victim.read_text(), "untouched")
        self.assertFalse(self.file.is_symlink())
        with open(self.file) as before:
            self.cdi("--write", "--class", "nic")
            check_specification(before.read())
            self.assertNotEqual(os.fstat(before.fileno()).st_ino, self.file.stat().st_ino)

    def test_nothing_is_left_where_it_cannot_be_written(self):
        self.fabric.up()
        self.file.mkdir(parents=True)
        for folder in (self.folder, self.folder.parent):
            os.chown(folder, self.fabric.user or -1, -1)
        self.assertIn(str(self.file), self.cdi("--write", status=FAILED))
        self.assertEqual(list(self.folder.iterdir()), [self.file])
        said = self.cdi("--write", "--directory", "/proc/none", status=FAILED)
        self.assertIn("--directory", said)
        self.assertEqual(said.count("\n"), 1, said)

    def test_no_home(self):
        self.fabric.up()
        said = self.fabric.run("env", "--unset=HOME", self.fabric.urnic, "cdi", "--write", status=FAILED)
        self.assertIn("--directory", said)
        self.cdi("--write", environment={"XDG_CONFIG_HOME": str(self.fabric.home / "other")})
        self.assertTrue((self.fabric.home / "other" / "cdi" / self.file.name).exists())


class Image(Command):
    """`urnic doctor --image`: what containers of an image will find missing."""

    def setUp(self):
        super().setUp()
        self.folder = self.fabric.home / "image"
        library = next(pathlib.Path("/usr/lib").glob("*-linux-gnu/libc.so.6"))
        self.libraries = self.folder / library.parent.relative_to("/")
        self.libraries.mkdir(parents=True)
        shutil.copy(library, self.libraries)
        linker = next(name for name in ("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1") if (library.parent / name).exists())
        # As Debian has it: a link that leads nowhere from outside of the image.
        self.linker = self.libraries / linker
        self.linker.symlink_to(f"/nowhere/{linker}")
        self.verbs = self.libraries / "libibverbs.so.1"
        self.verbs.symlink_to("libibverbs.so.1.14.44.0")

    def findings(self, status=FAILED):
        said = json.loads(self.fabric.run(self.fabric.urnic, "doctor", "--json", "--image", self.folder, status=status))
        return {finding["subject"]: (finding["severity"], finding["seen"]) for finding in said["findings"]}

    def test_an_image_that_has_all(self):
        found = self.findings(status=0)
        self.assertEqual(found["libibverbs"], ("ok", f"/{self.verbs.relative_to(self.folder)}"))
        self.assertEqual(found["C library"], ("ok", f"glibc {platform.libc_ver()[1]}"))

    def test_no_libibverbs(self):
        self.verbs.unlink()
        self.assertEqual(self.findings()["libibverbs"][0], "obstacle")

    def test_an_old_glibc(self):
        library = self.libraries / "libc.so.6"
        library.unlink()
        library.write_bytes(b"\0GNU C Library (GNU libc) stable release version 2.28.\n")
        self.assertEqual(self.findings()["C library"], ("obstacle", "glibc 2.28"))

    def test_musl(self):
        self.linker.unlink()
        self.assertIn("only static programs", self.findings()["C library"][1])
        (self.folder / "lib").mkdir()
        (self.folder / "lib" / "ld-musl-x86_64.so.1").touch()
        self.assertIn("musl", self.findings()["C library"][1])

    def test_no_folder(self):
        self.folder = self.fabric.home / "none"
        self.assertIn("no folder", self.findings()["image"][1])


class Kubernetes(Command):
    """packaging/kubernetes against what `urnic cdi` prints."""

    def setUp(self):
        super().setUp()
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is not installed: tools/install-packages test")
        self.manifests = {file.stem: yaml.safe_load(file.read_text()) for file in MANIFESTS.glob("*.yaml")}

    def pods(self):
        for name, manifest in self.manifests.items():
            yield name, manifest["spec"].get("template", manifest)["spec"]

    def containers(self):
        for name, pod in self.pods():
            for container in (*pod.get("initContainers", ()), *pod["containers"]):
                yield f"{name}/{container['name']}", pod, container

    def test_whole(self):
        kinds = {"DaemonSet": "apps/v1", "Pod": "v1"}
        self.assertGreaterEqual(len(self.manifests), 3)
        for name, manifest in self.manifests.items():
            self.assertEqual(kinds[manifest["kind"]], manifest["apiVersion"], name)
            self.assertRegex(manifest["metadata"]["name"], r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
        labels = self.manifests["daemonset"]["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(self.manifests["daemonset"]["spec"]["selector"]["matchLabels"], labels)
        for name, pod, container in self.containers():
            with self.subTest(name):
                volumes = {volume["name"] for volume in pod.get("volumes", ())}
                self.assertLessEqual({mount["name"] for mount in container.get("volumeMounts", ())}, volumes)
                self.assertTrue(all(isinstance(word, str) for word in container["command"]), container["command"])
                self.assertEqual(container["securityContext"], {
                    "runAsUser": 0, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True})

    def test_a_pod_without_cdi_has_the_same(self):
        self.fabric.up()
        edits = check_specification(self.cdi())["containerEdits"]
        device_process = self.manifests["daemonset"]["spec"]["template"]["spec"]["containers"][0]
        run_directory, = [variable["value"] for variable in device_process["env"] if variable["name"] == "URNIC_DIR"]
        for name, pod, container in self.containers():
            if not name.startswith("pod-by-mounts/"):
                continue
            self.assertEqual([f"{variable['name']}={variable['value']}" for variable in container["env"]], edits["env"])
            places = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
            mounts = {mount["mountPath"]: places[mount["name"]] for mount in container["volumeMounts"]}
            self.assertEqual(set(mounts), {mount["containerPath"] for mount in edits["mounts"]})
            self.assertIn(run_directory, mounts.values())
            self.assertTrue(all(mount["readOnly"] for mount in container["volumeMounts"]))

    def test_a_pod_by_cdi_asks_for_a_device_that_there_is(self):
        self.fabric.up()
        found = check_specification(self.cdi())
        names = {f"{found['kind']}={device['name']}" for device in found["devices"]}
        asked = re.findall(r"urnic\.dev/\S+", json.dumps(self.manifests["pod-by-cdi"]["metadata"]["annotations"]).replace('"', " ").replace("\\n", " "))
        self.assertTrue(asked)
        self.assertLessEqual(set(asked), names)


if __name__ == "__main__":
    unittest.main()
