// Many clients, on urnic0, send messages to one server, on urnic1. Each client has a queue pair of its own,
// and the server holds receives ready for each of them.
//
// Usage: clinic
#include <stdio.h>
#include <stdlib.h>

#include "pair.h"

enum { CLIENTS = 16, BURST = 4, ROUNDS = 10, LENGTH = 256 };
enum { PLACES = CLIENTS * BURST };  // for receives: a burst for each client

static char places[PLACES][LENGTH];

struct clinic {
  struct end first, server;  // what all connections share
  struct end clients[CLIENTS];
  struct end desks[CLIENTS];  // the server's ends of the clients' connections
  struct ibv_mr* region;      // of all places
};

static void require_success(struct ibv_wc completion, const char* what) {
  if (completion.status == IBV_WC_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", what, ibv_wc_status_str(completion.status));
  exit(EXIT_FAILURE);
}

static void open_clinic(struct clinic* clinic) {
  struct pair_options options = pair_defaults;
  options.completion_slots = 512;
  pair_open(&clinic->first, &clinic->server, &options);
  clinic->region = register_memory(&clinic->server, places, sizeof places, IBV_ACCESS_LOCAL_WRITE);
  for (int i = 0; i < CLIENTS; ++i)
    pair_add(&clinic->first, &clinic->server, &clinic->clients[i], &clinic->desks[i], NULL, &options);
}

static void close_clinic(struct clinic* clinic) {
  for (int i = 0; i < CLIENTS; ++i) pair_remove(&clinic->clients[i], &clinic->desks[i]);
  done(ibv_dereg_mr(clinic->region), "ibv_dereg_mr");
  pair_close(&clinic->first, &clinic->server);
}

// Posts a receive into that place: it belongs to the client of the same number, modulo CLIENTS.
static void post_place(const struct clinic* clinic, uint64_t place) {
  struct ibv_sge segment = {.addr = (uintptr_t)places[place], .length = LENGTH, .lkey = clinic->region->lkey};
  struct ibv_recv_wr receive = {.wr_id = place, .sg_list = &segment, .num_sge = 1};
  struct ibv_recv_wr* refused = NULL;
  done(ibv_post_recv(clinic->desks[place % CLIENTS].qp, &receive, &refused), "ibv_post_recv");
}

// A client sends a burst of messages. The last one has a completion.
static void send_burst(const struct end* client) {
  char message[32] = "it hurts";
  struct ibv_sge segment = {.addr = (uintptr_t)message, .length = sizeof message};
  for (int i = 1; i <= BURST; ++i) {
    struct ibv_send_wr request = {.opcode = IBV_WR_SEND,
                                  .send_flags = IBV_SEND_INLINE | (i == BURST ? IBV_SEND_SIGNALED : 0),
                                  .sg_list = &segment,
                                  .num_sge = 1};
    struct ibv_send_wr* refused = NULL;
    done(ibv_post_send(client->qp, &request, &refused), "ibv_post_send");
  }
}

// The server receives that many messages.
static void serve(const struct clinic* clinic, int messages) {
  for (int i = 0; i < messages; ++i) {
    const struct ibv_wc completion = next_completion(&clinic->server);
    require_success(completion, "a message cannot be received");
    post_place(clinic, completion.wr_id);
  }
}

int main(void) {
  static struct clinic clinic;
  open_clinic(&clinic);
  for (uint64_t place = 0; place < PLACES; ++place) post_place(&clinic, place);

  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < CLIENTS; ++i) send_burst(&clinic.clients[i]);
    serve(&clinic, CLIENTS * BURST);
    for (int i = 0; i < CLIENTS; ++i)
      require_success(next_completion(&clinic.first), "a message cannot be sent");
  }
  printf("%d messages from %d clients into %d places\n", ROUNDS * CLIENTS * BURST, CLIENTS, PLACES);

  close_clinic(&clinic);
  return 0;
}
