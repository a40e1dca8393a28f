#!/usr/bin/python3
"""forbid_calls.py ERRNO NAME... -- COMMAND...: runs a command whose system calls of these names fail with this error."""

import ctypes
import errno
import os
import sys

# seccomp.h
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000


def main(error, names, command):
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_load.argtypes = (ctypes.c_void_p,)
    library.seccomp_rule_add.argtypes = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint)
    rules = library.seccomp_init(ALLOW)
    for name in names:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if library.seccomp_rule_add(rules, FAIL_WITH | getattr(errno, error), number, 0) != 0:
            sys.exit(f"libseccomp knows no system call {name}")
    if library.seccomp_load(rules) != 0:
        sys.exit("no filter can be set here")
    os.execvp(command[0], command)


if __name__ == "__main__":
    end = sys.argv.index("--")
    main(sys.argv[1], sys.argv[2:end], sys.argv[end + 1:])
