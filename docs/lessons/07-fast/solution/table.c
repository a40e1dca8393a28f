#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The owner's memory: the value lies beside its key, so that one READ has both.
struct entry {
  uint64_t key;
  uint64_t is_used;
  char value[VALUE_SIZE];
};

static struct entry table[TABLE_SLOTS];
static struct ibv_mr* table_region;

void table_open(const struct end* owner) {
  table_region = register_memory(owner, &table, sizeof table, IBV_ACCESS_REMOTE_READ);
}

void table_close(void) { done(ibv_dereg_mr(table_region), "ibv_dereg_mr"); }

void table_put(uint64_t key, const char value[VALUE_SIZE]) {
  struct entry* entry = &table[key % TABLE_SLOTS];
  entry->key = key;
  entry->is_used = 1;
  memcpy(entry->value, value, VALUE_SIZE);
}

// The client's memory: what it has read.
static struct entry copy;
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
  read_table(&table[key % TABLE_SLOTS], sizeof(struct entry));
  if (copy.key != key || !copy.is_used) return 0;
  memcpy(value, copy.value, VALUE_SIZE);
  return 1;
}
