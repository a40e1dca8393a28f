// Checks what librpma moves to remote memory and back: write, flush, atomic write, read, write with immediate
// data, send.
//
// Usage: rpma_check ADDRESS PORT            offers memory to one client, which must have filled it when it
// leaves
//        rpma_check ADDRESS PORT client     fills it, reads it back and compares
// Prints what it could use. The status is 0 if every byte was right at both ends.
#include <infiniband/verbs.h>
#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPage = 4096, kSize = 64 * kPage, kMark = kSize - 8, kMessage = 64, kImmediate = 4711 };

// What the server tells of its memory in its answer to the connection request.
struct Offer {
  uint8_t peer_size;
  uint8_t memory_size;
  uint8_t descriptors[48];
};

static void require(bool holds, const char* what) {
  if (holds) return;
  printf("failed: %s\n", what);
  exit(1);
}

static void call(int result, const char* what) {
  if (result == 0) return;
  printf("%s: %s\n", what, rpma_err_2str(result));
  exit(1);
}
#define CALL(expression) call(expression, #expression)

static uint8_t pattern(size_t index, unsigned round) {
  return (uint8_t)((index * 7 + index / 251 + round) & 0xFF);
}

static void fill(uint8_t* bytes, size_t count, unsigned round) {
  for (size_t i = 0; i < count; ++i) bytes[i] = pattern(i, round);
}

// `bytes` lie `place` bytes behind the beginning of what was filled.
static void compare_behind(size_t place, const uint8_t* bytes, size_t count, unsigned round,
                           const char* what) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] == pattern(place + i, round)) continue;
    printf("%s: byte %zu is wrong\n", what, i);
    exit(1);
  }
}

static void compare(const uint8_t* bytes, size_t count, unsigned round, const char* what) {
  compare_behind(0, bytes, count, round, what);
}

static uint8_t* allocate(size_t size) {
  void* memory = aligned_alloc(kPage, size);
  require(memory != NULL, "memory");
  memset(memory, 0, size);
  return memory;
}

static struct rpma_peer* open_peer(const char* address, enum rpma_util_ibv_context_type end) {
  struct ibv_context* device = NULL;
  CALL(rpma_utils_get_ibv_context(address, end, &device));
  int odp = 0;
  CALL(rpma_utils_ibv_context_is_odp_capable(device, &odp));
  printf("device %s, memory on demand: %s\n", ibv_get_device_name(device->device), odp ? "yes" : "no");
  struct rpma_peer* peer = NULL;
  CALL(rpma_peer_new(device, &peer));
  return peer;
}

static void expect_event(struct rpma_conn* connection, enum rpma_conn_event wanted) {
  enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
  CALL(rpma_conn_next_event(connection, &event));
  if (event == wanted) return;
  printf("event: %s instead of %s\n", rpma_utils_conn_event_2str(event), rpma_utils_conn_event_2str(wanted));
  exit(1);
}

static struct ibv_wc next_completion(struct rpma_cq* queue, const void* context) {
  struct ibv_wc completion;
  int result = rpma_cq_get_wc(queue, 1, &completion, NULL);
  while (result == RPMA_E_NO_COMPLETION) {
    CALL(rpma_cq_wait(queue));
    result = rpma_cq_get_wc(queue, 1, &completion, NULL);
  }
  call(result, "rpma_cq_get_wc");
  if (completion.status != IBV_WC_SUCCESS) {
    printf("completion: %s\n", ibv_wc_status_str(completion.status));
    exit(1);
  }
  require(completion.wr_id == (uintptr_t)context, "the completion is of another request");
  return completion;
}

