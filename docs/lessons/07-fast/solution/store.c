// Gets values out of a table, by READs and by messages, and says how long each way takes.
//
// Usage: store [COUNT]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "table.h"

enum { KEYS = 1000 };

static double microseconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void value_of(uint64_t key, char value[VALUE_SIZE]) {
  memset(value, 0, VALUE_SIZE);
  snprintf(value, VALUE_SIZE, "value of %lu", (unsigned long)key);
}

static void require_value(uint64_t key, const char found[VALUE_SIZE]) {
  char wanted[VALUE_SIZE];
  value_of(key, wanted);
  if (memcmp(wanted, found, VALUE_SIZE) == 0) return;
  fprintf(stderr, "key %lu: '%.40s' instead of '%s'\n", (unsigned long)key, found, wanted);
  exit(EXIT_FAILURE);
}

// By messages: the client sends the key, the owner answers with the value. This program does both sides'
// work.
static struct {
  uint64_t key;
  char value[VALUE_SIZE];
} asked, answered;
static struct ibv_mr *asked_region, *answered_region;

static void receive(const struct end* end, const struct ibv_mr* place) {
  struct ibv_sge segment = {
      .addr = (uintptr_t)place->addr, .length = (unsigned int)place->length, .lkey = place->lkey};
  struct ibv_recv_wr request = {.sg_list = &segment, .num_sge = 1};
  struct ibv_recv_wr* refused = NULL;
  done(ibv_post_recv(end->qp, &request, &refused), "ibv_post_recv");
}

static void send_message(const struct end* end, const void* message, unsigned int length) {
  struct ibv_sge segment = {.addr = (uintptr_t)message, .length = length};
  struct ibv_send_wr request = {.opcode = IBV_WR_SEND,
                                .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
                                .sg_list = &segment,
                                .num_sge = 1};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(end->qp, &request, &refused), "ibv_post_send");
}

// The next message; completions of what this end has sent are passed over.
static void wait_for_message(const struct end* end) {
  struct ibv_wc completion;
  do {
    completion = next_completion(end);
    if (completion.status != IBV_WC_SUCCESS) done(EXIT_FAILURE, "a message failed");
  } while (completion.opcode != IBV_WC_RECV);
}

static void get_by_message(const struct end* client, const struct end* owner, uint64_t key,
                           char value[VALUE_SIZE]) {
  receive(client, answered_region);
  receive(owner, asked_region);
  send_message(client, &key, sizeof key);

  wait_for_message(owner);
  value_of(asked.key, asked.value);  // a real owner looks the key up
  send_message(owner, &asked, sizeof asked);

  wait_for_message(client);
  memcpy(value, answered.value, VALUE_SIZE);
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 10000;
  struct end client, owner;
  pair_open(&client, &owner, &pair_defaults);
  table_open(&owner);
  client_open(&client);
  asked_region = register_memory(&owner, &asked, sizeof asked, IBV_ACCESS_LOCAL_WRITE);
  answered_region = register_memory(&client, &answered, sizeof answered, IBV_ACCESS_LOCAL_WRITE);
  char value[VALUE_SIZE];
  for (uint64_t key = 0; key < KEYS; ++key) {
    value_of(key, value);
    table_put(key, value);
  }

  double begin = microseconds();
  for (int i = 0; i < count; ++i) {
    if (!client_get((uint64_t)i % KEYS, value)) done(EXIT_FAILURE, "a key is missing");
    require_value((uint64_t)i % KEYS, value);
  }
  printf("by READs     %7.2f us each\n", (microseconds() - begin) / count);

  begin = microseconds();
  for (int i = 0; i < count; ++i) {
    get_by_message(&client, &owner, (uint64_t)i % KEYS, value);
    require_value((uint64_t)i % KEYS, value);
  }
  printf("by messages  %7.2f us each\n", (microseconds() - begin) / count);

  done(ibv_dereg_mr(asked_region), "ibv_dereg_mr");
  done(ibv_dereg_mr(answered_region), "ibv_dereg_mr");
  client_close();
  table_close();
  pair_close(&client, &owner);
  return 0;
}
