// Writes messages from several devices at once until the flow named first has finished, and says what each
// flow has got done by then.
//
// Usage: incast MESSAGES FROM:TO...
// For example "incast 100 urnic1:urnic0 urnic2:urnic0": two senders into one receiver.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pair.h"

enum { LENGTH = 65536, AHEAD = 16, MOST_FLOWS = 8 };

struct flow {
  char* from;
  char* to;
  struct end sender, receiver;
  struct ibv_mr *source, *target;
  int posted, finished;
};

static char source[LENGTH], target[LENGTH];

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void flow_open(struct flow* flow, char* names) {
  flow->from = strtok(names, ":");
  flow->to = strtok(NULL, ":");
  if (flow->from == NULL || flow->to == NULL) {
    fprintf(stderr, "a flow is FROM:TO, for example urnic1:urnic0\n");
    exit(EXIT_FAILURE);
  }
  struct pair_options options = pair_defaults;
  options.timeout = 17;  // 0.5 s: a packet may stand in a long queue
  pair_open_between(&flow->sender, flow->from, &flow->receiver, flow->to, &options);
  flow->source = register_memory(&flow->sender, source, LENGTH, 0);
  flow->target =
      register_memory(&flow->receiver, target, LENGTH, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

static void flow_close(struct flow* flow) {
  done(ibv_dereg_mr(flow->source), "ibv_dereg_mr");
  done(ibv_dereg_mr(flow->target), "ibv_dereg_mr");
  pair_close(&flow->sender, &flow->receiver);
}

static void post_write(struct flow* flow) {
  struct ibv_sge segment = {.addr = (uintptr_t)source, .length = LENGTH, .lkey = flow->source->lkey};
  struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_WRITE,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &segment,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)target, .rkey = flow->target->rkey}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(flow->sender.qp, &request, &refused), "ibv_post_send");
  ++flow->posted;
}

// Keeps messages under way, and counts those that have ended.
static void flow_go_on(struct flow* flow, int messages) {
  while (flow->posted < messages && flow->posted - flow->finished < AHEAD) post_write(flow);
  struct ibv_wc completion;
  const int count = ibv_poll_cq(flow->sender.cq, 1, &completion);
  if (count == 0) return;
  if (count < 0 || completion.status != IBV_WC_SUCCESS) {
    fprintf(stderr, "a message from %s failed: %s\n", flow->from,
            count < 0 ? "poll" : ibv_wc_status_str(completion.status));
    exit(EXIT_FAILURE);
  }
  ++flow->finished;
}

// All flows in turn, until the first one has finished; then what is under way is waited for.
static void run(struct flow* flows, int count, int messages) {
  const double begin = seconds();
  for (int i = 0; flows[0].finished < messages; i = (i + 1) % count)
    flow_go_on(&flows[i], i == 0 ? messages : INT_MAX);
  const double time = seconds() - begin;
  for (int i = 0; i < count; ++i)
    printf("%s to %s: %d messages, %.1f Mbit/s\n", flows[i].from, flows[i].to, flows[i].finished,
           flows[i].finished * (LENGTH * 8 / 1e6) / time);
  for (int i = 0; i < count; ++i)
    while (flows[i].finished < flows[i].posted) flow_go_on(&flows[i], flows[i].posted);
}

int main(int argc, char** argv) {
  static struct flow flows[MOST_FLOWS];
  const int count = argc - 2;
  if (count < 1 || count > MOST_FLOWS) {
    fprintf(stderr, "usage: incast MESSAGES FROM:TO...\n");
    return EXIT_FAILURE;
  }
  for (int i = 0; i < count; ++i) flow_open(&flows[i], argv[i + 2]);
  run(flows, count, atoi(argv[1]));
  for (int i = 0; i < count; ++i) flow_close(&flows[i]);
  return 0;
}
