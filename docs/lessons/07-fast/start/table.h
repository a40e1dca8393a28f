// A table of values by key, in the memory of its owner. Clients get values by RDMA READs: the owner's program
// does nothing.
#pragma once

#include <stdint.h>

#include "pair.h"

enum { TABLE_SLOTS = 1024, VALUE_SIZE = 48 };

// The owner's side. A key's slot is key % TABLE_SLOTS; a later key takes the slot of an earlier one.
void table_open(const struct end* owner);
void table_close(void);
void table_put(uint64_t key, const char value[VALUE_SIZE]);

// A client's side: `client` is connected to the owner.
void client_open(const struct end* client);
void client_close(void);
// Whether the key is in the table. If so, `value` is filled.
int client_get(uint64_t key, char value[VALUE_SIZE]);
