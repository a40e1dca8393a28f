#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The owner's memory: where the value of a key is, and the values.
struct entry {
  uint64_t key;
  uint64_t place;  // index into values, plus 1; 0 if there is none
};

static struct {
  struct entry index[TABLE_SLOTS];
  char values[TABLE_SLOTS][VALUE_SIZE];
} table;
static struct ibv_mr* table_region;

void table_open(const struct end* owner) {
  table_region = register_memory(owner, &table, sizeof table, IBV_ACCESS_REMOTE_READ);
}

void table_close(void) { done(ibv_dereg_mr(table_region), "ibv_dereg_mr"); }

void table_put(uint64_t key, const char value[VALUE_SIZE]) {
  const uint64_t slot = key % TABLE_SLOTS;
  memcpy(table.values[slot], value, VALUE_SIZE);
  table.index[slot] = (struct entry){.key = key, .place = slot + 1};
}

// The client's memory: what it has read.
static union {
  struct entry entry;
  char value[VALUE_SIZE];
} copy;
static struct ibv_mr* copy_region;
static const struct end* connection;

void client_open(const struct end* client) {
  connection = client;
  copy_region = register_memory(client, &copy, sizeof copy, IBV_ACCESS_LOCAL_WRITE);
}

void client_close(void) { done(ibv_dereg_mr(copy_region), "ibv_dereg_mr"); }

// Reads from the table's memory into `copy`. Of the table the client knows the address and the key only.
static void read_table(const void* address, unsigned int length) {
  struct ibv_sge segment = {.addr = (uintptr_t)&copy, .length = length, .lkey = copy_region->lkey};
  struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_READ,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &segment,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)address, .rkey = table_region->rkey}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(connection->qp, &request, &refused), "ibv_post_send");
  const struct ibv_wc completion = next_completion(connection);
  if (completion.status == IBV_WC_SUCCESS) return;
  fprintf(stderr, "a READ failed: %s\n", ibv_wc_status_str(completion.status));
  exit(EXIT_FAILURE);
}

int client_get(uint64_t key, char value[VALUE_SIZE]) {
  read_table(&table.index[key % TABLE_SLOTS], sizeof(struct entry));
  if (copy.entry.key != key || copy.entry.place == 0) return 0;
  read_table(table.values[copy.entry.place - 1], VALUE_SIZE);
  memcpy(value, copy.value, VALUE_SIZE);
  return 1;
}