static void serve(const char* address, const char* port) {
  struct rpma_peer* peer = open_peer(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
  struct rpma_ep* endpoint = NULL;
  CALL(rpma_ep_listen(peer, address, port, &endpoint));

  uint8_t* memory = allocate(kSize);
  struct rpma_mr_local* region = NULL;
  CALL(rpma_mr_reg(peer, memory, kSize,
                   RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
                       RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
                   &region));
  uint8_t* inbox = allocate(kPage);
  struct rpma_mr_local* inbox_region = NULL;
  CALL(rpma_mr_reg(peer, inbox, kPage, RPMA_MR_USAGE_RECV, &inbox_region));

  struct rpma_peer_cfg* settings = NULL;
  CALL(rpma_peer_cfg_new(&settings));
  CALL(rpma_peer_cfg_set_direct_write_to_pmem(settings, true));
  struct Offer offer = {0};
  size_t size = 0;
  CALL(rpma_peer_cfg_get_descriptor_size(settings, &size));
  offer.peer_size = (uint8_t)size;
  CALL(rpma_mr_get_descriptor_size(region, &size));
  offer.memory_size = (uint8_t)size;
  require(offer.peer_size + size <= sizeof offer.descriptors, "the descriptors fit into private data");
  CALL(rpma_peer_cfg_get_descriptor(settings, offer.descriptors));
  CALL(rpma_mr_get_descriptor(region, offer.descriptors + offer.peer_size));

  struct rpma_conn_cfg* queues = NULL;
  CALL(rpma_conn_cfg_new(&queues));
  CALL(rpma_conn_cfg_set_rcq_size(queues, 4));
  struct rpma_conn_req* request = NULL;
  CALL(rpma_ep_next_conn_req(endpoint, queues, &request));
  CALL(rpma_conn_req_recv(request, inbox_region, 0, kMessage, inbox));
  CALL(rpma_conn_req_recv(request, inbox_region, 0, kMessage, NULL));
  struct rpma_conn_private_data answer = {&offer, sizeof offer};
  struct rpma_conn* connection = NULL;
  CALL(rpma_conn_req_connect(&request, &answer, &connection));
  expect_event(connection, RPMA_CONN_ESTABLISHED);

  struct rpma_cq* received = NULL;
  CALL(rpma_conn_get_rcq(connection, &received));
  const struct ibv_wc message = next_completion(received, inbox);
  require(message.opcode == IBV_WC_RECV && message.byte_len == kMessage, "the message's length");
  compare(inbox, kMessage, 3, "the message");
  const struct ibv_wc written = next_completion(received, NULL);
  require(written.opcode == IBV_WC_RECV_RDMA_WITH_IMM && be32toh(written.imm_data) == kImmediate,
          "the immediate data");
  expect_event(connection, RPMA_CONN_CLOSED);
  compare_behind(kPage, memory + kPage, kMark - kPage, 0, "the server's memory");
  compare(memory + kMark, 8, 1, "the atomic write");
  compare(memory, kPage, 2, "the write with immediate data");

  CALL(rpma_conn_disconnect(connection));
  CALL(rpma_conn_delete(&connection));
  CALL(rpma_conn_cfg_delete(&queues));
  CALL(rpma_peer_cfg_delete(&settings));
  CALL(rpma_mr_dereg(&inbox_region));
  CALL(rpma_mr_dereg(&region));
  CALL(rpma_ep_shutdown(&endpoint));
  CALL(rpma_peer_delete(&peer));
  free(inbox);
  free(memory);
}

// rpma_flush takes the remote data to where they persist: a read behind the writes, where a device has no
// flush.
static void write_and_read(struct rpma_conn* connection, struct rpma_mr_local* source,
                           struct rpma_mr_local* target, struct rpma_mr_remote* remote, uint8_t* out,
                           const uint8_t* in) {
  struct rpma_cq* queue = NULL;
  CALL(rpma_conn_get_cq(connection, &queue));
  fill(out, kSize, 0);
  CALL(rpma_write(connection, remote, 0, source, 0, kSize, RPMA_F_COMPLETION_ON_ERROR, NULL));
  CALL(rpma_flush(connection, remote, 0, kSize, RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS, out));
  next_completion(queue, out);

  char mark[8];
  fill((uint8_t*)mark, sizeof mark, 1);
  CALL(rpma_atomic_write(connection, remote, kMark, mark, RPMA_F_COMPLETION_ALWAYS, mark));
  next_completion(queue, mark);
  CALL(rpma_flush(connection, remote, kMark, sizeof mark, RPMA_FLUSH_TYPE_VISIBILITY,
                  RPMA_F_COMPLETION_ALWAYS, remote));
  next_completion(queue, remote);

  CALL(rpma_read(connection, target, 0, remote, 0, kSize, RPMA_F_COMPLETION_ALWAYS, in));
  next_completion(queue, in);
  compare(in, kMark, 0, "what was read back");
  compare(in + kMark, sizeof mark, 1, "the atomic write, read back");

  fill(out, kMessage, 3);
  CALL(rpma_send(connection, source, 0, kMessage, RPMA_F_COMPLETION_ALWAYS, out));
  next_completion(queue, out);
  fill(out, kPage, 2);
  CALL(
      rpma_write_with_imm(connection, remote, 0, source, 0, kPage, RPMA_F_COMPLETION_ALWAYS, kImmediate, in));
  next_completion(queue, in);
}

static void use(const char* address, const char* port) {
  struct rpma_peer* peer = open_peer(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
  uint8_t* out = allocate(kSize);
  uint8_t* in = allocate(kSize);
  struct rpma_mr_local* source = NULL;
  struct rpma_mr_local* target = NULL;
  CALL(rpma_mr_reg(peer, out, kSize, RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_SEND, &source));
  CALL(rpma_mr_reg(peer, in, kSize, RPMA_MR_USAGE_READ_DST, &target));

  struct rpma_conn_req* request = NULL;
  CALL(rpma_conn_req_new(peer, address, port, NULL, &request));
  struct rpma_conn* connection = NULL;
  CALL(rpma_conn_req_connect(&request, NULL, &connection));
  expect_event(connection, RPMA_CONN_ESTABLISHED);

  struct rpma_conn_private_data answer;
  CALL(rpma_conn_get_private_data(connection, &answer));
  require(answer.ptr != NULL && answer.len >= sizeof(struct Offer), "the server's private data");
  const struct Offer* offer = answer.ptr;
  struct rpma_peer_cfg* settings = NULL;
  CALL(rpma_peer_cfg_from_descriptor(offer->descriptors, offer->peer_size, &settings));
  CALL(rpma_conn_apply_remote_peer_cfg(connection, settings));
  CALL(rpma_peer_cfg_delete(&settings));
  struct rpma_mr_remote* remote = NULL;
  CALL(rpma_mr_remote_from_descriptor(offer->descriptors + offer->peer_size, offer->memory_size, &remote));
  size_t size = 0;
  CALL(rpma_mr_remote_get_size(remote, &size));
  require(size == kSize, "the size of the remote memory");

  write_and_read(connection, source, target, remote, out, in);

  CALL(rpma_conn_disconnect(connection));
  expect_event(connection, RPMA_CONN_CLOSED);
  CALL(rpma_mr_remote_delete(&remote));
  CALL(rpma_conn_delete(&connection));
  CALL(rpma_mr_dereg(&target));
  CALL(rpma_mr_dereg(&source));
  CALL(rpma_peer_delete(&peer));
  free(in);
  free(out);
}

int main(int argc, char** argv) {
  if (argc != 3 && !(argc == 4 && strcmp(argv[3], "client") == 0)) {
    fprintf(stderr, "usage: rpma_check ADDRESS PORT [client]\n");
    return 2;
  }
  if (argc == 4)
    use(argv[1], argv[2]);
  else
    serve(argv[1], argv[2]);
  printf("all data were right\n");
  return 0;
}
