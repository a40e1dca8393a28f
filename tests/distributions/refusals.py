#!/usr/bin/python3
"""What urnic refuses as a device that has not got it, and with which errno: rdma-core's own suites skip their tests of it.

Usage: refusals.py DEVICE. Runs by the libibverbs and the pyverbs of the distribution that it is on, and prints a line for
each refusal that this release's programs can ask for.
"""

import errno
import importlib.util
import pathlib
import sys

from pyverbs.cq import CQ
from pyverbs.device import DM, AllocDmAttr, Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPCap, QPEx, QPInitAttrEx

# Of infiniband/verbs.h; pyverbs has them under names that differ by release.
RC, WITH_PD, WITH_OPERATIONS, LOCAL_WRITE = 2, 1 << 0, 1 << 6, 1 << 0
SEND, FLUSH = 1 << 2, 1 << 11
FLUSH_GLOBAL, FLUSH_PERSISTENT = 1 << 8, 1 << 9


def refused(what, name, function):
    try:
        function()
    except PyverbsRDMAError as error:
        assert error.error_code == getattr(errno, name), f"{what}: {error}"
    else:
        raise AssertionError(f"{what}: not refused")
    print(f"{what}: {name}")


def flush(context, domain):
    queue = CQ(context, 8)

    def make(operations):
        QPEx(context, QPInitAttrEx(qp_type=RC, scq=queue, rcq=queue, cap=QPCap(), pd=domain, send_ops_flags=operations,
                                   comp_mask=WITH_PD | WITH_OPERATIONS))

    make(SEND)
    refused("a QP with FLUSH", "EOPNOTSUPP", lambda: make(SEND | FLUSH))
    for access in (FLUSH_GLOBAL, FLUSH_PERSISTENT):
        refused(f"a region with access 0x{access:x}", "EOPNOTSUPP", lambda: MR(domain, 64, LOCAL_WRITE | access))


def dma_handle(context):
    from pyverbs.mr import DMAHandle, DmaHandleInitAttr
    refused("a DMA handle", "EOPNOTSUPP", lambda: DMAHandle(context, DmaHandleInitAttr()))


def completion_counters(context):
    from pyverbs.comp_cntr import CompCntr, CompCntrInitAttr
    refused("what completion counters can do", "EOPNOTSUPP", context.query_comp_cntr_caps)
    refused("a completion counter", "EOPNOTSUPP", lambda: CompCntr(context, CompCntrInitAttr()))


def main(device):
    with Context(name=device) as context, PD(context) as domain, DM(context, AllocDmAttr(length=64)) as memory:
        flush(context, domain)
        if hasattr(memory, "export_dmabuf_fd"):
            refused("device memory as a dma-buf", "EOPNOTSUPP", memory.export_dmabuf_fd)
        if hasattr(sys.modules["pyverbs.mr"], "DMAHandle"):
            dma_handle(context)
        if importlib.util.find_spec("pyverbs.comp_cntr"):
            completion_counters(context)
    # Where programs look for the device's clock.
    assert not pathlib.Path(f"/sys/class/infiniband/{device}/device/ptp").exists()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
