#include "owner.h"

#include <stdio.h>

enum { ALL_RIGHTS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

static struct {
  char mailbox[64];
  char secret[64];
  char status[64];
  char workspace[256];
} memory;

static struct ibv_mr* region;  // of everything

void owner_open(const struct end* end) {
  snprintf(memory.secret, sizeof memory.secret, "the owner's secret");
  snprintf(memory.status, sizeof memory.status, "open from 9 to 5");
  region = register_memory(end, &memory, sizeof memory, ALL_RIGHTS);
}

void owner_close(void) { done(ibv_dereg_mr(region), "ibv_dereg_mr"); }

struct loan owner_mailbox(void) {
  return (struct loan){.address = memory.mailbox, .length = sizeof memory.mailbox, .key = region->rkey};
}

struct loan owner_status(void) {
  return (struct loan){.address = memory.status, .length = sizeof memory.status, .key = region->rkey};
}

struct loan owner_lend_workspace(void) {
  return (struct loan){.address = memory.workspace, .length = sizeof memory.workspace, .key = region->rkey};
}

void owner_take_back(void) {}

const char* owner_secret(void) { return memory.secret; }
