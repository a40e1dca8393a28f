// A visitor that the checks link with the learner's owner.c. It does what it may do, then what it may not,
// and prints a line for each: a name, and the status of the completion.
#include <stdio.h>
#include <string.h>

#include "owner.h"

enum { LOANS = 20 };

static char own[512];
static struct ibv_mr* own_region;
static struct end visitor, owner;

static void attempt(const char* name, enum ibv_wr_opcode operation, struct loan loan, const void* address,
                    size_t length) {
  struct ibv_sge segment = {.addr = (uintptr_t)own, .length = (unsigned int)length, .lkey = own_region->lkey};
  struct ibv_send_wr request = {.opcode = operation,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &segment,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)address, .rkey = loan.key}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(visitor.qp, &request, &refused), "ibv_post_send");
  const enum ibv_wc_status status = next_completion(&visitor).status;
  printf("%s %d\n", name, status);
  if (status != IBV_WC_SUCCESS) pair_connect(&visitor, &owner, &pair_defaults);
}

static void visit(void) {
  const struct loan mailbox = owner_mailbox(), state = owner_status();
  attempt("mailbox-write", IBV_WR_RDMA_WRITE, mailbox, mailbox.address, mailbox.length);
  attempt("status-read", IBV_WR_RDMA_READ, state, state.address, state.length);
  attempt("mailbox-read", IBV_WR_RDMA_READ, mailbox, mailbox.address, mailbox.length);
  attempt("status-write", IBV_WR_RDMA_WRITE, state, state.address, state.length);
  attempt("mailbox-beyond", IBV_WR_RDMA_WRITE, mailbox, mailbox.address, mailbox.length + 1);
  attempt("secret-read", IBV_WR_RDMA_READ, mailbox, owner_secret(), 16);
  attempt("secret-write", IBV_WR_RDMA_WRITE, mailbox, owner_secret(), 16);
  attempt("secret-read", IBV_WR_RDMA_READ, state, owner_secret(), 16);
}

static void borrow(void) {
  struct loan before = {.key = 0}, workspace = before;
  for (int i = 0; i < LOANS; ++i) {
    workspace = owner_lend_workspace();
    if (workspace.key == before.key) printf("same-key 1\n");
    attempt("loan-write", IBV_WR_RDMA_WRITE, workspace, workspace.address, workspace.length);
    attempt("loan-read", IBV_WR_RDMA_READ, workspace, workspace.address, workspace.length);
    owner_take_back();
    before = workspace;
  }
  attempt("expired-write", IBV_WR_RDMA_WRITE, workspace, workspace.address, workspace.length);
  attempt("expired-read", IBV_WR_RDMA_READ, workspace, workspace.address, workspace.length);
  workspace = owner_lend_workspace();
  attempt("expired-while-lent", IBV_WR_RDMA_WRITE, before, workspace.address, workspace.length);
}

int main(void) {
  pair_open(&visitor, &owner, &pair_defaults);
  own_region = register_memory(&visitor, own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
  owner_open(&owner);
  visit();
  borrow();
  owner_close();
  done(ibv_dereg_mr(own_region), "ibv_dereg_mr");
  pair_close(&visitor, &owner);
  return 0;
}
