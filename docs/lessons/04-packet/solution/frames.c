// Sends requests of several kinds from urnic0 to urnic1, so that there are packets to look at.
//
// Usage: frames [COUNT]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pair.h"

enum { MOST = 200, LENGTH = 3000 };

static char source[LENGTH];
static _Alignas(8) char target[LENGTH];

static void post_receive(const struct end* end, const struct ibv_mr* place) {
  struct ibv_sge segment = {.addr = (uintptr_t)place->addr, .length = LENGTH, .lkey = place->lkey};
  struct ibv_recv_wr receive = {.sg_list = &segment, .num_sge = 1};
  struct ibv_recv_wr* refused = NULL;
  done(ibv_post_recv(end->qp, &receive, &refused), "ibv_post_recv");
}

static void carry_out(const struct end* end, struct ibv_send_wr request) {
  struct ibv_send_wr* refused = NULL;
  request.send_flags = IBV_SEND_SIGNALED;
  done(ibv_post_send(end->qp, &request, &refused), "ibv_post_send");
  const struct ibv_wc completion = next_completion(end);
  if (completion.status == IBV_WC_SUCCESS) return;
  fprintf(stderr, "request failed: %s\n", ibv_wc_status_str(completion.status));
  exit(EXIT_FAILURE);
}

// The request of that number: each is of another kind and length than the one before it.
static void send_one(const struct end* end, const struct ibv_mr* from, const struct ibv_mr* to, int number) {
  const enum ibv_wr_opcode kinds[] = {IBV_WR_RDMA_WRITE, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_READ,
                                      IBV_WR_ATOMIC_FETCH_AND_ADD};
  struct ibv_send_wr request = {.opcode = kinds[number % 4], .num_sge = 1};
  struct ibv_sge segment = {.addr = (uintptr_t)from->addr,
                            .length = (unsigned int)(17 + 437 * number) % LENGTH,
                            .lkey = from->lkey};
  request.sg_list = &segment;
  if (request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    segment.length = 8;
    request.wr.atomic.remote_addr = (uintptr_t)to->addr;
    request.wr.atomic.rkey = to->rkey;
    request.wr.atomic.compare_add = 1;
  } else {
    request.imm_data = (unsigned int)number;
    request.wr.rdma.remote_addr = (uintptr_t)to->addr;
    request.wr.rdma.rkey = to->rkey;
  }
  carry_out(end, request);
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 4;
  if (count < 1 || count > MOST) {
    fprintf(stderr, "frames: from 1 to %d requests\n", MOST);
    return EXIT_FAILURE;
  }
  struct pair_options options = pair_defaults;
  options.receive_slots = options.completion_slots = MOST;
  struct end first, second;
  pair_open(&first, &second, &options);
  const int rights =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  struct ibv_mr* from = register_memory(&first, source, LENGTH, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_mr* to = register_memory(&second, target, LENGTH, rights);
  memset(source, 'u', LENGTH);

  for (int number = 0; number < count; ++number) post_receive(&second, to);
  for (int number = 0; number < count; ++number) send_one(&first, from, to, number);

  done(ibv_dereg_mr(from), "ibv_dereg_mr");
  done(ibv_dereg_mr(to), "ibv_dereg_mr");
  pair_close(&first, &second);
  return 0;
}
