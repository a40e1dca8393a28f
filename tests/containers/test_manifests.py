#!/usr/bin/python3
"""The containers of packaging/kubernetes, run by podman as root with the commands, variables, mounts and rights of their manifests. What a
kubelet does beside that, and what only a cluster has, is not tested. Needs root (podman.py)."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import podman  # which names the folders of the next two
import fabric
from guest import root_of
from test_podman import archive_of

MANIFESTS = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "kubernetes"
KNOWN = {"name", "image", "command", "env", "securityContext", "volumeMounts", "lifecycle", "readinessProbe"}
RIGHTS = {"runAsUser", "allowPrivilegeEscalation", "capabilities", "readOnlyRootFilesystem"}
TOOLS = ("/bin/sh", "/bin/cp", "/usr/bin/seq", "/bin/sleep", "/usr/bin/setpriv")


def image_of_this_machine(folder, programs):
    """A root file system of programs of this machine, their libraries, and urnic in /opt/urnic."""
    shutil.copytree(fabric.tree(), folder / "opt/urnic", symlinks=True)
    files = set(programs)
    for program in (*programs, *(fabric.tree() / name for name in ("bin/urnic", "libexec/urnic/urnicd"))):
        listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        files |= {word for word in listed.split() if word.startswith("/")}
    for file in files:
        to = folder / file.lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)


def options_of(container, pod):
    """What `podman run` takes instead of a container of a manifest, its image aside. Fails at what it does not know."""
    assert set(container) <= KNOWN, set(container) - KNOWN
    rights = container["securityContext"]
    assert set(rights) <= RIGHTS and rights["capabilities"] == {"drop": ["ALL"]}, rights
    assert rights["allowPrivilegeEscalation"] is False and rights["readOnlyRootFilesystem"] is True, rights
    # A kubelet puts no file systems of its own onto /run and /tmp.
    options = [f"--user={rights['runAsUser']}", "--cap-drop=all", "--security-opt=no-new-privileges", "--read-only", "--read-only-tmpfs=false"]
    options += [f"--env={variable['name']}={variable['value']}" for variable in container.get("env", ())]
    places = {volume["name"]: volume["hostPath"] for volume in pod.get("volumes", ())}
    for mount in container.get("volumeMounts", ()):
        place = places[mount["name"]]
        if place["type"] == "DirectoryOrCreate":
            pathlib.Path(place["path"]).mkdir(parents=True, exist_ok=True)
        assert pathlib.Path(place["path"]).is_dir(), place
        options.append(f"--volume={place['path']}:{mount['mountPath']}:{'ro' if mount.get('readOnly') else 'rw'}")
    return options


class Manifests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import yaml
        cls.pods = {}
        for file in MANIFESTS.glob("*.yaml"):
            manifest = yaml.safe_load(file.read_text())
            cls.pods[file.stem] = manifest["spec"].get("template", manifest)["spec"]
        # The node's own folders.
        for folder in ("/opt", "/run/urnic", "/var/run/cdi"):
            pathlib.Path(folder).mkdir(exist_ok=True)
        podman.mount("-t", "tmpfs", "-o", "mode=755", "none", "/opt")
        cls.host = cls.enterClassContext(podman.Podman(True))
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="urnic-images-", dir="/var/tmp")))
        cls.host.add_tree("perftest", archive_of(root_of("bullseye"), folder / "perftest.tar"))
        image_of_this_machine(folder / "urnic", TOOLS)
        cls.host.add_tree("urnic", archive_of(folder / "urnic", folder / "urnic.tar"))

    def start(self, pod, name, *extra, devices=()):
        everything = (*self.pods[pod].get("initContainers", ()), *self.pods[pod]["containers"])
        container = next(container for container in everything if container["name"] == name)
        image = pathlib.PurePath(container["image"]).name
        command, needed, options = container["command"], list(self.host.options), [*options_of(container, self.pods[pod]), *extra]
        if self.pods[pod].get("hostPID"):
            options.append("--pid=host")
            if "--cgroups=disabled" in needed:  # podman has no such containers in the host's PID namespace, but privileged ones
                needed[needed.index("--cgroups=disabled")] = "--privileged"
                options.append("--pids-limit=-1")
                command = ["/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", *command]
        return self.host.start_container(image, *command, options=options, devices=devices, needed=needed)

    def finish(self, *names, **options):
        program = self.start(*names, **options)
        if program.wait() != 0:
            raise AssertionError(program)
        return program.output()

    def inside(self, name, command):
        """As a hook or a probe of a container."""
        return self.host.podman("exec", name, *command)

    @contextlib.contextmanager
    def daemon_set(self, host_pid=True):
        self.pods["daemonset"]["hostPID"] = host_pid
        self.finish("daemonset", "install")
        process = self.start("daemonset", "device-process", "--name=device-process")
        container = self.pods["daemonset"]["containers"][0]
        try:
            fabric.wait_until(lambda: pathlib.Path("/run/urnic/nic/admin.sock").exists() or process.status is not None, f"{process}")
            self.inside("device-process", container["lifecycle"]["postStart"]["exec"]["command"])
            self.inside("device-process", container["readinessProbe"]["exec"]["command"])
            yield
            self.inside("device-process", container["lifecycle"]["preStop"]["exec"]["command"])
            self.host.podman("kill", "--signal=TERM", "device-process")
            self.assertEqual(process.wait(), 0, process)
        finally:
            self.host.end_containers()

    def test_pods_on_a_device_process_in_a_container(self):
        with self.daemon_set():
            with self.subTest("by mounts"):
                network = "--network=host"  # a pod's containers share one
                server = self.start("pod-by-mounts", "server", network)
                client = self.start("pod-by-mounts", "client", network)
                fabric.end_pair(server, client, fabric.PATIENCE, lambda: "")
            with self.subTest("by CDI"):
                annotation, = self.pods_annotations("pod-by-cdi")
                said = self.finish("pod-by-cdi", "program", devices=annotation)
                self.assertIn("urnic1", said)
                self.assertNotIn("urnic0", said)
        self.assertFalse(pathlib.Path("/var/run/cdi/urnic.dev-nic.json").exists())
        self.assertFalse(pathlib.Path("/run/urnic/nic").exists())

    def test_a_device_process_that_does_not_see_the_nodes_process_numbers(self):
        with self.daemon_set(host_pid=False):
            server = self.start("pod-by-mounts", "server", "--network=host")
            client = self.start("pod-by-mounts", "client", "--network=host")
            fabric.end_pair(server, client, fabric.PATIENCE, lambda: "")

    def test_an_update_replaces_files(self):
        """Programs that have the libraries of before in memory keep them."""
        self.finish("daemonset", "install")
        library = pathlib.Path("/opt/urnic/lib/urnic/liburnic-kernel.so")
        before = library.stat().st_ino
        with open(library, "rb"):
            self.finish("daemonset", "install")
            self.assertNotEqual(library.stat().st_ino, before)

    def pods_annotations(self, pod):
        import yaml
        manifest = yaml.safe_load((MANIFESTS / f"{pod}.yaml").read_text())
        return [yaml.safe_load(text) for key, text in manifest["metadata"]["annotations"].items() if key.startswith("cdi-devices.")]


if __name__ == "__main__":
    podman.own_mounts()
    unittest.main(verbosity=2)
