// Writes messages from urnic0 into urnic1's memory, some of them under way at a time, and says how fast that
// went.
//
// Usage: stream [MESSAGES]
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pair.h"

enum { LENGTH = 65536, AHEAD = 16 };

static char source[LENGTH], target[LENGTH];

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void post_write(const struct end* end, const struct ibv_mr* from, const struct ibv_mr* to) {
  struct ibv_sge segment = {.addr = (uintptr_t)from->addr, .length = LENGTH, .lkey = from->lkey};
  struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_WRITE,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &segment,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)to->addr, .rkey = to->rkey}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(end->qp, &request, &refused), "ibv_post_send");
}

static void wait_for_write(const struct end* end) {
  const struct ibv_wc completion = next_completion(end);
  if (completion.status == IBV_WC_SUCCESS) return;
  fprintf(stderr, "a message failed: %s\n", ibv_wc_status_str(completion.status));
  exit(EXIT_FAILURE);
}

int main(int argc, char** argv) {
  const int messages = argc > 1 ? atoi(argv[1]) : 50;
  struct pair_options options = pair_defaults;
  options.timeout = 18;  // 1.07 s: the links of this lesson are long
  struct end first, second;
  pair_open(&first, &second, &options);
  struct ibv_mr* from = register_memory(&first, source, LENGTH, 0);
  struct ibv_mr* to =
      register_memory(&second, target, LENGTH, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

  const double begin = seconds();
  for (int posted = 0, finished = 0; finished < messages; ++finished) {
    for (; posted < messages && posted - finished < AHEAD; ++posted) post_write(&first, from, to);
    wait_for_write(&first);
  }
  const double time = seconds() - begin;
  printf("%d messages in %.3f s: %.1f Mbit/s\n", messages, time, messages * (LENGTH * 8 / 1e6) / time);

  done(ibv_dereg_mr(from), "ibv_dereg_mr");
  done(ibv_dereg_mr(to), "ibv_dereg_mr");
  pair_close(&first, &second);
  return 0;
}
