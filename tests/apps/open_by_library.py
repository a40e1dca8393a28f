#!/usr/bin/python3
"""open_by_library.py LIBRARY...: loads each libibverbs with RTLD_LOCAL ("later:" before a name: when the ones before it
have listed their devices) and prints for each how many devices it lists and whether it opened the first."""

import ctypes
import os
import sys

POINTER = ctypes.c_void_p


def load(path):
    library = ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)
    for name in ("ibv_get_device_list", "ibv_open_device", "ibv_alloc_pd"):
        getattr(library, name).restype = POINTER
    for name in ("ibv_open_device", "ibv_alloc_pd", "ibv_dealloc_pd", "ibv_close_device"):
        getattr(library, name).argtypes = [POINTER]
    return library


def use(library):
    count = ctypes.c_int()
    devices = library.ibv_get_device_list(ctypes.byref(count))
    opened = False
    if count.value:
        context = library.ibv_open_device(ctypes.cast(devices, ctypes.POINTER(POINTER))[0])
        domain = library.ibv_alloc_pd(context)
        opened = bool(domain) and library.ibv_dealloc_pd(domain) == 0 and library.ibv_close_device(context) == 0
    print(count.value, "opened" if opened else "nothing opened", flush=True)


LATER = "later:"
loaded = {name: load(name) for name in sys.argv[1:] if not name.startswith(LATER)}
for wanted in sys.argv[1:]:
    use(loaded[wanted] if wanted in loaded else load(wanted[len(LATER):]))
