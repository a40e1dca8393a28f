#!/usr/bin/python3
"""Every opcode of RC, UC and UD between two devices, with pyverbs: messages of one packet and of three, in both directions,
every byte checked. One side is started without SERVER; over TCP they tell each other their queue pairs, and when data is there.

Usage: opcodes.py DEVICE GID_INDEX PORT [SERVER]
"""

import json
import random
import socket
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR, MW, MWBindInfo
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

MTU = 1024
SIZES = (1, 2 * MTU + 3)  # "only"; "first", "middle" and "last", with pad bytes
MOST = 4 * MTU
GRH = 40  # in front of a datagram
QKEY = 0x11111111
IMMEDIATE = 0x12345678
PATIENCE = 60
ACCESS = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC
          | e.IBV_ACCESS_MW_BIND)
SEND, SEND_IMM, SEND_INV = e.IBV_WR_SEND, e.IBV_WR_SEND_WITH_IMM, e.IBV_WR_SEND_WITH_INV
WRITE, WRITE_IMM, READ = e.IBV_WR_RDMA_WRITE, e.IBV_WR_RDMA_WRITE_WITH_IMM, e.IBV_WR_RDMA_READ
SWAP, ADD = e.IBV_WR_ATOMIC_CMP_AND_SWP, e.IBV_WR_ATOMIC_FETCH_AND_ADD
SERVICES = {
    "rc": (e.IBV_QPT_RC, (SEND, SEND_IMM, SEND_INV, WRITE, WRITE_IMM, READ, SWAP, ADD)),
    "uc": (e.IBV_QPT_UC, (SEND, SEND_IMM, WRITE, WRITE_IMM)),
    "ud": (e.IBV_QPT_UD, (SEND, SEND_IMM)),
}
RECEIVED = (SEND, SEND_IMM, SEND_INV, WRITE_IMM)  # these take a receive


def pattern(opcode, size, what):
    return random.Random(f"{opcode} {size} {what}").randbytes(size)


def require(condition, *words):
    if not condition:
        sys.exit(" ".join(map(str, ("opcodes:", *words))))


