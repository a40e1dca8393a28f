// Linked with the learner's table.c by the checks: puts values into the table, gets them, and compares.
// Prints how many gets there were.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

enum { GETS = 300 };

static void value_of(uint64_t key, char value[VALUE_SIZE]) {
  for (int i = 0; i < VALUE_SIZE; ++i) value[i] = (char)(key * 31 + (uint64_t)i * 7 + 1);
}

static void fail(uint64_t key, const char* what) {
  fprintf(stderr, "key %lu %s\n", (unsigned long)key, what);
  exit(EXIT_FAILURE);
}

static void require_value(uint64_t key) {
  char wanted[VALUE_SIZE], found[VALUE_SIZE];
  value_of(key, wanted);
  if (!client_get(key, found)) fail(key, "was put and is not found");
  if (memcmp(wanted, found, VALUE_SIZE) != 0) fail(key, "has another value than was put");
}

int main(void) {
  struct end client, owner;
  pair_open(&client, &owner, &pair_defaults);
  table_open(&owner);
  client_open(&client);

  char value[VALUE_SIZE];
  for (uint64_t key = 0; key < GETS; key += 2) {
    value_of(key, value);
    table_put(key, value);
  }
  for (uint64_t key = 0; key < GETS; key += 2) require_value(key);
  for (uint64_t key = 1; key < GETS; key += 2) {
    if (client_get(key, value)) fail(key, "was never put and is found");
  }
  // A later key takes the slot.
  value_of(TABLE_SLOTS + 2, value);
  table_put(TABLE_SLOTS + 2, value);
  if (client_get(2, value)) fail(2, "has lost its slot to another key and is found");
  require_value(TABLE_SLOTS + 2);
  printf("%d\n", GETS + 2);

  client_close();
  table_close();
  pair_close(&client, &owner);
  return 0;
}
