// A first RDMA program: urnic0 writes into the memory of urnic1, and reads it back.
//
// Both ends are in this one program, so that nothing is needed to exchange addresses. With one end on
// another machine every call would be the same.
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 1, GID_INDEX = 1, FIRST_PSN = 1000, SIZE = 5000 };

struct end {
  char memory[SIZE];
  struct ibv_context* device;
  struct ibv_pd* pd;
  struct ibv_mr* mr;
  struct ibv_cq* cq;
  struct ibv_qp* qp;
  union ibv_gid gid;
};

// Ends the program if `error`, a number of errno.h, is not 0.
static void done(int error, const char* what) {
  if (error == 0) return;
  fprintf(stderr, "%s: %s\n", what, strerror(error));
  exit(EXIT_FAILURE);
}

static void made(const void* object, const char* what) { done(object == NULL ? errno : 0, what); }

// Opens the device of that name, registers the end's memory, and makes a queue pair.
static void open_end(struct end* end, const char* name) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  made(list, "ibv_get_device_list");
  for (int i = 0; list[i] != NULL; ++i) {
    if (strcmp(ibv_get_device_name(list[i]), name) == 0) end->device = ibv_open_device(list[i]);
  }
  ibv_free_device_list(list);
  done(end->device == NULL ? ENODEV : 0, name);

  end->pd = ibv_alloc_pd(end->device);
  made(end->pd, "ibv_alloc_pd");
  end->mr = ibv_reg_mr(end->pd, end->memory, SIZE,
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  made(end->mr, "ibv_reg_mr");
  end->cq = ibv_create_cq(end->device, 16, NULL, NULL, 0);
  made(end->cq, "ibv_create_cq");
  struct ibv_qp_init_attr kind = {
      .qp_type = IBV_QPT_RC,
      .send_cq = end->cq,
      .recv_cq = end->cq,
      .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1}};
  end->qp = ibv_create_qp(end->pd, &kind);
  made(end->qp, "ibv_create_qp");
  done(ibv_query_gid(end->device, PORT, GID_INDEX, &end->gid), "ibv_query_gid");
}

// Leads the queue pair to the state in which it can send, with `peer` as the other end of the connection.
static void connect_end(struct end* end, const struct end* peer) {
  struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                             .port_num = PORT,
                             .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
  done(ibv_modify_qp(end->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
       "ibv_modify_qp to INIT");

  struct ibv_qp_attr receive = {
      .qp_state = IBV_QPS_RTR,
      .ah_attr = {.port_num = PORT, .is_global = 1, .grh = {.dgid = peer->gid, .sgid_index = GID_INDEX}},
      .dest_qp_num = peer->qp->qp_num,
      .path_mtu = IBV_MTU_1024,
      .rq_psn = FIRST_PSN,
      .max_dest_rd_atomic = 1,
      .min_rnr_timer = 12};
  done(ibv_modify_qp(end->qp, &receive,
                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_PATH_MTU | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
       "ibv_modify_qp to RTR");

  struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS,
                             .sq_psn = FIRST_PSN,
                             .timeout = 14,
                             .retry_cnt = 7,
                             .rnr_retry = 7,
                             .max_rd_atomic = 1};
  done(ibv_modify_qp(end->qp, &send,
                     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                         IBV_QP_MAX_QP_RD_ATOMIC),
       "ibv_modify_qp to RTS");
}

// Waits for one completion.
static void wait_for_completion(struct end* end) {
  struct ibv_wc completion;
  int count = 0;
  while (count == 0) count = ibv_poll_cq(end->cq, 1, &completion);
  done(count < 0 ? EIO : 0, "ibv_poll_cq");
  printf("completion: %s\n", ibv_wc_status_str(completion.status));
  if (completion.status != IBV_WC_SUCCESS) exit(EXIT_FAILURE);
}

// Asks the device to copy this end's memory to the peer's (RDMA_WRITE), or the peer's to this end's
// (RDMA_READ), and waits until it has done so.
static void copy(struct end* end, const struct end* peer, enum ibv_wr_opcode operation) {
  struct ibv_sge here = {.addr = (uintptr_t)end->memory, .length = SIZE, .lkey = end->mr->lkey};
  struct ibv_send_wr request = {.opcode = operation,
                                .send_flags = IBV_SEND_SIGNALED,
                                .sg_list = &here,
                                .num_sge = 1,
                                .wr.rdma = {.remote_addr = (uintptr_t)peer->memory, .rkey = peer->mr->rkey}};
  struct ibv_send_wr* refused = NULL;
  done(ibv_post_send(end->qp, &request, &refused), "ibv_post_send");
  wait_for_completion(end);
}

int main(void) {
  static struct end writer, target;
  open_end(&writer, "urnic0");
  open_end(&target, "urnic1");
  connect_end(&writer, &target);
  connect_end(&target, &writer);

  snprintf(writer.memory, SIZE, "written by urnic0 with RDMA");
  copy(&writer, &target, IBV_WR_RDMA_WRITE);
  printf("urnic1's memory: %s\n", target.memory);

  memset(writer.memory, 0, SIZE);
  copy(&writer, &target, IBV_WR_RDMA_READ);
  printf("read back: %s\n", writer.memory);
  return 0;
}
