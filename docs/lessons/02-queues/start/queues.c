// Writes COUNT messages from urnic0 into urnic1's memory, one after another, and says when what happens.
//
// Usage: queues [COUNT]
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pair.h"

enum { SLOTS = 16, MESSAGE = 64 };

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Everything that a request to write needs.
struct writer {
  struct end* end;
  struct ibv_mr* from;
  struct ibv_mr* to;
};

static void post(const struct writer* writer, unsigned long number, unsigned int flags) {
  struct ibv_sge message = {
      .addr = (uintptr_t)writer->from->addr, .length = MESSAGE, .lkey = writer->from->lkey};
  struct ibv_send_wr request = {
      .wr_id = number,
      .opcode = IBV_WR_RDMA_WRITE,
      .send_flags = flags,
      .sg_list = &message,
      .num_sge = 1,
      .wr.rdma = {.remote_addr = (uintptr_t)writer->to->addr, .rkey = writer->to->rkey}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(writer->end->qp, &request, &refused), "ibv_post_send");
}

// Returns the number of the request that has completed.
static unsigned long wait_for_one(const struct writer* writer) {
  const struct ibv_wc completion = next_completion(writer->end);
  if (completion.status == IBV_WC_SUCCESS) return completion.wr_id;
  fprintf(stderr, "request %lu: %s\n", (unsigned long)completion.wr_id, ibv_wc_status_str(completion.status));
  exit(EXIT_FAILURE);
}

static void write_all(const struct writer* writer, unsigned long count) {
  for (unsigned long number = 0; number < count; ++number) {
    post(writer, number, IBV_SEND_SIGNALED);
    wait_for_one(writer);
  }
}

int main(int argc, char** argv) {
  const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
  static char source[MESSAGE], target[MESSAGE];
  struct end first, second;
  struct pair_options options = pair_defaults;
  options.send_slots = SLOTS;
  pair_open(&first, &second, &options);
  struct ibv_mr* from = register_memory(&first, source, MESSAGE, 0);
  struct ibv_mr* to =
      register_memory(&second, target, MESSAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  const struct writer writer = {.end = &first, .from = from, .to = to};

  double begin = seconds();
  post(&writer, 0, IBV_SEND_SIGNALED);
  printf("a request is posted after  %9.6f s\n", seconds() - begin);
  wait_for_one(&writer);
  printf("it is complete after       %9.6f s\n", seconds() - begin);

  begin = seconds();
  write_all(&writer, count);
  const double time = seconds() - begin;
  printf("%lu more take              %9.6f s, %.0f a second\n", count, time, (double)count / time);

  done(ibv_dereg_mr(from), "ibv_dereg_mr");
  done(ibv_dereg_mr(to), "ibv_dereg_mr");
  pair_close(&first, &second);
  return 0;
}
