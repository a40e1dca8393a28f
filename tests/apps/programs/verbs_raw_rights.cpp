// What raw packets ask for: prints each verb that has to do with them and the name of the errno that it gave,
// "0" for success. The test beside it knows what is right for whom.
//
// With "drop", the right is given up after the device was opened: the kernel asks at every call.
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tests/apps/programs/device.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

void report(const char* verb, bool made) { fmt::print("{} {}\n", verb, made ? "0" : strerrorname_np(errno)); }

void drop_net_raw() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  require(syscall(SYS_capget, &header, sets) == 0, "capget");
  sets[0].effective &= ~(1u << CAP_NET_RAW);
  require(syscall(SYS_capset, &header, sets) == 0, "capset");
}

ibv_qp* create_qp(ibv_context* context, ibv_pd* pd, ibv_cq* cq, ibv_qp_type type, std::uint32_t sends) {
  ibv_qp_init_attr_ex attributes{};
  attributes.send_cq = attributes.recv_cq = cq;
  attributes.cap = {sends, 4, 1, 1, 0};
  attributes.qp_type = type;
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
  attributes.pd = pd;
  errno = 0;
  return ibv_create_qp_ex(context, &attributes);
}

ibv_wq* create_wq(ibv_context* context, ibv_pd* pd, ibv_cq* cq) {
  ibv_wq_init_attr attributes{};
  attributes.wq_type = IBV_WQT_RQ;
  attributes.max_wr = 4;
  attributes.max_sge = 1;
  attributes.pd = pd;
  attributes.cq = cq;
  errno = 0;
  return ibv_create_wq(context, &attributes);
}

ibv_rwq_ind_table* create_table(ibv_context* context, ibv_wq* wq) {
  ibv_rwq_ind_table_init_attr attributes{};
  attributes.ind_tbl = &wq;
  errno = 0;
  return ibv_create_rwq_ind_table(context, &attributes);
}

ibv_qp* create_rss_qp(ibv_context* context, ibv_pd* pd, ibv_rwq_ind_table* table) {
  static std::uint8_t key[40];
  ibv_qp_init_attr_ex attributes{};
  attributes.qp_type = IBV_QPT_RAW_PACKET;
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
  attributes.pd = pd;
  attributes.rwq_ind_tbl = table;
  attributes.rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, sizeof key, key, IBV_RX_HASH_SRC_IPV4};
  errno = 0;
  return ibv_create_qp_ex(context, &attributes);
}

bool create_flow(ibv_qp* qp) {
  ibv_flow_attr attributes{};
  attributes.type = IBV_FLOW_ATTR_SNIFFER;
  attributes.size = sizeof attributes;
  attributes.port = 1;
  errno = 0;
  return ibv_create_flow(qp, &attributes) != nullptr;
}

[[noreturn]] void run(bool drop) {
  const Device device("urnic0");
  ibv_context* const context = device.context();
  ibv_cq* const cq = ibv_create_cq(context, 16, nullptr, nullptr, 0);
  require(cq != nullptr, "ibv_create_cq");
  if (drop) drop_net_raw();
  ibv_qp* const raw = create_qp(context, device.pd(), cq, IBV_QPT_RAW_PACKET, 4);
  report("raw_qp", raw != nullptr);
  report("raw_qp_without_sends", create_qp(context, device.pd(), cq, IBV_QPT_RAW_PACKET, 0) != nullptr);
  // The kernel looks at the right before it looks at the queue pair.
  report("flow", create_flow(raw != nullptr ? raw : create_qp(context, device.pd(), cq, IBV_QPT_UD, 4)));
  ibv_wq* const wq = create_wq(context, device.pd(), cq);
  report("wq", wq != nullptr);
  ibv_rwq_ind_table* const table = create_table(context, wq);
  report("table", table != nullptr);
  report("rss_qp", create_rss_qp(context, device.pd(), table) != nullptr);
  report("rc_qp", create_qp(context, device.pd(), cq, IBV_QPT_RC, 4) != nullptr);
  std::fflush(stdout);
  _exit(0);  // all of it goes with the process
}

}  // namespace
}  // namespace urnic::apps

int main(int count, char** words) { urnic::apps::run(count > 1 && std::string_view(words[1]) == "drop"); }
