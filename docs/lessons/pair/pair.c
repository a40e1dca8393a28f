#include "pair.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 1, GID_INDEX = 1, FIRST_PSN = 1000, MOST_READS = 16 };
enum { PEERS_RIGHTS = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

const struct pair_options pair_defaults = {.send_slots = 64,
                                           .receive_slots = 64,
                                           .completion_slots = 128,
                                           .inline_bytes = 64,
                                           .signal_all = 0,
                                           .retries = 7,
                                           .rnr_retries = 7,
                                           .timeout = 14};

void done(int error, const char* what) {
  if (error == 0) return;
  fprintf(stderr, "%s: %s\n", what, strerror(error));
  exit(EXIT_FAILURE);
}

void made(const void* object, const char* what) { done(object == NULL ? errno : 0, what); }

static struct ibv_context* open_device(const char* name) {
  struct ibv_context* device = NULL;
  struct ibv_device** list = ibv_get_device_list(NULL);
  made(list, "ibv_get_device_list");
  for (int i = 0; list[i] != NULL; ++i) {
    if (strcmp(ibv_get_device_name(list[i]), name) == 0) device = ibv_open_device(list[i]);
  }
  ibv_free_device_list(list);
  done(device == NULL ? ENODEV : 0, name);
  return device;
}

static void make_queue_pair(struct end* end, struct ibv_srq* receives, const struct pair_options* options) {
  struct ibv_qp_init_attr kind = {.qp_type = IBV_QPT_RC,
                                  .send_cq = end->cq,
                                  .recv_cq = end->cq,
                                  .srq = receives,
                                  .sq_sig_all = options->signal_all,
                                  .cap = {.max_send_wr = options->send_slots,
                                          .max_recv_wr = receives == NULL ? options->receive_slots : 0,
                                          .max_send_sge = 2,
                                          .max_recv_sge = receives == NULL ? 2 : 0,
                                          .max_inline_data = options->inline_bytes}};
  end->qp = ibv_create_qp(end->pd, &kind);
  made(end->qp, "ibv_create_qp");
}

static void open_end(struct end* end, const char* name, const struct pair_options* options) {
  end->device = open_device(name);
  end->pd = ibv_alloc_pd(end->device);
  made(end->pd, "ibv_alloc_pd");
  end->channel = ibv_create_comp_channel(end->device);
  made(end->channel, "ibv_create_comp_channel");
  end->cq = ibv_create_cq(end->device, (int)options->completion_slots, NULL, end->channel, 0);
  made(end->cq, "ibv_create_cq");
  make_queue_pair(end, NULL, options);
  done(ibv_query_gid(end->device, PORT, GID_INDEX, &end->gid), "ibv_query_gid");
}

static void modify(const struct end* end, struct ibv_qp_attr attributes, int which) {
  done(ibv_modify_qp(end->qp, &attributes, IBV_QP_STATE | which), "ibv_modify_qp");
}

// From any state to RTS.
static void connect_end(const struct end* end, const struct end* peer, const struct pair_options* options) {
  modify(end, (struct ibv_qp_attr){.qp_state = IBV_QPS_RESET}, 0);
  modify(end,
         (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = PORT, .qp_access_flags = PEERS_RIGHTS},
         IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  modify(
      end,
      (struct ibv_qp_attr){
          .qp_state = IBV_QPS_RTR,
          .ah_attr = {.port_num = PORT, .is_global = 1, .grh = {.dgid = peer->gid, .sgid_index = GID_INDEX}},
          .dest_qp_num = peer->qp->qp_num,
          .path_mtu = IBV_MTU_1024,
          .rq_psn = FIRST_PSN,
          .max_dest_rd_atomic = MOST_READS,
          .min_rnr_timer = 12},
      IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
          IBV_QP_MIN_RNR_TIMER);
  modify(end,
         (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                              .sq_psn = FIRST_PSN,
                              .timeout = (uint8_t)options->timeout,
                              .retry_cnt = (uint8_t)options->retries,
                              .rnr_retry = (uint8_t)options->rnr_retries,
                              .max_rd_atomic = MOST_READS},
         IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

void pair_connect(struct end* first, struct end* second, const struct pair_options* options) {
  connect_end(first, second, options);
  connect_end(second, first, options);
}

void pair_open_between(struct end* first, const char* first_device, struct end* second,
                       const char* second_device, const struct pair_options* options) {
  open_end(first, first_device, options);
  open_end(second, second_device, options);
  pair_connect(first, second, options);
}

void pair_open(struct end* first, struct end* second, const struct pair_options* options) {
  pair_open_between(first, "urnic0", second, "urnic1", options);
}

void pair_add(const struct end* first, const struct end* second, struct end* new_first,
              struct end* new_second, struct ibv_srq* receives, const struct pair_options* options) {
  *new_first = *first;
  *new_second = *second;
  make_queue_pair(new_first, NULL, options);
  make_queue_pair(new_second, receives, options);
  pair_connect(new_first, new_second, options);
}

void pair_remove(struct end* new_first, struct end* new_second) {
  done(ibv_destroy_qp(new_first->qp), "ibv_destroy_qp");
  done(ibv_destroy_qp(new_second->qp), "ibv_destroy_qp");
}

static void close_end(struct end* end) {
  done(ibv_destroy_qp(end->qp), "ibv_destroy_qp");
  done(ibv_destroy_cq(end->cq), "ibv_destroy_cq");
  done(ibv_destroy_comp_channel(end->channel), "ibv_destroy_comp_channel");
  done(ibv_dealloc_pd(end->pd), "ibv_dealloc_pd");
  done(ibv_close_device(end->device), "ibv_close_device");
}

void pair_close(struct end* first, struct end* second) {
  close_end(first);
  close_end(second);
}

struct ibv_mr* register_memory(const struct end* end, void* memory, size_t length, int rights) {
  struct ibv_mr* region = ibv_reg_mr(end->pd, memory, length, rights);
  made(region, "ibv_reg_mr");
  return region;
}

struct ibv_wc next_completion(const struct end* end) {
  struct ibv_wc completion;
  int count = 0;
  while (count == 0) count = ibv_poll_cq(end->cq, 1, &completion);
  done(count < 0 ? EIO : 0, "ibv_poll_cq");
  return completion;
}
