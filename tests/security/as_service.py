#!/usr/bin/python3
"""as_service.py UNIT... [-- COMMAND...]: becomes the command of a systemd unit, with the unit's settings, where no
systemd runs.

UNIT: the unit's file, then drop-ins. COMMAND: runs instead of ExecStart. It does what the service manager of a user does
(systemd.exec(5)): that has no privilege, and sets seccomp filters, limits and the like. It cannot take capabilities from a
bounding set (CapabilityBoundingSet=, ProtectClock= and others end with 218/CAPABILITIES) nor filter IP addresses, and what
changes mounts or users puts the process into a user namespace. A setting without an entry in SETTINGS or OTHERS is an
error.
"""

import ctypes
import errno
import mmap
import os
import re
import resource
import shlex
import socket
import stat
import sys

LIBRARY = ctypes.CDLL("libseccomp.so.2")
LIBRARY.seccomp_init.restype = ctypes.c_void_p
LIBRARY.seccomp_attr_set.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32)
LIBRARY.seccomp_load.argtypes = (ctypes.c_void_p,)
# seccomp.h
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000
FOREIGN_ARCHITECTURE = 2  # SCMP_FLTATR_ACT_BADARCH
DIFFERS, BELOW, EQUALS, ABOVE, HAS_BITS = 1, 2, 4, 6, 7
# linux/prctl.h, sched.h, sys/shm.h, sys/personality.h
NO_NEW_PRIVILEGES = 38
HIGHEST_ORDINARY_POLICY = 5  # SCHED_IDLE; SCHED_OTHER, SCHED_BATCH
REALTIME_POLICIES_BELOW = (1, 2, 4)
NAMESPACES = {"cgroup": 0x02000000, "uts": 0x04000000, "ipc": 0x08000000, "user": 0x10000000, "pid": 0x20000000,
              "net": 0x40000000, "mnt": 0x00020000}
SHM_EXECUTABLE = 0o100000
ASK_PERSONALITY = 0xFFFFFFFF


class Condition(ctypes.Structure):
    """struct scmp_arg_cmp of seccomp.h"""
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("first", ctypes.c_uint64),
                ("second", ctypes.c_uint64)]


LIBRARY.seccomp_rule_add_array.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint,
                                           ctypes.POINTER(Condition))


def compare(argument, operator, value):
    return Condition(argument, operator, value, value)


class Filter:
    """Refuses the calls that it is told; `load` puts it into force, for good."""

    def __init__(self, foreign=ALLOW):
        self._rules = LIBRARY.seccomp_init(ALLOW)
        if foreign is not None:
            LIBRARY.seccomp_attr_set(self._rules, FOREIGN_ARCHITECTURE, foreign)

    def refuse(self, error, name, *conditions):
        """A processor without the call is no error: arm64 has no open."""
        number = LIBRARY.seccomp_syscall_resolve_name(name.encode())
        added = LIBRARY.seccomp_rule_add_array(self._rules, FAIL_WITH | error, number, len(conditions),
                                               (Condition * len(conditions))(*conditions))
        if number >= 0 and added != 0:
            sys.exit(f"no rule for {name}: {os.strerror(-added)}")

    def load(self):
        result = LIBRARY.seccomp_load(self._rules)
        if result != 0:
            sys.exit(f"no filter can be set here: {os.strerror(-result)}")


def is_yes(values):
    value = values[-1].lower()
    if value not in ("yes", "true", "on", "1", "no", "false", "off", "0"):
        sys.exit(f"{value} is neither yes nor no")
    return value in ("yes", "true", "on", "1")


def switch(apply):
    """A setting that is yes or no."""
    return lambda values: apply() if is_yes(values) else None


def no_new_privileges():
    if ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        sys.exit("PR_SET_NO_NEW_PRIVS is refused")


def lock_personality():
    own = ctypes.CDLL(None).personality(ctypes.c_ulong(ASK_PERSONALITY))
    rules = Filter()
    rules.refuse(errno.EPERM, "personality", compare(0, DIFFERS, own))
    rules.load()


def restrict_realtime():
    rules = Filter()
    for policy in REALTIME_POLICIES_BELOW:
        rules.refuse(errno.EPERM, "sched_setscheduler", compare(1, EQUALS, policy))
    rules.refuse(errno.EPERM, "sched_setscheduler", compare(1, ABOVE, HIGHEST_ORDINARY_POLICY))
    rules.load()


def restrict_suid_sgid():
    rules = Filter()
    for bit in (stat.S_ISUID, stat.S_ISGID):
        for name, mode in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("mkdir", 1), ("mkdirat", 2), ("mknod", 1),
                           ("mknodat", 2), ("creat", 1)):
            rules.refuse(errno.EPERM, name, compare(mode, HAS_BITS, bit))
        for name, flags in (("open", 1), ("openat", 2)):
            rules.refuse(errno.EPERM, name, compare(flags, HAS_BITS, os.O_CREAT), compare(flags + 1, HAS_BITS, bit))
    rules.refuse(errno.EPERM, "openat2")
    rules.load()


