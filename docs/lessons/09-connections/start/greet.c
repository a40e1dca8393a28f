// A server that greets its clients. They connect by IP address, with rdma_cm.
//
// Usage: greet serve PORT [CLIENTS]      greets so many clients, one after another, then ends
//        greet connect PORT WORD         a client on urnic0 connects to the server on urnic1 and says the
//        word
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 64, LONGEST_WORD = 32, PATIENCE_MS = 2000 };
static const char kClientAddress[] = "127.0.0.1", kServerAddress[] = "127.0.0.2";  // urnic0, urnic1

static char message[LENGTH];
static struct rdma_event_channel* channel;

// The calls of rdma_cm return -1 and set errno.
static void done(int result, const char* what) {
  if (result == 0) return;
  perror(what);
  exit(EXIT_FAILURE);
}

static void made(const void* object, const char* what) { done(object == NULL ? -1 : 0, what); }

static struct sockaddr_in address(const char* ip, const char* port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  if (inet_pton(AF_INET, ip, &address.sin_addr) != 1) done(-1, ip);
  return address;
}

// The next event; rdma_ack_cm_event gives it back.
static struct rdma_cm_event* next_event(void) {
  struct rdma_cm_event* event = NULL;
  done(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
  printf("%s\n", rdma_event_str(event->event));
  fflush(stdout);
  return event;
}

// Waits for that event, and accepts no other.
static void expect(enum rdma_cm_event_type wanted) {
  struct rdma_cm_event* event = next_event();
  if (event->event != wanted) {
    fprintf(stderr, "%s was expected, with status %d\n", rdma_event_str(wanted), event->status);
    exit(EXIT_FAILURE);
  }
  done(rdma_ack_cm_event(event), "rdma_ack_cm_event");
}

// A queue pair of the connection, and its memory for messages.
static struct ibv_mr* prepare(struct rdma_cm_id* id) {
  struct ibv_qp_init_attr kind = {
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
  done(rdma_create_qp(id, NULL, &kind), "rdma_create_qp");
  struct ibv_mr* region = rdma_reg_msgs(id, message, LENGTH);
  made(region, "rdma_reg_msgs");
  return region;
}

static void end(struct rdma_cm_id* id, struct ibv_mr* region) {
  done(rdma_dereg_mr(region), "rdma_dereg_mr");
  rdma_destroy_qp(id);
  done(rdma_destroy_id(id), "rdma_destroy_id");
}

static void greet(struct rdma_cm_id* id, const char* word) {
  struct ibv_mr* region = prepare(id);
  struct rdma_conn_param parameters = {.rnr_retry_count = 7};
  done(rdma_accept(id, &parameters), "rdma_accept");
  expect(RDMA_CM_EVENT_ESTABLISHED);

  snprintf(message, LENGTH, "you said %.32s: welcome", word);
  done(rdma_post_send(id, NULL, message, LENGTH, region, IBV_SEND_SIGNALED), "rdma_post_send");
  struct ibv_wc completion;
  if (rdma_get_send_comp(id, &completion) != 1) done(-1, "rdma_get_send_comp");

  expect(RDMA_CM_EVENT_DISCONNECTED);
  done(rdma_disconnect(id), "rdma_disconnect");
  end(id, region);
}

// Takes the next request. Private data come with it: the client's word.
static void serve_one(void) {
  struct rdma_cm_event* event = next_event();
  if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
    fprintf(stderr, "a request was expected\n");
    exit(EXIT_FAILURE);
  }
  struct rdma_cm_id* id = event->id;
  char word[LENGTH] = "";
  if (event->param.conn.private_data != NULL)
    snprintf(word, LENGTH, "%.*s", event->param.conn.private_data_len,
             (const char*)event->param.conn.private_data);
  done(rdma_ack_cm_event(event), "rdma_ack_cm_event");
  greet(id, word);
}

static void serve(const char* port, int clients) {
  struct rdma_cm_id* listener = NULL;
  done(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), "rdma_create_id");
  struct sockaddr_in own = address(kServerAddress, port);
  done(rdma_bind_addr(listener, (struct sockaddr*)&own), "rdma_bind_addr");
  done(rdma_listen(listener, 8), "rdma_listen");
  printf("listening\n");
  fflush(stdout);
  for (int i = 0; i < clients; ++i) serve_one();
  done(rdma_destroy_id(listener), "rdma_destroy_id");
}

static void connect_to_server(const char* port, const char* word) {
  if (strlen(word) > LONGEST_WORD) {
    fprintf(stderr, "a word has at most %d characters\n", LONGEST_WORD);
    exit(EXIT_FAILURE);
  }
  struct rdma_cm_id* id = NULL;
  done(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
  struct sockaddr_in own = address(kClientAddress, "0"), server = address(kServerAddress, port);
  done(rdma_resolve_addr(id, (struct sockaddr*)&own, (struct sockaddr*)&server, PATIENCE_MS),
       "rdma_resolve_addr");
  expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  done(rdma_resolve_route(id, PATIENCE_MS), "rdma_resolve_route");
  expect(RDMA_CM_EVENT_ROUTE_RESOLVED);

  struct ibv_mr* region = prepare(id);
  done(rdma_post_recv(id, NULL, message, LENGTH, region), "rdma_post_recv");
  struct rdma_conn_param parameters = {.private_data = word,
                                       .private_data_len = (uint8_t)strlen(word),
                                       .retry_count = 7,
                                       .rnr_retry_count = 7};
  done(rdma_connect(id, &parameters), "rdma_connect");
  expect(RDMA_CM_EVENT_ESTABLISHED);

  struct ibv_wc completion;
  if (rdma_get_recv_comp(id, &completion) != 1) done(-1, "rdma_get_recv_comp");
  printf("the server: %s\n", message);

  done(rdma_disconnect(id), "rdma_disconnect");
  expect(RDMA_CM_EVENT_DISCONNECTED);
  end(id, region);
}

int main(int argc, char** argv) {
  const int serves = argc >= 3 && strcmp(argv[1], "serve") == 0;
  if (!serves && !(argc == 4 && strcmp(argv[1], "connect") == 0)) {
    fprintf(stderr, "usage: greet serve PORT [CLIENTS] | greet connect PORT WORD\n");
    return EXIT_FAILURE;
  }
  channel = rdma_create_event_channel();
  made(channel, "rdma_create_event_channel");
  if (serves) {
    serve(argv[2], argc > 3 ? atoi(argv[3]) : 1);
  } else {
    connect_to_server(argv[2], argv[3]);
  }
  rdma_destroy_event_channel(channel);
  return 0;
}
