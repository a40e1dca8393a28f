// urnic1 waits for messages of urnic0, which come seldom, and says how much processor time the waiting took.
//
// Usage: listener
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "pair.h"

enum { MESSAGES = 10, LENGTH = 64 };
static const struct timespec kPause = {.tv_nsec = 100000000};

static void post_receive(const struct end* end, const struct ibv_mr* place) {
  struct ibv_sge segment = {.addr = (uintptr_t)place->addr, .length = LENGTH, .lkey = place->lkey};
  struct ibv_recv_wr receive = {.sg_list = &segment, .num_sge = 1};
  struct ibv_recv_wr* refused = NULL;
  done(ibv_post_recv(end->qp, &receive, &refused), "ibv_post_recv");
}

// The thread of urnic0: a message, a pause, a message, ... It wants no completions.
static int send_messages(void* argument) {
  const struct end* end = argument;
  char text[LENGTH] = "a message";
  for (int i = 0; i < MESSAGES; ++i) {
    thrd_sleep(&kPause, NULL);
    struct ibv_sge segment = {.addr = (uintptr_t)text, .length = LENGTH};
    struct ibv_send_wr request = {
        .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE, .sg_list = &segment, .num_sge = 1};
    struct ibv_send_wr* refused = NULL;
    done(ibv_post_send(end->qp, &request, &refused), "ibv_post_send");
  }
  return 0;
}

static void wait_for_message(const struct end* end) {
  const struct ibv_wc completion = next_completion(end);
  if (completion.status == IBV_WC_SUCCESS) return;
  fprintf(stderr, "a receive failed: %s\n", ibv_wc_status_str(completion.status));
  exit(EXIT_FAILURE);
}

int main(void) {
  static char memory[LENGTH];
  struct end sender, receiver;
  pair_open(&sender, &receiver, &pair_defaults);
  struct ibv_mr* place = register_memory(&receiver, memory, LENGTH, IBV_ACCESS_LOCAL_WRITE);
  for (int i = 0; i < MESSAGES; ++i) post_receive(&receiver, place);

  thrd_t thread;
  done(thrd_create(&thread, send_messages, &sender) == thrd_success ? 0 : EAGAIN, "thrd_create");
  const clock_t begin = clock();
  for (int i = 0; i < MESSAGES; ++i) wait_for_message(&receiver);
  printf("%d messages, %.3f s of processor time\n", MESSAGES, (double)(clock() - begin) / CLOCKS_PER_SEC);

  thrd_join(thread, NULL);
  done(ibv_dereg_mr(place), "ibv_dereg_mr");
  pair_close(&sender, &receiver);
  return 0;
}
