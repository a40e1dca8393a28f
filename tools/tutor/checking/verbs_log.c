// Linked into a learner's program by the checks: writes down what the program asks of verbs and which
// completions it gets, a line each, in the file that the environment variable VERBS_LOG names. The linker's
// option --wrap leads the wrapped calls here; posting and polling are calls of functions that the device's
// context has pointers to.
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

// Declared for the linker's --wrap. verbs.h makes macros of some of these names.
#undef ibv_reg_mr
struct ibv_context* __real_ibv_open_device(struct ibv_device* device);
struct ibv_qp* __real_ibv_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* kind);
struct ibv_mr* __real_ibv_reg_mr(struct ibv_pd* pd, void* address, size_t length, int rights);
struct ibv_mr* __real_ibv_reg_mr_iova2(struct ibv_pd* pd, void* address, size_t length, uint64_t iova,
                                       unsigned int rights);
int __real_ibv_get_cq_event(struct ibv_comp_channel* channel, struct ibv_cq** cq, void** context);
struct ibv_context* __wrap_ibv_open_device(struct ibv_device* device);
struct ibv_qp* __wrap_ibv_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* kind);
struct ibv_mr* __wrap_ibv_reg_mr(struct ibv_pd* pd, void* address, size_t length, int rights);
struct ibv_mr* __wrap_ibv_reg_mr_iova2(struct ibv_pd* pd, void* address, size_t length, uint64_t iova,
                                       unsigned int rights);
int __wrap_ibv_get_cq_event(struct ibv_comp_channel* channel, struct ibv_cq** cq, void** context);
int __real_ibv_get_async_event(struct ibv_context* context, struct ibv_async_event* event);
int __wrap_ibv_get_async_event(struct ibv_context* context, struct ibv_async_event* event);

static struct ibv_context_ops device;  // the device's own functions; all devices of a program have the same
static FILE* log_file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long empty_polls;

// The log, locked. Empty polls are only counted: their number is written before whatever happens next.
static FILE* line(void) {
  pthread_mutex_lock(&lock);
  if (empty_polls > 0) fprintf(log_file, "empty %lu\n", empty_polls);
  empty_polls = 0;
  return log_file;
}

static void end(void) { pthread_mutex_unlock(&lock); }

static unsigned long length_of(const struct ibv_sge* list, int count) {
  unsigned long length = 0;
  for (int i = 0; i < count; ++i) length += list[i].length;
  return length;
}

static int post_send(struct ibv_qp* qp, struct ibv_send_wr* list, struct ibv_send_wr** refused) {
  const int error = device.post_send(qp, list, refused);
  FILE* out = line();
  fprintf(out, "post %u %d\n", qp->qp_num, error);
  for (const struct ibv_send_wr* wr = list; wr != NULL && !(error != 0 && wr == *refused); wr = wr->next) {
    fprintf(out, "send %u %d %u %lu %llu\n", qp->qp_num, wr->opcode, wr->send_flags,
            length_of(wr->sg_list, wr->num_sge), (unsigned long long)wr->wr_id);
  }
  end();
  return error;
}

static int post_recv(struct ibv_qp* qp, struct ibv_recv_wr* list, struct ibv_recv_wr** refused) {
  const int error = device.post_recv(qp, list, refused);
  FILE* out = line();
  for (const struct ibv_recv_wr* wr = list; wr != NULL && !(error != 0 && wr == *refused); wr = wr->next)
    fprintf(out, "receive %u %lu %llu\n", qp->qp_num, length_of(wr->sg_list, wr->num_sge),
            (unsigned long long)wr->wr_id);
  end();
  return error;
}

static int post_srq_recv(struct ibv_srq* srq, struct ibv_recv_wr* list, struct ibv_recv_wr** refused) {
  const int error = device.post_srq_recv(srq, list, refused);
  FILE* out = line();
  fprintf(out, "post_shared %u %d\n", srq->handle, error);
  for (const struct ibv_recv_wr* wr = list; wr != NULL && !(error != 0 && wr == *refused); wr = wr->next)
    fprintf(out, "shared %u %lu %llu\n", srq->handle, length_of(wr->sg_list, wr->num_sge),
            (unsigned long long)wr->wr_id);
  end();
  return error;
}

static int poll_cq(struct ibv_cq* cq, int most, struct ibv_wc* completions) {
  const int count = device.poll_cq(cq, most, completions);
  if (count == 0) {
    pthread_mutex_lock(&lock);
    ++empty_polls;
    pthread_mutex_unlock(&lock);
    return 0;
  }
  FILE* out = line();
  for (int i = 0; i < count; ++i) {
    const struct ibv_wc* completion = &completions[i];
    fprintf(out, "completion %u %d %d %llu\n", completion->qp_num, completion->opcode, completion->status,
            (unsigned long long)completion->wr_id);
  }
  end();
  return count;
}

static int req_notify_cq(struct ibv_cq* cq, int solicited_only) {
  fprintf(line(), "arm %u\n", cq->handle);
  end();
  return device.req_notify_cq(cq, solicited_only);
}

static void open_log(void) {
  const char* name = getenv("VERBS_LOG");
  log_file = fopen(name != NULL ? name : "/dev/null", "w");
  if (log_file != NULL) return;
  perror(name);
  exit(EXIT_FAILURE);
}

struct ibv_context* __wrap_ibv_open_device(struct ibv_device* which) {
  struct ibv_context* context = __real_ibv_open_device(which);
  if (context == NULL) return NULL;
  if (log_file == NULL) open_log();
  device = context->ops;
  context->ops.post_send = post_send;
  context->ops.post_recv = post_recv;
  context->ops.post_srq_recv = post_srq_recv;
  context->ops.poll_cq = poll_cq;
  context->ops.req_notify_cq = req_notify_cq;
  return context;
}

struct ibv_qp* __wrap_ibv_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* kind) {
  const unsigned int send_slots = kind->cap.max_send_wr, receive_slots = kind->cap.max_recv_wr;
  struct ibv_qp* qp = __real_ibv_create_qp(pd, kind);
  fprintf(line(), "queue_pair %u %d %u %u %d\n", qp != NULL ? qp->qp_num : 0, kind->qp_type, send_slots,
          receive_slots, kind->srq != NULL);
  end();
  return qp;
}

static struct ibv_mr* registered(struct ibv_mr* region, unsigned int rights) {
  if (region == NULL) return NULL;
  fprintf(line(), "region %llu %zu %u %u %u\n", (unsigned long long)(uintptr_t)region->addr, region->length,
          rights, region->lkey, region->rkey);
  end();
  return region;
}

struct ibv_mr* __wrap_ibv_reg_mr(struct ibv_pd* pd, void* address, size_t length, int rights) {
  return registered(__real_ibv_reg_mr(pd, address, length, rights), (unsigned int)rights);
}

struct ibv_mr* __wrap_ibv_reg_mr_iova2(struct ibv_pd* pd, void* address, size_t length, uint64_t iova,
                                       unsigned int rights) {
  return registered(__real_ibv_reg_mr_iova2(pd, address, length, iova, rights), rights);
}

int __wrap_ibv_get_cq_event(struct ibv_comp_channel* channel, struct ibv_cq** cq, void** context) {
  const int error = __real_ibv_get_cq_event(channel, cq, context);
  fprintf(line(), "event %d\n", error);
  end();
  return error;
}

int __wrap_ibv_get_async_event(struct ibv_context* context, struct ibv_async_event* event) {
  const int error = __real_ibv_get_async_event(context, event);
  if (error == 0) {
    fprintf(line(), "device_event %d\n", event->event_type);
    end();
  }
  return error;
}
