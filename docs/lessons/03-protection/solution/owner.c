#include "owner.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
  char mailbox[64];
  char secret[64];
  char status[64];
  char workspace[256];
} memory;

static const struct end* owner;
static struct ibv_mr *mailbox, *status, *workspace;  // what is not named has no region, and so no key
static struct ibv_mw* window;                        // to the workspace, while it is lent

void owner_open(const struct end* end) {
  owner = end;
  snprintf(memory.secret, sizeof memory.secret, "the owner's secret");
  snprintf(memory.status, sizeof memory.status, "open from 9 to 5");
  mailbox = register_memory(end, memory.mailbox, sizeof memory.mailbox,
                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  status = register_memory(end, memory.status, sizeof memory.status, IBV_ACCESS_REMOTE_READ);
  // Its own key opens nothing to visitors: windows do.
  workspace = register_memory(end, memory.workspace, sizeof memory.workspace,
                              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
  window = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2);
  made(window, "ibv_alloc_mw");
}

void owner_close(void) {
  done(ibv_dealloc_mw(window), "ibv_dealloc_mw");
  done(ibv_dereg_mr(workspace), "ibv_dereg_mr");
  done(ibv_dereg_mr(status), "ibv_dereg_mr");
  done(ibv_dereg_mr(mailbox), "ibv_dereg_mr");
}

static struct loan loan_of(const struct ibv_mr* region) {
  return (struct loan){.address = region->addr, .length = region->length, .key = region->rkey};
}

struct loan owner_mailbox(void) {
  return loan_of(mailbox);
}

struct loan owner_status(void) {
  return loan_of(status);
}

// Windows are opened and closed by requests of the owner's own queue pair.
static void carry_out(struct ibv_send_wr request, const char* what) {
  request.send_flags = IBV_SEND_SIGNALED;
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(owner->qp, &request, &refused), what);
  const struct ibv_wc completion = next_completion(owner);
  if (completion.status == IBV_WC_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", what, ibv_wc_status_str(completion.status));
  exit(EXIT_FAILURE);
}

struct loan owner_lend_workspace(void) {
  const uint32_t key = ibv_inc_rkey(window->rkey);
  carry_out((struct ibv_send_wr){.opcode = IBV_WR_BIND_MW,
                                 .bind_mw = {.mw = window,
                                             .rkey = key,
                                             .bind_info = {.mr = workspace,
                                                           .addr = (uintptr_t)memory.workspace,
                                                           .length = sizeof memory.workspace,
                                                           .mw_access_flags = IBV_ACCESS_REMOTE_WRITE |
                                                                              IBV_ACCESS_REMOTE_READ}}},
            "bind a window");
  window->rkey = key;
  return (struct loan){.address = memory.workspace, .length = sizeof memory.workspace, .key = key};
}

void owner_take_back(void) {
  carry_out((struct ibv_send_wr){.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = window->rkey},
            "invalidate a window");
}

const char* owner_secret(void) { return memory.secret; }
