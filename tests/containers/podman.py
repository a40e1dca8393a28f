"""podman on a machine that may forbid some of what it wants: as root, and as an ordinary user with subordinate user IDs.

Everything is in mounts of this process's own: /etc has a test user and a folder for CDI specifications that go with the process.
What else is needed is `needed_options`, found by looking at the machine."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "apps"))
sys.path.insert(0, str(HERE.parent / "distributions"))
import fabric  # noqa: E402

SKIPPED = 77  # the status of a test that this machine cannot run, as CMake is told
USER, NAME = 64321, "urnic-containers"
SUBORDINATE = 1 << 20  # the first of 65,536 user IDs that containers of the test user have
CONTROL_GROUPS = pathlib.Path("/sys/fs/cgroup")
CAP_SYS_RESOURCE = 24
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


def cannot(why):
    print(f"no containers here: {why}", flush=True)
    sys.exit(SKIPPED)


def own_mounts():
    """Starts this program anew with mounts of its own, and makes them."""
    if os.geteuid() != 0:
        cannot("only root can make the test user and its mounts")
    for program, package in (("podman", "podman"), ("crun", "crun"), ("newuidmap", "uidmap")):
        if shutil.which(program) is None:
            cannot(f"there is no {program} (tools/install-packages containers: {package})")
    if "URNIC_OWN_MOUNTS" not in os.environ:
        os.environ["URNIC_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", "--", sys.executable, "-B", *sys.argv])
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", "/mnt"]).returncode != 0:
        cannot("root of this machine may not mount (CAP_SYS_ADMIN)")
    for folder in ("upper", "work"):
        pathlib.Path("/mnt", folder).mkdir()
    mount("-t", "overlay", "-o", "lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work", "none", "/etc")
    for file, line in (("passwd", f"{NAME}:x:{USER}:{USER}::/nonexistent:/bin/sh"), ("group", f"{NAME}:x:{USER}:"),
                       ("subuid", f"{NAME}:{SUBORDINATE}:65536"), ("subgid", f"{NAME}:{SUBORDINATE}:65536")):
        with open(f"/etc/{file}", "a", encoding="utf-8") as table:
            table.write(line + "\n")
    shutil.rmtree("/etc/cdi", ignore_errors=True)
    pathlib.Path("/etc/cdi").mkdir()
    # What is there of this machine's own must not be found, nor anything be left there.
    mount("-t", "tmpfs", "-o", "mode=755", "none", "/run")
    # crun refuses a machine that has version 1 and version 2 of control groups.
    if (CONTROL_GROUPS / "unified").exists():
        subprocess.run(["umount", "--recursive", CONTROL_GROUPS], check=True)
        mount("-t", "cgroup2", "none", CONTROL_GROUPS)


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def needed_options(root):
    """The options of `podman run` that this machine needs, with the reason of each."""
    status = pathlib.Path("/proc/self/status").read_text()
    effective = int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), 16)
    options = {}
    if root and not effective >> CAP_SYS_RESOURCE & 1:
        options["--ulimit=nofile=1024:1024"] = options["--ulimit=nproc=1000:1000"] = "root lacks CAP_SYS_RESOURCE"
    if root and not {"cpu", "memory", "pids"} <= set((CONTROL_GROUPS / "cgroup.controllers").read_text().split()):
        options["--cgroups=disabled"] = "there are no controllers of control groups"
    return options


class Podman:
    """Containers of root or of the test user, with a device process of the same user. Use as a context manager.

    `tree`: root file systems by name, which `add_tree` fills; each container has a layer of its own above one."""

    def __init__(self, root):
        self.root = root
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="urnic-pods-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self.home, self.runtime, self.trees = self.folder / "home", self.folder / "r", self.folder / "trees"
        for folder in (self.home, self.runtime, self.trees):
            folder.mkdir(mode=0o700 if folder == self.runtime else 0o755)
            if not root:
                shutil.chown(folder, USER, USER)
        self.programs = []
        self.options = needed_options(root)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in self.programs:
            if program.status is None:
                program.kill()
        self.end_containers()
        self.start(self.urnic, "down").wait()
        if not self.root:
            self.podman("system", "migrate")  # ends the process that keeps the user's namespace
            shutil.rmtree(f"/tmp/podman-run-{USER}", ignore_errors=True)  # made whatever XDG_RUNTIME_DIR says
        # Files of the user's containers belong to subordinate users; root removes them.
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_containers(self):
        """Those that a test has left: a container lives on without the `podman run` that has started it."""
        self.podman("rm", "--all", "--force", "--time", "1")

    @property
    def urnic(self):
        return str(fabric.tree() / "bin" / "urnic")

    def start(self, *words, environment=None):
        """Starts a program of the user."""
        command = list(map(str, words))
        if not self.root:
            command = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--", *command]
        variables = {"PATH": PATH, "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime), "USER": NAME, "LANG": "C.UTF-8",
                     "TMPDIR": str(self.home), **(environment or {})}
        program = fabric.Program(command, variables, self.home)
        self.programs.append(program)
        return program

    def run(self, *words, status=0):
        program = self.start(*words)
        if program.wait() != status:
            raise AssertionError(f"status {program.status} instead of {status}: {program}")
        return program.output()

    def podman_words(self):
        store = ("--root", self.folder / "storage", "--runroot", self.runtime, "--tmpdir", self.runtime / "libpod",
                 "--storage-driver", "overlay") if self.root else ("--storage-driver", "overlay")
        return ("podman", "--log-level", "error", "--cgroup-manager", "cgroupfs", *store)

    def podman(self, *words, status=0):
        return self.run(*self.podman_words(), *words, status=status)

    def add_tree(self, name, archive):
        """Unpacks a root file system; a user's belongs to the users of the user's containers."""
        tree = self.trees / name
        self.run("mkdir", tree)
        unpack = ("tar", "-C", tree, "-xf", archive)
        self.run(*(unpack if self.root else (*self.podman_words(), "unshare", *unpack)))
        return tree

    def start_container(self, tree, *command, options=(), devices=("urnic.dev/nic=all", ), needed=None):
        chosen = [f"--device={device}" for device in devices]
        return self.start(*self.podman_words(), "run", "--rm", *(self.options if needed is None else needed), *chosen, *options, "--rootfs", f"{self.trees / tree}:O",
                          *command)

    def container(self, tree, *command, status=0, **options):
        """Runs a container to its end; returns what it said."""
        program = self.start_container(tree, *command, **options)
        if program.wait() != status:
            raise AssertionError(f"status {program.status} instead of {status}: {program}")
        return program.output()

    def pair(self, tree, *command, options=(), device="urnic.dev/nic=all"):
        """A server and a client of perftest or a pingpong, each in a container of its own, by the host's loopback."""
        port = fabric.free_port()
        network = ("--network=host", *options)
        server = self.start_container(tree, *command, "-p", port, options=network, devices=(device, ))
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a listening server: {server}")
        client = self.start_container(tree, *command, "-p", port, "127.0.0.1", options=network, devices=(device, ))
        return fabric.end_pair(server, client, fabric.PATIENCE, lambda: "")
