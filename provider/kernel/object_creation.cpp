#include "provider/kernel/object_creation.hpp"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <cstring>

#include "provider/kernel/uverbs_command.hpp"

namespace urnic::kernel {

namespace {

class Attributes {
 public:
  Attributes(const ProgramMemory& memory, IoctlMethod& method) : memory_(memory), method_(method) {}

  bool has(uint16_t id) const { return find(id) != nullptr; }
  // 0 if it is not there: so is what the commands of write(2) have in its place.
  template <typename Number>
  Number number(uint16_t id) const {
    const ib_uverbs_attr* const found = find(id);
    return found != nullptr ? static_cast<Number>(found->data) : Number{0};
  }
  // False: not all of it is there.
  template <typename Struct>
  bool read(uint16_t id, Struct& value) const {
    const ib_uverbs_attr* const found = find(id);
    return found != nullptr && found->len >= sizeof value &&
           memory_.read(&value, input_of(*found).place, sizeof value) == sizeof value;
  }
  ProgramPart input(uint16_t id) const {
    const ib_uverbs_attr* const found = find(id);
    return found != nullptr ? input_of(*found) : ProgramPart{};
  }
  ProgramPart output(uint16_t id) const {
    const ib_uverbs_attr* const found = find(id);
    return found != nullptr ? output_of(*found) : ProgramPart{};
  }
  bool give_handle(uint16_t id, uint64_t handle) {
    const ib_uverbs_attr* const found = find(id);
    return found != nullptr &&
           memory_.write(&method_.own_attributes[found - method_.attributes].data, &handle, sizeof handle);
  }
  template <typename Struct>
  bool give(uint16_t id, const Struct& value) {
    const ProgramPart to = output(id);
    return to.length >= sizeof value && memory_.write(const_cast<void*>(to.place), &value, sizeof value);
  }

 private:
  const ib_uverbs_attr* find(uint16_t id) const {
    for (size_t i = 0; i < method_.header.num_attrs; ++i)
      if (method_.attributes[i].attr_id == id) return &method_.attributes[i];
    return nullptr;
  }