class Side:
    """A queue pair, its memory, and what the peer has told of its own. The first half is what others send, read or write."""

    def __init__(self, device, context, pd, gid_index, service, peer):
        self.service, self.peer = service, peer
        kind, self.opcodes = SERVICES[service]
        self.cq = CQ(context, 100)
        self.pd = pd
        # Soft-RoCE gives programs the kernel's own flag (IB_WC_WITH_INVALIDATE), which is another one of theirs.
        self.invalidated = e.IBV_WC_WITH_INV | (e.IBV_WC_IP_CSUM_OK if device.startswith("rxe") else 0)
        self.memory = MR(pd, 2 * MOST, ACCESS)
        self.qp = QP(pd, QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq, sq_sig_all=1, cap=QPCap(max_send_wr=8, max_recv_wr=8)))
        address = context.query_gid(1, gid_index)
        theirs = peer.exchange({"qpn": self.qp.qp_num, "gid": address.gid, "address": self.memory.buf, "rkey": self.memory.rkey})
        self.qpn, self.address, self.rkey = theirs["qpn"], theirs["address"], theirs["rkey"]
        route = GlobalRoute(dgid=GID(theirs["gid"]), sgid_index=gid_index)
        path = AHAttr(gr=route, is_global=1, port_num=1)
        attributes = QPAttr(port_num=1)
        if service == "ud":
            attributes.qkey = QKEY
            self.handle = AH(pd, attr=path)
        else:
            attributes.qp_access_flags = ACCESS & ~e.IBV_ACCESS_MW_BIND
            attributes.path_mtu = e.IBV_MTU_1024
            attributes.dest_qp_num = self.qpn
            attributes.ah_attr = path
            attributes.max_rd_atomic = attributes.max_dest_rd_atomic = 1
            attributes.timeout, attributes.retry_cnt, attributes.rnr_retry, attributes.min_rnr_timer = 17, 7, 7, 12
        self.qp.to_rts(attributes)
        self.peer.exchange("ready")

    def completion(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            count, completions = self.cq.poll(1)
            if count:
                require(completions[0].status == e.IBV_WC_SUCCESS, self.service, "completion with status", completions[0].status)
                return completions[0]
        require(False, self.service, "no completion")

    def send(self, opcode, size):
        """What is sent, written, read and asked for lies in the second half."""
        told = self.peer.hear()  # the peer is prepared
        if opcode != READ:
            self.memory.write(pattern(opcode, size, "data"), size, MOST)
        wr = SendWR(opcode=opcode, num_sge=1, sg=[SGE(self.memory.buf + MOST, size, self.memory.lkey)])
        if opcode in (WRITE, WRITE_IMM, READ):
            wr.set_wr_rdma(self.rkey, self.address)
        if opcode in (SWAP, ADD):
            wr.set_wr_atomic(self.rkey, self.address, told["before"] if opcode == SWAP else 5, 7)
        if opcode in (SEND_IMM, WRITE_IMM):
            wr.imm_data = socket.htonl(IMMEDIATE)
        if opcode == SEND_INV:
            wr.imm_data = told["window"]  # one field for both
        if self.service == "ud":
            wr.set_wr_ud(self.handle, self.qpn, QKEY)
        self.qp.post_send(wr)
        self.completion()
        if opcode == READ:
            require(self.memory.read(size, MOST) == pattern(opcode, size, "data"), "READ brings wrong data")
        if opcode in (SWAP, ADD):
            found = int.from_bytes(self.memory.read(8, MOST), sys.byteorder)
            require(found == told["before"], "an atomic returns", found, "instead of", told["before"])
        self.peer.tell("done")
        require(self.peer.hear() == "right", "the peer is not content")

    def receive(self, opcode, size):
        told = {}
        self.memory.write(bytes(MOST), MOST, 0)
        in_front = GRH if self.service == "ud" else 0
        if opcode in RECEIVED:
            self.qp.post_recv(RecvWR(sg=[SGE(self.memory.buf, MOST, self.memory.lkey)], num_sge=1))
        if opcode == READ:
            self.memory.write(pattern(opcode, size, "data"), size, 0)
        if opcode in (SWAP, ADD):
            told["before"] = random.getrandbits(60)
            self.memory.write(told["before"].to_bytes(8, sys.byteorder), 8, 0)
        if opcode == SEND_INV:
            told["window"] = self.bind()
        self.peer.tell(told)
        expected = pattern(opcode, size, "data")
        if opcode == SWAP:
            expected = (7).to_bytes(8, sys.byteorder)
        if opcode == ADD:
            expected = (told["before"] + 5).to_bytes(8, sys.byteorder)
        if opcode in RECEIVED:
            done = self.completion()
            length = 0 if opcode == WRITE_IMM else in_front
            require(done.byte_len == size + length, "byte_len", done.byte_len, "instead of", size + length)
            if opcode in (SEND_IMM, WRITE_IMM):
                require(socket.ntohl(done.imm_data) == IMMEDIATE and done.wc_flags & e.IBV_WC_WITH_IMM, "wrong immediate data")
            if opcode == SEND_INV:
                require(done.imm_data == told["window"] and done.wc_flags & self.invalidated, "invalid is", hex(done.imm_data),
                        "instead of", hex(told["window"]), "with flags", done.wc_flags)
        # A write of UC has no completion here, and the sender's comes before it has arrived.
        deadline = time.monotonic() + PATIENCE
        while self.memory.read(size, in_front) != expected and time.monotonic() < deadline:
            time.sleep(0.01)
        require(self.memory.read(size, in_front) == expected, "wrong data")
        require(self.memory.read(MOST - in_front - size, in_front + size) == bytes(MOST - in_front - size), "bytes behind the data")
        require(self.peer.hear() == "done", "the peer has not sent")
        self.peer.tell("right")

    def bind(self):
        """A memory window of type 2; its key."""
        self.window = MW(self.pd, mw_type=e.IBV_MW_TYPE_2)
        wr = SendWR(opcode=e.IBV_WR_BIND_MW)
        wr.set_bind_wr(self.window, MWBindInfo(self.memory, self.memory.buf, MOST, e.IBV_ACCESS_REMOTE_WRITE))
        key = wr.rkey
        self.qp.post_send(wr)
        self.completion()
        return key


class Peer:
    def __init__(self, port, server):
        if server:
            self._socket = socket.create_connection((server, port), timeout=PATIENCE)
        else:
            with socket.create_server(("", port)) as listener:
                self._socket, _ = listener.accept()
        self._socket.settimeout(PATIENCE)
        self._lines = self._socket.makefile()

    def tell(self, what):
        self._socket.sendall(json.dumps(what).encode() + b"\n")

    def hear(self):
        line = self._lines.readline()
        require(line, "the peer has ended")
        return json.loads(line)

    def exchange(self, what):
        self.tell(what)
        return self.hear()


def main():
    device, gid_index, port, *server = sys.argv[1:]
    peer = Peer(int(port), *(server or [None]))
    context = Context(name=device)
    pd = PD(context)
    sides = [Side(device, context, pd, int(gid_index), service, peer) for service in SERVICES]
    count = 0
    for side in sides:
        for opcode in side.opcodes:
            for size in (8,) if opcode in (SWAP, ADD) else SIZES[:1] if side.service == "ud" else SIZES:
                for sends in (True, False) if server else (False, True):
                    (side.send if sends else side.receive)(opcode, size)
                    count += 1
    print(f"{count} messages were right")


if __name__ == "__main__":
    main()
