// A visitor, urnic0, does with the memory of the owner, urnic1, what the owner has invited it to.
//
// Usage: visitor
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "owner.h"

static char own[256];
static struct ibv_mr* own_region;

// Copies `length` bytes of the visitor's memory to the loan, or from it.
static void copy(const struct end* visitor, enum ibv_wr_opcode operation, struct loan loan,
                 unsigned int length) {
  struct ibv_sge segment = {.addr = (uintptr_t)own, .length = length, .lkey = own_region->lkey};
  struct ibv_send_wr request = {.opcode = operation,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &segment,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)loan.address, .rkey = loan.key}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(visitor->qp, &request, &refused), "ibv_post_send");
  const enum ibv_wc_status status = next_completion(visitor).status;
  if (status == IBV_WC_SUCCESS) return;
  fprintf(stderr, "the visitor was refused: %s\n", ibv_wc_status_str(status));
  exit(EXIT_FAILURE);
}

int main(void) {
  struct end visitor, owner;
  pair_open(&visitor, &owner, &pair_defaults);
  own_region = register_memory(&visitor, own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
  owner_open(&owner);

  strcpy(own, "a letter");
  copy(&visitor, IBV_WR_RDMA_WRITE, owner_mailbox(), 64);
  printf("in the mailbox: %s\n", (const char*)owner_mailbox().address);

  copy(&visitor, IBV_WR_RDMA_READ, owner_status(), 64);
  printf("the status: %s\n", own);

  const struct loan workspace = owner_lend_workspace();
  strcpy(own, "a calculation");
  copy(&visitor, IBV_WR_RDMA_WRITE, workspace, 64);
  printf("in the workspace: %s\n", (const char*)workspace.address);
  owner_take_back();

  owner_close();
  done(ibv_dereg_mr(own_region), "ibv_dereg_mr");
  pair_close(&visitor, &owner);
  return 0;
}