  const ProgramMemory& memory_;
  IoctlMethod& method_;
};

bool is_queue_pair(const ib_uverbs_ioctl_hdr& header) {
  return header.object_id == UVERBS_OBJECT_QP && header.method_id == UVERBS_METHOD_QP_CREATE;
}

bool is_completion_queue(const ib_uverbs_ioctl_hdr& header) {
  return header.object_id == UVERBS_OBJECT_CQ && header.method_id == UVERBS_METHOD_CQ_CREATE;
}

// Only libmlx5's imported contexts allocate doorbell pages, and name them.
template <typename Driver>
bool is_in_imported_context(const Attributes& attributes, uint32_t flag) {
  Driver driver;
  return attributes.read(UVERBS_ATTR_UHW_IN, driver) && (driver.flags & flag) != 0;
}

template <typename Core, typename Answer>
int run(int device, const ProgramMemory& memory, const Attributes& attributes, uint32_t number,
        const Core& core, Answer& answer) {
  UverbsCommand command = {};
  command.number = number | IB_USER_VERBS_CMD_FLAG_EXTENDED;
  command.is_apart = true;
  command.core = {&core, sizeof core};
  command.core_answer = {&answer, sizeof answer};
  command.driver = attributes.input(UVERBS_ATTR_UHW_IN);
  command.driver_answer = attributes.output(UVERBS_ATTR_UHW_OUT);
  return run_uverbs_command(device, memory, command);
}

int create_completion_queue(int device, const ProgramMemory& memory, Attributes& attributes) {
  if (!is_in_imported_context<mlx5_ib_create_cq>(attributes, MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX))
    return EPROTONOSUPPORT;
  ib_uverbs_ex_create_cq core = {};
  core.user_handle = attributes.number<uint64_t>(UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
  core.cqe = attributes.number<uint32_t>(UVERBS_ATTR_CREATE_CQ_CQE);
  core.comp_vector = attributes.number<uint32_t>(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR);
  core.comp_channel = attributes.has(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)
                          ? attributes.number<int32_t>(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)
                          : -1;
  core.flags = attributes.number<uint32_t>(UVERBS_ATTR_CREATE_CQ_FLAGS);
  ib_uverbs_ex_create_cq_resp answer = {};
  if (const int error = run(device, memory, attributes, IB_USER_VERBS_EX_CMD_CREATE_CQ, core, answer))
    return error;
  const bool given = attributes.give_handle(UVERBS_ATTR_CREATE_CQ_HANDLE, answer.base.cq_handle) &&
                     attributes.give(UVERBS_ATTR_CREATE_CQ_RESP_CQE, answer.base.cqe);
  return given ? 0 : EFAULT;
}

// The numbers of the types are the same for both forms (IB_UVERBS_QPT_RC and others).
int create_queue_pair(int device, const ProgramMemory& memory, Attributes& attributes) {
  if (!is_in_imported_context<mlx5_ib_create_qp>(attributes, MLX5_QP_FLAG_UAR_PAGE_INDEX) ||
      attributes.has(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE))
    return EPROTONOSUPPORT;
  ib_uverbs_qp_cap capacity;
  if (!attributes.read(UVERBS_ATTR_CREATE_QP_CAP, capacity)) return EFAULT;
  const auto flags = attributes.number<uint32_t>(UVERBS_ATTR_CREATE_QP_FLAGS);
  ib_uverbs_ex_create_qp core = {};
  core.user_handle = attributes.number<uint64_t>(UVERBS_ATTR_CREATE_QP_USER_HANDLE);
  core.pd_handle = attributes.number<uint32_t>(UVERBS_ATTR_CREATE_QP_PD_HANDLE);
  core.send_cq_handle = attributes.number<uint32_t>(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
  core.recv_cq_handle = attributes.number<uint32_t>(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
  core.srq_handle = attributes.number<uint32_t>(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
  core.is_srq = attributes.has(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE) ? 1 : 0;
  core.max_send_wr = capacity.max_send_wr;
  core.max_recv_wr = capacity.max_recv_wr;
  core.max_send_sge = capacity.max_send_sge;
  core.max_recv_sge = capacity.max_recv_sge;
  core.max_inline_data = capacity.max_inline_data;
  core.sq_sig_all = (flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0 ? 1 : 0;
  core.create_flags = flags & ~static_cast<uint32_t>(IB_UVERBS_QP_CREATE_SQ_SIG_ALL);
  core.qp_type = attributes.number<uint8_t>(UVERBS_ATTR_CREATE_QP_TYPE);
  ib_uverbs_ex_create_qp_resp answer = {};
  if (const int error = run(device, memory, attributes, IB_USER_VERBS_EX_CMD_CREATE_QP, core, answer))
    return error;
  capacity = {answer.base.max_send_wr, answer.base.max_recv_wr, answer.base.max_send_sge,
              answer.base.max_recv_sge, answer.base.max_inline_data};
  const bool given = attributes.give_handle(UVERBS_ATTR_CREATE_QP_HANDLE, answer.base.qp_handle) &&
                     attributes.give(UVERBS_ATTR_CREATE_QP_RESP_CAP, capacity) &&
                     attributes.give(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, answer.base.qpn);
  return given ? 0 : EFAULT;
}

}  // namespace

bool is_creation(const ib_uverbs_ioctl_hdr& header) {
  return is_completion_queue(header) || is_queue_pair(header);
}

int create_object(int device, const ProgramMemory& memory, IoctlMethod& method) {
  Attributes attributes(memory, method);
  return is_queue_pair(method.header) ? create_queue_pair(device, memory, attributes)
                                      : create_completion_queue(device, memory, attributes);
}

}  // namespace urnic::kernel