def deny_written_code():
    rules = Filter()
    rules.refuse(errno.EPERM, "mmap", compare(2, HAS_BITS, mmap.PROT_WRITE | mmap.PROT_EXEC))
    for name in ("mprotect", "pkey_mprotect"):
        rules.refuse(errno.EPERM, name, compare(2, HAS_BITS, mmap.PROT_EXEC))
    rules.refuse(errno.EPERM, "shmat", compare(2, HAS_BITS, SHM_EXECUTABLE))
    rules.load()


def restrict_namespaces(values):
    """All but those that are named. Where some are allowed, a kind must be said to enter one (seccomp-util.c of systemd)."""
    allowed = set(" ".join(values).split())
    if not allowed < set(NAMESPACES):
        sys.exit(f"RestrictNamespaces={values}: only kinds of namespaces are known")
    rules = Filter()
    for kind in set(NAMESPACES) - allowed:
        for name, argument in (("unshare", 0), ("clone", 0), ("setns", 1)):
            rules.refuse(errno.EPERM, name, compare(argument, HAS_BITS, NAMESPACES[kind]))
    rules.refuse(errno.EPERM, "setns", compare(1, EQUALS, 0))
    rules.refuse(errno.ENOSYS, "clone3")
    rules.load()


def restrict_address_families(values):
    allowed = {int(getattr(socket, name)) for name in " ".join(values).split()}
    rules = Filter()
    rules.refuse(errno.EAFNOSUPPORT, "socket", compare(0, BELOW, min(allowed)))
    rules.refuse(errno.EAFNOSUPPORT, "socket", compare(0, ABOVE, max(allowed)))
    for family in set(range(min(allowed), max(allowed))) - allowed:
        rules.refuse(errno.EAFNOSUPPORT, "socket", compare(0, EQUALS, family))
    rules.load()


def restrict_architectures(values):
    if values != ["native"]:
        sys.exit(f"SystemCallArchitectures={values}: only native is known")
    Filter(foreign=None).load()  # kills


def limit(name):
    """Limit NAME: what the hard limit allows, if that is less."""
    def apply(values):
        number = resource.RLIM_INFINITY if values[-1] == "infinity" else int(values[-1])
        hard = resource.getrlimit(name)[1]
        if hard != resource.RLIM_INFINITY and (number == resource.RLIM_INFINITY or number > hard):
            number = hard
        resource.setrlimit(name, (number, number))
    return apply


SETTINGS = {
    "LimitCORE": limit(resource.RLIMIT_CORE),
    "UMask": lambda values: os.umask(int(values[-1], 8)),
    "NoNewPrivileges": switch(no_new_privileges),
    "LockPersonality": switch(lock_personality),
    "RestrictRealtime": switch(restrict_realtime),
    "RestrictSUIDSGID": switch(restrict_suid_sgid),
    "MemoryDenyWriteExecute": switch(deny_written_code),
    "RestrictNamespaces": restrict_namespaces,
    "RestrictAddressFamilies": restrict_address_families,
    "SystemCallArchitectures": restrict_architectures,
}
# What is the manager's own work, and nothing of the process.
OTHERS = {("Unit", "Description"), ("Service", "Type"), ("Service", "Restart"), ("Install", "WantedBy")}


def read(files):
    """{(section, key): values}. An empty value takes back those before it."""
    found = {}
    for file in files:
        section = None
        with open(file, encoding="utf-8") as lines:
            for line in map(str.strip, lines):
                if line.startswith("["):
                    section = line.strip("[]")
                elif line and line[0] not in "#;":
                    key, value = map(str.strip, line.split("=", 1))
                    found[section, key] = [*found.get((section, key), []), value] if value else []
    return found


def expanded(command):
    specifiers = {"t": os.environ["XDG_RUNTIME_DIR"], "h": os.environ["HOME"], "%": "%"}
    return shlex.split(re.sub("%(.)", lambda found: specifiers[found[1]], command))


def main(files, command):
    found = {name: values for name, values in read(files).items() if values}
    (start,) = found.pop(("Service", "ExecStart"))
    unknown = [f"{section}: {key}" for section, key in found
               if (section, key) not in OTHERS and not (section == "Service" and key in SETTINGS)]
    if unknown:
        sys.exit(f"not known here, and so not tested: {', '.join(unknown)}")
    for (section, key), values in found.items():
        if (section, key) not in OTHERS:
            SETTINGS[key](values)
    command = command or expanded(start)
    os.execv(command[0], command)


if __name__ == "__main__":
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    main(sys.argv[1:end], sys.argv[end + 1:])
