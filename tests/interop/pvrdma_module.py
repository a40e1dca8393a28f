"""Linux's driver of the pvrdma device, vmw_pvrdma, which Debian's kernels leave out: built, as it is, from Debian's source of the
same kernel. Needs Debian's package archive (150 MB to download), g++ and make; no root."""

import re
import subprocess

SOURCE = "drivers/infiniband/hw/vmw_pvrdma"


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def depends(package):
    return re.findall(r"Depends: (\S+)", output_of("apt-cache", "depends", package))


def build(version, folder):
    """`version`: as `uname -r` says it. Returns the path of the module, in `folder`, which is empty before."""
    headers = f"linux-headers-{version}"
    beside = [name for name in depends(headers) if name.startswith(("linux-headers-", "linux-kbuild-", "linux-compiler-"))]
    series = ".".join(version.split(".")[:2])
    subprocess.run(["apt-get", "download", "-q", headers, *beside, f"linux-source-{series}"], check=True, cwd=folder)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder], check=True)
        package.unlink()
    archive = next((folder / "usr/src").glob("linux-source-*.tar.xz"))
    subprocess.run(["tar", "-C", folder, "-xJf", archive, f"linux-source-{series}/{SOURCE}"], check=True)
    made = folder / "usr/src" / headers
    # It names its other half by the place where Debian installs it.
    makefile = made / "Makefile"
    makefile.write_text(makefile.read_text().replace("/usr/src", str(folder / "usr/src")))
    module = folder / f"linux-source-{series}" / SOURCE
    subprocess.run(["make", "-s", "-C", made, f"M={module}", "CONFIG_INFINIBAND_VMWARE_PVRDMA=m", "modules"], check=True,
                   stdout=subprocess.DEVNULL)
    built = module / "vmw_pvrdma.ko"
    subprocess.run(["strip", "--strip-debug", built], check=True)
    return built
