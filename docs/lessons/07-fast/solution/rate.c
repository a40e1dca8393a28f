// Measures how many small requests a second urnic0 carries out at urnic1.
//
// Usage: rate write|read|send [COUNT]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pair.h"

enum { SLOTS = 128, BATCH = 16, SIZE = 32 };

static char source[SIZE], target[SIZE];

struct job {
  enum ibv_wr_opcode operation;
  long count;
  struct end requester, responder;
  struct ibv_mr *from, *to;
};

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Posts `count` receives.
static void post_receives(const struct job* job, long count) {
  struct ibv_sge segment = {.addr = (uintptr_t)target, .length = SIZE, .lkey = job->to->lkey};
  struct ibv_recv_wr receive = {.sg_list = &segment, .num_sge = 1};
  struct ibv_recv_wr* refused = NULL;
  for (long i = 0; i < count; ++i)
    done(ibv_post_recv(job->responder.qp, &receive, &refused), "ibv_post_recv");
}

// Posts requests, at least one and at most `most`. Returns how many. They are a chain, so the doorbell rings
// once; only the last one has a completion, which stands for all; and data that is small travels with the
// request.
static long post_requests(const struct job* job, long most) {
  struct ibv_sge segment = {.addr = (uintptr_t)source, .length = SIZE, .lkey = job->from->lkey};
  struct ibv_send_wr chain[BATCH];
  const long count = most < BATCH ? most : BATCH;
  for (long i = 0; i < count; ++i) {
    chain[i] = (struct ibv_send_wr){.next = &chain[i + 1],
                                    .opcode = job->operation,
                                    .send_flags = job->operation == IBV_WR_RDMA_READ ? 0 : IBV_SEND_INLINE,
                                    .sg_list = &segment,
                                    .num_sge = 1,
                                    .wr.rdma = {.remote_addr = (uintptr_t)target, .rkey = job->to->rkey}};
  }
  chain[count - 1].next = NULL;
  chain[count - 1].send_flags |= IBV_SEND_SIGNALED;
  chain[count - 1].wr_id = (uint64_t)count;  // how many requests the completion stands for
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(job->requester.qp, chain, &refused), "ibv_post_send");
  return count;
}

// Takes completions, if there are any. Returns the sum of their wr_id.
static long take_completions(const struct end* end) {
  struct ibv_wc completions[16];
  const int count = ibv_poll_cq(end->cq, 16, completions);
  done(count < 0 ? EXIT_FAILURE : 0, "ibv_poll_cq");
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    if (completions[i].status != IBV_WC_SUCCESS) {
      fprintf(stderr, "a request failed: %s\n", ibv_wc_status_str(completions[i].status));
      exit(EXIT_FAILURE);
    }
    sum += (long)completions[i].wr_id;
  }
  return sum;
}

// Each receive that was used is posted again.
static void renew_receives(const struct job* job) {
  struct ibv_wc completions[16];
  const int count = ibv_poll_cq(job->responder.cq, 16, completions);
  done(count < 0 ? EXIT_FAILURE : 0, "ibv_poll_cq");
  post_receives(job, count);
}

static void run(const struct job* job) {
  long posted = 0, finished = 0;
  while (finished < job->count) {
    while (posted < job->count && posted - finished < SLOTS) {
      const long room = SLOTS - (posted - finished), rest = job->count - posted;
      posted += post_requests(job, room < rest ? room : rest);
    }
    finished += take_completions(&job->requester);
    if (job->operation == IBV_WR_SEND) renew_receives(job);
  }
}

static enum ibv_wr_opcode operation_named(const char* name) {
  if (strcmp(name, "write") == 0) return IBV_WR_RDMA_WRITE;
  if (strcmp(name, "read") == 0) return IBV_WR_RDMA_READ;
  if (strcmp(name, "send") == 0) return IBV_WR_SEND;
  fprintf(stderr, "rate: there is no operation '%s': write, read or send\n", name);
  exit(EXIT_FAILURE);
}

int main(int argc, char** argv) {
  struct job job = {.operation = operation_named(argc > 1 ? argv[1] : "write"),
                    .count = argc > 2 ? atol(argv[2]) : 300000};
  struct pair_options options = pair_defaults;
  options.send_slots = SLOTS;
  options.receive_slots = 2 * SLOTS;
  options.completion_slots = 4 * SLOTS;
  pair_open(&job.requester, &job.responder, &options);
  job.from = register_memory(&job.requester, source, SIZE, IBV_ACCESS_LOCAL_WRITE);
  job.to = register_memory(&job.responder, target, SIZE,
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  if (job.operation == IBV_WR_SEND) post_receives(&job, 2 * SLOTS);

  const double begin = seconds();
  run(&job);
  const double time = seconds() - begin;
  printf("%-6s %8.3f million a second\n", argc > 1 ? argv[1] : "write", (double)job.count / time / 1e6);

  done(ibv_dereg_mr(job.from), "ibv_dereg_mr");
  done(ibv_dereg_mr(job.to), "ibv_dereg_mr");
  pair_close(&job.requester, &job.responder);
  return 0;
}
