// A teller, on urnic0, writes orders into the memory of a bank, on urnic1. The bank carries them out and
// writes a reply into the teller's memory.
//
// Usage: bank
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "orders.h"
#include "pair.h"

enum { ATTEMPTS = 3 };
static const double kPatience = 0.2;                          // seconds
static const struct timespec kGlance = {.tv_nsec = 1000000};  // between two looks into memory

// An order as it is written into the bank's memory. A new number says that there is a new order.
struct page {
  _Atomic uint64_t number;
  uint32_t entries[ENTRIES];
};

static struct {
  struct end end;
  struct page page;
  _Atomic uint64_t reply;  // the number of the latest order that the bank has carried out
  struct ibv_mr *page_region, *reply_region;
} teller;

static struct {
  struct end end;
  struct page page;
  uint64_t done;  // the number of the latest order that was carried out
  struct ibv_mr *page_region, *done_region;
  atomic_int closes;
} bank;

static void write_to_peer(const struct end* end, const struct ibv_mr* from, const struct ibv_mr* to) {
  struct ibv_sge segment = {
      .addr = (uintptr_t)from->addr, .length = (unsigned int)from->length, .lkey = from->lkey};
  struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_WRITE,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &segment,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)to->addr, .rkey = to->rkey}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(end->qp, &request, &refused), "ibv_post_send");
  next_completion(end);
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Whether the reply comes in time.
static int wait_for_reply(uint64_t number) {
  const double end = seconds() + kPatience;
  while (atomic_load(&teller.reply) != number) {
    if (seconds() > end) return 0;
    thrd_sleep(&kGlance, NULL);
  }
  return 1;
}

static void place_order(int order) {
  static uint64_t number;
  order_fill(order, teller.page.entries);
  for (int attempt = 0; attempt < ATTEMPTS; ++attempt) {
    teller.page.number = ++number;
    write_to_peer(&teller.end, teller.page_region, bank.page_region);
    if (wait_for_reply(number)) return;
    printf("no reply to order %d: once more\n", order);
  }
}

static int run_bank(void* unused) {
  (void)unused;
  while (!atomic_load(&bank.closes)) {
    thrd_sleep(&kGlance, NULL);
    const uint64_t number = atomic_load(&bank.page.number);
    if (number == bank.done) continue;
    order_carry_out(bank.page.entries);
    bank.done = number;
    write_to_peer(&bank.end, bank.done_region, teller.reply_region);
  }
  return 0;
}

static void open_all(void) {
  struct pair_options options = pair_defaults;
  options.timeout = 17;  // 0.5 s
  pair_open(&teller.end, &bank.end, &options);
  const int writable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  teller.page_region = register_memory(&teller.end, &teller.page, sizeof teller.page, 0);
  teller.reply_region = register_memory(&teller.end, &teller.reply, sizeof teller.reply, writable);
  bank.page_region = register_memory(&bank.end, &bank.page, sizeof bank.page, writable);
  bank.done_region = register_memory(&bank.end, &bank.done, sizeof bank.done, 0);
}

static void close_all(void) {
  done(ibv_dereg_mr(bank.done_region), "ibv_dereg_mr");
  done(ibv_dereg_mr(bank.page_region), "ibv_dereg_mr");
  done(ibv_dereg_mr(teller.reply_region), "ibv_dereg_mr");
  done(ibv_dereg_mr(teller.page_region), "ibv_dereg_mr");
  pair_close(&teller.end, &bank.end);
}

int main(void) {
  open_all();
  thrd_t thread;
  done(thrd_create(&thread, run_bank, NULL) == thrd_success ? 0 : EAGAIN, "thrd_create");
  for (int order = 0; order < ORDERS; ++order) place_order(order);
  atomic_store(&bank.closes, 1);
  thrd_join(thread, NULL);
  printf("%d orders were placed, and %lu was booked\n", ORDERS, (unsigned long)orders_total());
  close_all();
  return 0;
}
