#!/usr/bin/python3
"""unit_settings.py UNIT [--] COMMAND...: runs a command under the settings of a systemd unit's [Service], as systemd.exec(5) says.

Makes the same limits and the same filters of system calls as systemd does (src/shared/seccomp-util.c), so that a unit can be
tried where no systemd runs. Ends with status 3 at a setting that it does not know: none goes untried.
"""

import configparser
import ctypes
import errno
import os
import resource
import socket
import sys

PR_SET_NO_NEW_PRIVS = 38
UNKNOWN = 3

# seccomp.h
ALLOW, FAIL_WITH, KILL = 0x7FFF0000, 0x00050000, 0x80000000
BAD_ARCHITECTURE = 2  # SCMP_FLTATR_ACT_BADARCH
NOT_EQUAL, GREATER_OR_EQUAL, EQUAL, MASKED_EQUAL = 1, 5, 4, 7
PROT_WRITE, PROT_EXEC, SHM_EXEC = 2, 4, 0o100000
SET_USER_OR_GROUP_ID = 0o4000, 0o2000
FAMILIES = 64  # and more than Linux has


class Comparison(ctypes.Structure):
    """scmp_arg_cmp: of an argument of a call with `value`, or of what `value` masks of it with `other`."""
    _fields_ = (("argument", ctypes.c_uint), ("operation", ctypes.c_int), ("value", ctypes.c_uint64), ("other", ctypes.c_uint64))


class Filter:
    """All calls are allowed but those that a rule names. Other architectures end the process, if `native_only`."""

    def __init__(self):
        self.library = ctypes.CDLL("libseccomp.so.2")
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.library.seccomp_load.argtypes = (ctypes.c_void_p,)
        self.library.seccomp_attr_set.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32)
        self.library.seccomp_rule_add_array.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint,
                                                        ctypes.POINTER(Comparison))
        self.rules = self.library.seccomp_init(ALLOW)
        self.library.seccomp_attr_set(self.rules, BAD_ARCHITECTURE, ALLOW)

    def native_only(self):
        self.library.seccomp_attr_set(self.rules, BAD_ARCHITECTURE, KILL)

    def refuse(self, error, call, *comparisons):
        number = self.library.seccomp_syscall_resolve_name(call.encode())
        if number < 0:  # not of this processor
            return
        array = (Comparison * len(comparisons))(*(Comparison(*one) for one in comparisons))
        failed = self.library.seccomp_rule_add_array(self.rules, FAIL_WITH | error, number, len(comparisons), array)
        if failed:
            sys.exit(f"unit_settings.py: libseccomp takes no rule for {call}: {os.strerror(-failed)}")

    def load(self):
        failed = self.library.seccomp_load(self.rules)
        if failed:
            sys.exit(f"unit_settings.py: no filter can be set here: {os.strerror(-failed)}")


# One function for each setting. All take the filter and the setting's words.

def restrict_address_families(rules, words):
    """A list of those allowed."""
    allowed = {getattr(socket, word).value for word in words}
    for family in range(FAMILIES):
        if family not in allowed:
            rules.refuse(errno.EAFNOSUPPORT, "socket", (0, EQUAL, family))
    rules.refuse(errno.EAFNOSUPPORT, "socket", (0, GREATER_OR_EQUAL, FAMILIES))


def lock_personality(rules, _):
    present = ctypes.CDLL(None).personality(0xFFFFFFFF)
    rules.refuse(errno.EPERM, "personality", (0, NOT_EQUAL, present))


def restrict_realtime(rules, _):
    for policy in (os.SCHED_FIFO, os.SCHED_RR, 6):  # SCHED_DEADLINE
        rules.refuse(errno.EPERM, "sched_setscheduler", (1, EQUAL, policy))


def restrict_suid_sgid(rules, _):
    for bit in SET_USER_OR_GROUP_ID:
        for call, mode in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("mkdir", 1), ("mkdirat", 2), ("mknod", 1), ("mknodat", 2)):
            rules.refuse(errno.EPERM, call, (mode, MASKED_EQUAL, bit, bit))
        for call, flags in (("open", 1), ("openat", 2)):
            rules.refuse(errno.EPERM, call, (flags, MASKED_EQUAL, os.O_CREAT, os.O_CREAT), (flags + 1, MASKED_EQUAL, bit, bit))


def memory_deny_write_execute(rules, _):
    both = PROT_WRITE | PROT_EXEC
    rules.refuse(errno.EPERM, "mmap", (2, MASKED_EQUAL, both, both))
    for call in ("mprotect", "pkey_mprotect"):
        rules.refuse(errno.EPERM, call, (2, MASKED_EQUAL, PROT_EXEC, PROT_EXEC))
    rules.refuse(errno.EPERM, "shmat", (2, MASKED_EQUAL, SHM_EXEC, SHM_EXEC))


def limit(kind):
    """As systemd: what is above the hard limit becomes the hard limit."""
    def set_limit(_, words):
        wanted, hard = int(words[0]), resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))
    return set_limit


SETTINGS = {
    "RestrictAddressFamilies": restrict_address_families,
    "LockPersonality": lock_personality,
    "RestrictRealtime": restrict_realtime,
    "RestrictSUIDSGID": restrict_suid_sgid,
    "MemoryDenyWriteExecute": memory_deny_write_execute,
    "SystemCallArchitectures": lambda rules, _: rules.native_only(),
    "LimitNOFILE": limit(resource.RLIMIT_NOFILE),
    "LimitCORE": limit(resource.RLIMIT_CORE),
    "UMask": lambda _, words: os.umask(int(words[0], 8)),
    "NoNewPrivileges": lambda _, words: None,  # below, before the filter, which needs it
}
# Those that say what is run and when, not what it may do.
OTHERS = {"Type", "ExecStart", "Restart"}


def settings_of(unit):
    parser = configparser.ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str
    parser.read(unit)
    return dict(parser["Service"])


def main(unit, command):
    settings = settings_of(unit)
    unknown = settings.keys() - SETTINGS.keys() - OTHERS
    if unknown:
        print(f"unit_settings.py: {unit} has settings that are not tried: {', '.join(sorted(unknown))}", file=sys.stderr)
        return UNKNOWN
    # A user's unit can have a filter only with it.
    if settings.get("NoNewPrivileges") == "yes":
        ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    rules = Filter()
    for name, value in settings.items():
        if name in SETTINGS and value != "no":
            SETTINGS[name](rules, value.split())
    rules.load()
    os.execvp(command[0], command)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--"]
    sys.exit(main(words[0], words[1:]))
