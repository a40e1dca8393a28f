// A teller, on urnic0, writes orders into the memory of a bank, on urnic1. The bank carries them out and
// writes a reply into the teller's memory. Each WRITE carries immediate data, so that its receiver is told
// when all of it is there.
//
// Usage: bank
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#include "orders.h"
#include "pair.h"

// An order as it is written into the bank's memory.
struct page {
  uint64_t number;
  uint32_t entries[ENTRIES];
};

// What an end was told in completions and has not waited for yet: WRITEs of its peer, and its own that are
// finished.
struct told {
  int arrived, finished;
};

static struct {
  struct end end;
  struct told told;
  struct page page;
  uint64_t reply;  // the number of the latest order that the bank has carried out
  struct ibv_mr *page_region, *reply_region;
} teller;

static struct {
  struct end end;
  struct told told;
  struct page page;
  uint64_t done;  // the number of the latest order that was carried out
  struct ibv_mr *page_region, *done_region;
} bank;

static void write_to_peer(const struct end* end, const struct ibv_mr* from, const struct ibv_mr* to) {
  struct ibv_sge segment = {
      .addr = (uintptr_t)from->addr, .length = (unsigned int)from->length, .lkey = from->lkey};
  struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &segment,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)to->addr, .rkey = to->rkey}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(end->qp, &request, &refused), "ibv_post_send");
}

// A receive for the peer's next WRITE. It needs no memory: the data go where the WRITE says.
static void expect_write(const struct end* end) {
  struct ibv_recv_wr receive = {.num_sge = 0};
  struct ibv_recv_wr* refused = NULL;
  done(ibv_post_recv(end->qp, &receive, &refused), "ibv_post_recv");
}

// The connection delivers everything once, or fails. If it fails, nobody knows whether the last order was
// carried out.
static void take_completion(const struct end* end, struct told* told) {
  const struct ibv_wc completion = next_completion(end);
  if (completion.status != IBV_WC_SUCCESS) {
    fprintf(stderr, "the connection is lost, and perhaps an order: %s\n",
            ibv_wc_status_str(completion.status));
    exit(EXIT_FAILURE);
  }
  if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    ++told->arrived;
  } else {
    ++told->finished;
  }
}

static void wait_for_arrival(const struct end* end, struct told* told) {
  while (told->arrived == 0) take_completion(end, told);
  --told->arrived;
}

// Until then the memory that is written from must not change.
static void wait_for_finish(const struct end* end, struct told* told) {
  while (told->finished == 0) take_completion(end, told);
  --told->finished;
}

static void place_order(int order) {
  order_fill(order, teller.page.entries);
  ++teller.page.number;
  expect_write(&teller.end);
  write_to_peer(&teller.end, teller.page_region, bank.page_region);
  wait_for_finish(&teller.end, &teller.told);
  wait_for_arrival(&teller.end, &teller.told);
}

static int run_bank(void* unused) {
  (void)unused;
  for (int i = 0; i < ORDERS; ++i) {
    wait_for_arrival(&bank.end, &bank.told);
    expect_write(&bank.end);
    order_carry_out(bank.page.entries);
    bank.done = bank.page.number;
    write_to_peer(&bank.end, bank.done_region, teller.reply_region);
    wait_for_finish(&bank.end, &bank.told);
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
  expect_write(&bank.end);
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
  thrd_join(thread, NULL);
  printf("%d orders were placed, and %lu was booked\n", ORDERS, (unsigned long)orders_total());
  close_all();
  return 0;
}
