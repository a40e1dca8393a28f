// urnic0 sends messages as fast as it can. urnic1 works on each of them for a while, and has few receives.
//
// Usage: mail [COUNT]
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "pair.h"

enum { RECEIVES = 8 };
static const struct timespec kWork = {.tv_nsec = 2000000};

static struct {
  struct end sender, receiver;
  unsigned long count;
  uint64_t message;  // where the receiver finds it
  struct ibv_mr* message_region;
  _Atomic uint64_t granted;  // how many messages the sender may send: the receiver writes it by RDMA
  struct ibv_mr* granted_region;
} mail;

// The sender calls this before it sends the message of that number, from 0.
static void wait_for_credit(unsigned long number) {
  while (atomic_load(&mail.granted) <= number) thrd_yield();
}

// The receiver calls this when it has posted receives: `total` of them since the beginning.
static void give_credit(unsigned long total) {
  struct ibv_sge segment = {.addr = (uintptr_t)&total, .length = sizeof total};
  struct ibv_send_wr request = {
      .opcode = IBV_WR_RDMA_WRITE,
      .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
      .sg_list = &segment,
      .num_sge = 1,
      .wr.rdma = {.remote_addr = (uintptr_t)&mail.granted, .rkey = mail.granted_region->rkey}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(mail.receiver.qp, &request, &refused), "ibv_post_send");
}

static void require_success(struct ibv_wc completion, const char* what) {
  if (completion.status == IBV_WC_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", what, ibv_wc_status_str(completion.status));
  exit(EXIT_FAILURE);
}

static int send_all(void* unused) {
  (void)unused;
  for (uint64_t number = 0; number < mail.count; ++number) {
    wait_for_credit(number);
    struct ibv_sge segment = {.addr = (uintptr_t)&number, .length = sizeof number};
    struct ibv_send_wr request = {.opcode = IBV_WR_SEND,
                                  .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
                                  .sg_list = &segment,
                                  .num_sge = 1};
    struct ibv_send_wr* refused = NULL;
    done(ibv_post_send(mail.sender.qp, &request, &refused), "ibv_post_send");
    require_success(next_completion(&mail.sender), "a message cannot be sent");
  }
  return 0;
}

static void post_receive(void) {
  struct ibv_sge segment = {
      .addr = (uintptr_t)&mail.message, .length = sizeof mail.message, .lkey = mail.message_region->lkey};
  struct ibv_recv_wr receive = {.sg_list = &segment, .num_sge = 1};
  struct ibv_recv_wr* refused = NULL;
  done(ibv_post_recv(mail.receiver.qp, &receive, &refused), "ibv_post_recv");
}

// Waits for the next message. The receiver's own requests complete, too.
static void receive(void) {
  struct ibv_wc completion;
  do {
    completion = next_completion(&mail.receiver);
    require_success(completion, "the receiver");
  } while (completion.opcode != IBV_WC_RECV);
}

static void receive_all(void) {
  unsigned long total = 0;
  for (; total < RECEIVES; ++total) post_receive();
  give_credit(total);
  for (unsigned long number = 0; number < mail.count; ++number) {
    receive();
    thrd_sleep(&kWork, NULL);
    post_receive();
    give_credit(++total);
  }
}

int main(int argc, char** argv) {
  mail.count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
  pair_open(&mail.sender, &mail.receiver, &pair_defaults);
  mail.message_region =
      register_memory(&mail.receiver, &mail.message, sizeof mail.message, IBV_ACCESS_LOCAL_WRITE);
  mail.granted_region = register_memory(&mail.sender, &mail.granted, sizeof mail.granted,
                                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

  thrd_t sender;
  done(thrd_create(&sender, send_all, NULL) == thrd_success ? 0 : EAGAIN, "thrd_create");
  receive_all();
  thrd_join(sender, NULL);
  printf("%lu messages were sent and received\n", mail.count);

  done(ibv_dereg_mr(mail.granted_region), "ibv_dereg_mr");
  done(ibv_dereg_mr(mail.message_region), "ibv_dereg_mr");
  pair_close(&mail.sender, &mail.receiver);
  return 0;
}
