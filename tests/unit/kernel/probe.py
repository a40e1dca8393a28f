"""Debian's Python under the stand-in. It calls the LFS and the fortified names of the C library's functions."""

import errno
import glob
import os
import pathlib
import socket
import stat
import struct
import subprocess

NODE = "/dev/infiniband/uverbs0"


def is_node(status):
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == os.makedev(231, 192)


assert sorted(os.listdir("/sys/class/infiniband")) == ["urnic0", "urnic1"]
nodes = {entry.name: entry for entry in os.scandir("/dev/infiniband")}
assert sorted(nodes) == ["uverbs0", "uverbs1"]
assert not nodes["uverbs0"].is_file() and is_node(nodes["uverbs0"].stat())
assert is_node(os.stat(NODE)) and is_node(os.lstat(NODE)) and pathlib.Path(NODE).is_char_device()
assert open("/sys/class/infiniband/urnic0/node_type").read() == "1: CA\n"
assert os.path.exists("/sys/class/infiniband/urnic1") and os.path.islink("/sys/class/infiniband/urnic1")
assert os.path.realpath("/sys/class/infiniband/urnic1") == "/sys/devices/virtual/infiniband/urnic1"
assert os.readlink("/sys/class/infiniband/urnic1").endswith("virtual/infiniband/urnic1")
assert os.access(NODE, os.R_OK | os.W_OK) and not os.access(NODE, os.X_OK)
assert glob.glob("/sys/class/infiniband/*/node_guid")

os.chdir("/sys/class/infiniband")
assert os.getcwd() == "/sys/class/infiniband" and os.path.exists("urnic0/ports")
folder = os.open("/sys/class/infiniband_verbs", os.O_RDONLY)
assert "dev" in os.listdir(os.open("uverbs0", os.O_RDONLY, dir_fd=folder))

device = os.open(NODE, os.O_RDWR)
assert is_node(os.fstat(device)) and is_node(os.fstat(os.dup(device)))
os.set_inheritable(device, True)
child = f"import os, stat; assert stat.S_ISCHR(os.fstat({device}).st_mode)"
subprocess.run(["/usr/bin/python3", "-c", child], check=True, close_fds=False)
# Closes all descriptors between fork and exec.
cat = subprocess.run(["cat", "/sys/class/infiniband/urnic0/node_type"], capture_output=True, close_fds=True)
assert cat.stdout == b"1: CA\n"

with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20) as netlink:
    netlink.bind((0, 0))
    port, groups = netlink.getsockname()
    assert port != 0 and groups == 0
    netlink.sendto(struct.pack("IHHII", 16, 0x1401, 1, 5, 0), (0, 0))
    answer, sender = netlink.recvfrom(4096)
    assert sender == (0, 0)
    assert struct.unpack_from("iIHHI", answer, 16)[0] == -errno.EOPNOTSUPP
print("all well")
