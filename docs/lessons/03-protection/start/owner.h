// The owner of some memory, which visitors use by RDMA.
#pragma once

#include "pair.h"

// Memory of the owner's that a visitor may use, with the key for it.
struct loan {
  void* address;
  size_t length;
  uint32_t key;
};

// Registers the owner's memory. `end` is where the owner's visitors are connected to.
void owner_open(const struct end* end);
void owner_close(void);

// Into it visitors write, and nothing else.
struct loan owner_mailbox(void);
// From it visitors read, and nothing else.
struct loan owner_status(void);

// A visitor gets the workspace, to read and to write. Each loan has another key than the loans before it.
struct loan owner_lend_workspace(void);
// From now on that loan's key opens nothing.
void owner_take_back(void);

// No visitor's business.
const char* owner_secret(void);
