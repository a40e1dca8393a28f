// Two clients draw numbers from a counter in urnic1's memory. No number may be drawn twice.
//
// Usage: sequencer [COUNT]
// Prints the numbers, each on a line.
#include <stdio.h>
#include <stdlib.h>

#include "pair.h"

enum { CLIENTS = 2, BLOCK = 64 };

static _Alignas(8) uint64_t counter;
static struct ibv_mr* counter_region;

struct client {
  const struct end* connection;
  uint64_t result;  // what the counter was before the client added to it
  struct ibv_mr* result_region;
  uint64_t next;  // of the block of numbers that the client has drawn
  int left;       // how many of them it has not given out
};

// Adds to the counter. Returns what it was before.
static uint64_t fetch_and_add(struct client* client, uint64_t addend) {
  struct ibv_sge segment = {.addr = (uintptr_t)&client->result,
                            .length = sizeof client->result,
                            .lkey = client->result_region->lkey};
  struct ibv_send_wr request = {
      .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
      .send_flags = IBV_SEND_SIGNALED,
      .sg_list = &segment,
      .num_sge = 1,
      .wr.atomic = {.remote_addr = (uintptr_t)&counter, .rkey = counter_region->rkey, .compare_add = addend}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(client->connection->qp, &request, &refused), "ibv_post_send");
  const struct ibv_wc completion = next_completion(client->connection);
  if (completion.status == IBV_WC_SUCCESS) return client->result;
  fprintf(stderr, "an atomic failed: %s\n", ibv_wc_status_str(completion.status));
  exit(EXIT_FAILURE);
}

// Draws from the client's block, and a new block when that is used up.
static uint64_t draw(struct client* client) {
  if (client->left == 0) {
    client->next = fetch_and_add(client, BLOCK);
    client->left = BLOCK;
  }
  --client->left;
  return client->next++;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 10;
  struct end first, second;
  pair_open(&first, &second, &pair_defaults);
  counter_region =
      register_memory(&second, &counter, sizeof counter, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
  struct client clients[CLIENTS] = {{.connection = &first}, {.connection = &first}};
  for (int i = 0; i < CLIENTS; ++i)
    clients[i].result_region =
        register_memory(&first, &clients[i].result, sizeof clients[i].result, IBV_ACCESS_LOCAL_WRITE);

  for (int i = 0; i < count; ++i) printf("%lu\n", (unsigned long)draw(&clients[i % CLIENTS]));

  for (int i = 0; i < CLIENTS; ++i) done(ibv_dereg_mr(clients[i].result_region), "ibv_dereg_mr");
  done(ibv_dereg_mr(counter_region), "ibv_dereg_mr");
  pair_close(&first, &second);
  return 0;
}
