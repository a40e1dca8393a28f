"""What a guest boots from: the kernel of a Debian package, and an initrd with its modules for Soft-RoCE.

Made once for each version of the kernel package, in a folder that the caller names. Needs the packages of
`tools/install-packages interop` and Debian's package archive; no root.
"""

import dataclasses
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pvrdma_module

# The package that depends on the newest kernel; another one by URNIC_GUEST_KERNEL, such as linux-image-6.12-amd64.
KERNEL = os.environ.get("URNIC_GUEST_KERNEL", "linux-image-amd64")
MODULES = ("virtio_pci", "crc32_generic", "crc32c_generic", "9pnet_virtio", "9p", "overlay", "virtio_net", "ib_uverbs", "ib_umad",
           "rdma_ucm", "rdma_rxe", "sch_netem", "veth", "tun", "8021q")
PVRDMA_MODULES = ("vmxnet3",)  # which the driver of pvrdma needs
BUSYBOX = pathlib.Path("/bin/busybox")
DEPMOD = pathlib.Path("/sbin/depmod")
MODPROBE = pathlib.Path("/sbin/modprobe")
QEMU = "qemu-system-x86_64"
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class GuestFiles:
    kernel: pathlib.Path
    initrd: pathlib.Path


def prepare(folder, pvrdma=False):
    """The guest's files, made in `folder` if they are not there. `pvrdma`: with the driver of that device.
    FileNotFoundError that says what to install, if a program for the guest is missing."""
    missing = [str(program) for program in (QEMU, BUSYBOX, DEPMOD, MODPROBE) if shutil.which(program) is None]
    if missing:
        raise FileNotFoundError(f"a guest needs {', '.join(missing)}: run tools/install-packages interop")
    package = kernel_package()
    ready = pathlib.Path(folder) / f"{package}-{'pvrdma-' if pvrdma else ''}{initrd_version()}"
    if not ready.is_dir():
        ready.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=ready.parent) as made:
            make(package, pathlib.Path(made), pvrdma)
            shutil.rmtree(pathlib.Path(made) / "package")
            pathlib.Path(made).chmod(0o755)
            os.rename(made, ready)
            os.mkdir(made)  # for TemporaryDirectory to remove
    return GuestFiles(ready / "vmlinuz", ready / "initrd")


def initrd_version():
    """Changes whenever the initrd would."""
    text = repr(MODULES) + (HERE / "guest_init.sh").read_text() + (HERE / "guest_agent.sh").read_text()
    import hashlib
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def output_of(*command, cwd=None):
    return subprocess.run(command, check=True, cwd=cwd, stdout=subprocess.PIPE, text=True).stdout


def kernel_package():
    """The newest kernel's own package."""
    named = re.findall(r"Depends: (linux-image-\d\S*)", output_of("apt-cache", "depends", KERNEL))
    return named[0] if named else KERNEL


def make(package, folder, pvrdma):
    """Downloads and unpacks the kernel package; leaves `vmlinuz` and `initrd` in `folder`."""
    unpacked = folder / "package"
    unpacked.mkdir()
    subprocess.run(["apt-get", "download", "-q", package], check=True, cwd=unpacked)
    subprocess.run(["dpkg", "-x", next(unpacked.glob("*.deb")), unpacked], check=True)
    shutil.copyfile(next((unpacked / "boot").glob("vmlinuz-*")), folder / "vmlinuz")
    version = next((unpacked / "lib" / "modules").iterdir()).name
    subprocess.run([DEPMOD, "-b", unpacked, version], check=True)
    files = {"init": (0o755, (HERE / "guest_init.sh").read_bytes()), "agent": (0o644, (HERE / "guest_agent.sh").read_bytes()),
             "bin/busybox": (0o755, BUSYBOX.read_bytes())}
    modules = modules_in_order(unpacked, version, MODULES + (PVRDMA_MODULES if pvrdma else ()))
    if pvrdma:
        source = unpacked / "source"
        source.mkdir()
        modules.append(pvrdma_module.build(version, source))
    order = []
    for module in modules:
        content = module.read_bytes()
        name = module.name
        if name.endswith(".xz"):
            content, name = lzma.decompress(content), name[:-3]
        files[f"modules/{name}"] = (0o644, content)
        order.append(name)
    files["modules/order"] = (0o644, "\n".join(order).encode() + b"\n")
    (folder / "initrd").write_bytes(archive(files))


def modules_in_order(unpacked, version, names):
    """The files of the modules `names` and of all that they depend on, each behind those that it depends on."""
    ordered = []
    for name in names:
        lines = output_of(MODPROBE, "-d", unpacked, "-S", version, "--show-depends", name).splitlines()
        for line in lines:
            kind, _, path = line.partition(" ")
            module = pathlib.Path(path.split(" ")[0])
            if kind == "insmod" and module not in ordered:
                ordered.append(module)
    return ordered


def archive(files):
    """A cpio archive, format "newc" (kernel: Documentation/driver-api/early-userspace/buffer-format.rst)."""
    entries = [(folder, 0o040755, b"") for folder in ("bin", "dev", "modules")]
    entries += [(name, 0o100000 | mode, content) for name, (mode, content) in files.items()]
    entries.append(("TRAILER!!!", 0, b""))
    result = bytearray()
    for number, (name, mode, content) in enumerate(entries, 1):
        text = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(text), 0)
        result += b"070701" + b"".join(b"%08X" % field for field in fields) + text
        result += bytes(-len(result) % 4) + content
        result += bytes(-len(result) % 4)
    return bytes(result)
