// Many clients, on urnic0, send messages to one server, on urnic1. Each client has a queue pair of its own,
// and the server holds receives ready for all of them together, in a shared receive queue.
//
// Usage: clinic
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "pair.h"

enum { CLIENTS = 16, BURST = 4, ROUNDS = 10, LENGTH = 256 };
enum { PLACES = 32, LIMIT = 8 };  // for receives; when fewer than LIMIT are posted, the server posts more

static char places[PLACES][LENGTH];

struct clinic {
  struct end first, server;  // what all connections share
  struct end clients[CLIENTS];
  struct end desks[CLIENTS];  // the server's ends of the clients' connections
  struct ibv_mr* region;      // of all places
  struct ibv_srq* receives;
  uint64_t free[PLACES];  // places that are not posted
  int free_count;
  int few_left;  // whether the event has come since receives were posted
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
  struct ibv_srq_init_attr kind = {.attr = {.max_wr = PLACES, .max_sge = 1}};
  clinic->receives = ibv_create_srq(clinic->server.pd, &kind);
  made(clinic->receives, "ibv_create_srq");
  for (int i = 0; i < CLIENTS; ++i)
    pair_add(&clinic->first, &clinic->server, &clinic->clients[i], &clinic->desks[i], clinic->receives,
             &options);
}

static void close_clinic(struct clinic* clinic) {
  for (int i = 0; i < CLIENTS; ++i) pair_remove(&clinic->clients[i], &clinic->desks[i]);
  done(ibv_destroy_srq(clinic->receives), "ibv_destroy_srq");
  done(ibv_dereg_mr(clinic->region), "ibv_dereg_mr");
  pair_close(&clinic->first, &clinic->server);
}

// Posts receives into all free places, by one call, and asks for an event when few of them are left.
static void post_free_places(struct clinic* clinic) {
  struct ibv_sge segments[PLACES];
  struct ibv_recv_wr chain[PLACES];
  for (int i = 0; i < clinic->free_count; ++i) {
    const uint64_t place = clinic->free[i];
    segments[i] =
        (struct ibv_sge){.addr = (uintptr_t)places[place], .length = LENGTH, .lkey = clinic->region->lkey};
    chain[i] =
        (struct ibv_recv_wr){.wr_id = place, .next = &chain[i + 1], .sg_list = &segments[i], .num_sge = 1};
  }
  if (clinic->free_count > 0) {
    chain[clinic->free_count - 1].next = NULL;
    struct ibv_recv_wr* refused = NULL;
    done(ibv_post_srq_recv(clinic->receives, chain, &refused), "ibv_post_srq_recv");
    clinic->free_count = 0;
  }
  struct ibv_srq_attr attributes = {.srq_limit = LIMIT};
  done(ibv_modify_srq(clinic->receives, &attributes, IBV_SRQ_LIMIT), "ibv_modify_srq");
}

// Whether the event has come. Does not wait.
static int few_are_left(const struct clinic* clinic) {
  struct pollfd look = {.fd = clinic->server.device->async_fd, .events = POLLIN};
  if (poll(&look, 1, 0) <= 0) return 0;
  struct ibv_async_event event;
  done(ibv_get_async_event(clinic->server.device, &event) == 0 ? 0 : errno, "ibv_get_async_event");
  const int is_limit = event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
  ibv_ack_async_event(&event);
  return is_limit;
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
static void serve(struct clinic* clinic, int messages) {
  while (messages > 0) {
    struct ibv_wc completion;
    const int count = ibv_poll_cq(clinic->server.cq, 1, &completion);
    done(count < 0 ? EIO : 0, "ibv_poll_cq");
    if (count > 0) {
      require_success(completion, "a message cannot be received");
      clinic->free[clinic->free_count++] = completion.wr_id;
      --messages;
    }
    clinic->few_left |= few_are_left(clinic);
    // First all completions are taken: each frees a place.
    if (clinic->few_left && count == 0) {
      post_free_places(clinic);
      clinic->few_left = 0;
    }
  }
}

int main(void) {
  static struct clinic clinic;
  open_clinic(&clinic);
  for (uint64_t place = 0; place < PLACES; ++place) clinic.free[clinic.free_count++] = place;
  post_free_places(&clinic);

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
