// Writes messages from urnic0 into urnic1's memory, one after another, and says how each of them ends, and
// when.
//
// Usage: transfer [MESSAGES [BYTES]]
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pair.h"

enum { MOST = 1 << 20 };

static char source[MOST], target[MOST];

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static enum ibv_wc_status write_message(const struct end* end, const struct ibv_mr* from,
                                        const struct ibv_mr* to, unsigned int length) {
  struct ibv_sge segment = {.addr = (uintptr_t)from->addr, .length = length, .lkey = from->lkey};
  struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_WRITE,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &segment,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)to->addr, .rkey = to->rkey}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(end->qp, &request, &refused), "ibv_post_send");
  return next_completion(end).status;
}

int main(int argc, char** argv) {
  const int messages = argc > 1 ? atoi(argv[1]) : 1;
  const int length = argc > 2 ? atoi(argv[2]) : 8192;
  if (messages < 1 || length < 0 || length > MOST) {
    fprintf(stderr, "transfer: at least one message, of at most %d bytes\n", MOST);
    return EXIT_FAILURE;
  }
  struct end first, second;
  pair_open(&first, &second, &pair_defaults);
  struct ibv_mr* from = register_memory(&first, source, MOST, 0);
  struct ibv_mr* to =
      register_memory(&second, target, MOST, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

  enum ibv_wc_status status = IBV_WC_SUCCESS;
  for (int number = 1; number <= messages && status == IBV_WC_SUCCESS; ++number) {
    const double begin = seconds();
    status = write_message(&first, from, to, (unsigned int)length);
    printf("message %d: %s after %.6f s\n", number, ibv_wc_status_str(status), seconds() - begin);
  }

  done(ibv_dereg_mr(from), "ibv_dereg_mr");
  done(ibv_dereg_mr(to), "ibv_dereg_mr");
  pair_close(&first, &second);
  return status == IBV_WC_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
