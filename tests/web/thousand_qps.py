"""Opens many connected queue pairs on one device by pyverbs, and waits to be ended."""

import sys
import time

from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
import pyverbs.enums as e


def connected(context, pd, cq):
    """A queue pair that is connected to itself."""
    qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=4, max_recv_wr=4)))
    attributes = QPAttr(port_num=1)
    attributes.qp_access_flags = e.IBV_ACCESS_REMOTE_WRITE
    attributes.dest_qp_num = qp.qp_num
    attributes.path_mtu = e.IBV_MTU_1024
    attributes.max_rd_atomic = attributes.max_dest_rd_atomic = 1
    attributes.timeout, attributes.retry_cnt, attributes.rnr_retry = 14, 7, 7
    gid = context.query_gid(port_num=1, index=1)
    attributes.ah_attr = AHAttr(port_num=1, is_global=1, gr=GlobalRoute(dgid=gid, sgid_index=1))
    qp.to_rts(attributes)
    return qp


def main():
    context = Context(name=sys.argv[1])
    pd = PD(context)
    cq = CQ(context, 1000)
    queue_pairs = [connected(context, pd, cq) for _ in range(int(sys.argv[2]))]
    print(f"{len(queue_pairs)} queue pairs are ready", flush=True)
    time.sleep(600)


main()
