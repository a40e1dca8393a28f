#!/usr/bin/python3
"""A first RDMA program: urnic0 writes a line of text into the memory of urnic1. The same as first.c."""

import sys

from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.enums import (IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_WRITE, IBV_MTU_1024, IBV_QPT_RC,
                           IBV_WC_SUCCESS, IBV_WR_RDMA_WRITE)
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

PORT, GID_INDEX, FIRST_PSN, SIZE = 1, 1, 1000, 64


class End:
    """One end of a connection, on the device of that name: memory, and what a connection needs."""

    def __init__(self, name):
        self.device = Context(name=name)
        self.pd = PD(self.device)
        self.mr = MR(self.pd, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
        self.cq = CQ(self.device, 16)
        kind = QPInitAttr(qp_type=IBV_QPT_RC, scq=self.cq, rcq=self.cq,
                          cap=QPCap(max_send_wr=16, max_recv_wr=16, max_send_sge=1, max_recv_sge=1))
        self.attributes = QPAttr(port_num=PORT)
        self.attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE
        self.qp = QP(self.pd, kind, self.attributes)  # which is in the state INIT then

    def connect(self, peer):
        """Leads the queue pair to the state in which it can send, with `peer` as the other end."""
        route = GlobalRoute(dgid=peer.device.query_gid(PORT, GID_INDEX), sgid_index=GID_INDEX)
        self.attributes.ah_attr = AHAttr(port_num=PORT, is_global=1, gr=route)
        self.attributes.path_mtu = IBV_MTU_1024
        self.attributes.dest_qp_num = peer.qp.qp_num
        self.attributes.rq_psn = self.attributes.sq_psn = FIRST_PSN
        self.attributes.max_rd_atomic = self.attributes.max_dest_rd_atomic = 1
        self.attributes.min_rnr_timer = 12
        self.attributes.timeout, self.attributes.retry_cnt, self.attributes.rnr_retry = 14, 7, 7
        self.qp.to_rts(self.attributes)

    def write_to(self, peer):
        """Asks the device to copy this end's memory to the peer's, and waits until it has."""
        request = SendWR(opcode=IBV_WR_RDMA_WRITE, num_sge=1, sg=[SGE(self.mr.buf, SIZE, self.mr.lkey)])
        request.set_wr_rdma(peer.mr.rkey, peer.mr.buf)
        self.qp.post_send(request)
        print("completion:", self.wait())

    def wait(self):
        """Waits for one completion; returns its status in words."""
        count = 0
        while count == 0:
            count, completions = self.cq.poll(1)
        if completions[0].status != IBV_WC_SUCCESS:
            sys.exit(f"the request failed with status {completions[0].status}")
        return "success"


def main():
    writer, target = End("urnic0"), End("urnic1")
    writer.connect(target)
    target.connect(writer)

    line = b"written by urnic0 with RDMA"
    writer.mr.write(line, len(line))
    writer.write_to(target)
    print("urnic1's memory:", target.mr.read(len(line), 0).decode())


if __name__ == "__main__":
    main()
