// urnic1 lets its peer write into a mailbox. urnic0 tries what else it can do with the key that it was given.
//
// Usage: attack
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pair.h"

enum { MAILBOX = 2048, SECRET = 64 };

// The secret lies right behind the mailbox.
static struct {
  char mailbox[MAILBOX];
  char secret[SECRET];
} owners;
static char attackers[2 * MAILBOX];

// Which key the attacker uses.
enum key { GIVEN, GUESSED, OF_ANOTHER_DOMAIN, EXPIRED };

struct attack {
  const char* what;
  enum ibv_wr_opcode operation;
  long offset;  // from the beginning of the mailbox
  unsigned int length;
  enum key key;
};

static const struct attack attacks[] = {
    {"write into the mailbox", IBV_WR_RDMA_WRITE, 0, 64, GIVEN},
    {"read the mailbox", IBV_WR_RDMA_READ, 0, 64, GIVEN},
    {"write to the secret, behind the mailbox", IBV_WR_RDMA_WRITE, MAILBOX, SECRET, GIVEN},
    {"write from the mailbox into the secret", IBV_WR_RDMA_WRITE, 0, MAILBOX + SECRET, GIVEN},
    {"write with a key that was guessed", IBV_WR_RDMA_WRITE, 0, 64, GUESSED},
    {"write with a key of another protection domain", IBV_WR_RDMA_WRITE, 0, 64, OF_ANOTHER_DOMAIN},
    {"write when the region is no more", IBV_WR_RDMA_WRITE, 0, 64, EXPIRED},
};

// The registered memory of both.
struct regions {
  struct ibv_mr* attackers;
  struct ibv_mr* mailbox;   // NULL once it is no more
  struct ibv_pd* stranger;  // a protection domain of the owner that the queue pair is not in
  struct ibv_mr* strangers;
  uint32_t given;
};

static void open_regions(struct regions* regions, const struct end* attacker, const struct end* owner) {
  const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  regions->attackers = register_memory(attacker, attackers, sizeof attackers, IBV_ACCESS_LOCAL_WRITE);
  regions->mailbox = register_memory(owner, owners.mailbox, sizeof owners.mailbox, rights);
  regions->given = regions->mailbox->rkey;
  regions->stranger = ibv_alloc_pd(owner->device);
  made(regions->stranger, "ibv_alloc_pd");
  regions->strangers = ibv_reg_mr(regions->stranger, owners.mailbox, sizeof owners.mailbox, rights);
  made(regions->strangers, "ibv_reg_mr");
}

static void close_mailbox(struct regions* regions) {
  if (regions->mailbox != NULL) done(ibv_dereg_mr(regions->mailbox), "ibv_dereg_mr");
  regions->mailbox = NULL;
}

static void close_regions(struct regions* regions) {
  close_mailbox(regions);
  done(ibv_dereg_mr(regions->attackers), "ibv_dereg_mr");
  done(ibv_dereg_mr(regions->strangers), "ibv_dereg_mr");
  done(ibv_dealloc_pd(regions->stranger), "ibv_dealloc_pd");
}

static uint32_t key_for(const struct attack* attack, struct regions* regions) {
  if (attack->key == EXPIRED) close_mailbox(regions);
  if (attack->key == OF_ANOTHER_DOMAIN) return regions->strangers->rkey;
  return attack->key == GUESSED ? regions->given + 1 : regions->given;
}

static enum ibv_wc_status carry_out(const struct attack* attack, struct regions* regions,
                                    const struct end* attacker) {
  struct ibv_sge own = {
      .addr = (uintptr_t)attackers, .length = attack->length, .lkey = regions->attackers->lkey};
  struct ibv_send_wr request = {.opcode = attack->operation,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &own,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)owners.mailbox + attack->offset,
                                            .rkey = key_for(attack, regions)}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(attacker->qp, &request, &refused), "ibv_post_send");
  return next_completion(attacker).status;
}

int main(void) {
  strcpy(owners.secret, "nobody reads this");
  memset(attackers, 'x', sizeof attackers);
  struct end attacker, owner;
  struct regions regions;
  pair_open(&attacker, &owner, &pair_defaults);
  open_regions(&regions, &attacker, &owner);

  for (size_t i = 0; i < sizeof attacks / sizeof *attacks; ++i) {
    const enum ibv_wc_status status = carry_out(&attacks[i], &regions, &attacker);
    printf("%-46s %s\n", attacks[i].what, ibv_wc_status_str(status));
    // A refused request leads both queue pairs to the error state.
    if (status != IBV_WC_SUCCESS) pair_connect(&attacker, &owner, &pair_defaults);
  }
  printf("the mailbox: %.4s..., its last byte: %s; the secret: %s\n", owners.mailbox,
         owners.mailbox[MAILBOX - 1] == 0 ? "untouched" : "changed", owners.secret);

  close_regions(&regions);
  pair_close(&attacker, &owner);
  return 0;
}
