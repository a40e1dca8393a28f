// Attacks other programs through the work that the device process does for this one. Prepares the attack,
// prints "ready", waits for a line on its standard input, and attacks until the end of the input.
#include <sys/mman.h>
#include <sys/select.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "device_model/abi/doorbells.hpp"
#include "tests/apps/programs/control_client.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::bench {
namespace {

using abi::ControlOpcode;
using apps::require;

constexpr int kWindows = 100'000;
constexpr std::size_t kMappings = 65'000;
constexpr int kRemoteRead = IBV_ACCESS_REMOTE_READ;
constexpr int kLargeCq = 1 << 20;
constexpr std::uint32_t kFlushed = 16'384;  // requests of a QP in the error state
constexpr int kFlushedQps = 30;             // these fill a little less than half of the CQ
constexpr int kIdleQps = 12'000;

void wait_for_the_word() {
  fmt::print("ready\n");
  std::fflush(stdout);
  while (std::getchar() != '\n' && !std::feof(stdin)) {
  }
}

// Whether the standard input has not ended.
bool go_on() {
  fd_set inputs;
  FD_ZERO(&inputs);
  FD_SET(STDIN_FILENO, &inputs);
  timeval now{};
  return select(STDIN_FILENO + 1, &inputs, nullptr, nullptr, &now) == 0;
}

void bind_windows(apps::Pair& pair, const apps::Memory& memory, std::vector<ibv_mw*>& windows) {
  constexpr int kBatch = 64;
  for (int i = 0; i < kWindows; ++i) {
    ibv_mw* const window = ibv_alloc_mw(pair.left_device.pd(), IBV_MW_TYPE_2);
    require(window != nullptr, "window {}: {}", i, std::strerror(errno));
    windows.push_back(window);
    ibv_send_wr request{};
    request.opcode = IBV_WR_BIND_MW;
    request.send_flags = i % kBatch == kBatch - 1 ? IBV_SEND_SIGNALED : 0;
    request.bind_mw.mw = window;
    request.bind_mw.rkey = ibv_inc_rkey(window->rkey);
    request.bind_mw.bind_info = {memory.mr(), memory.address(), memory.size(), IBV_ACCESS_REMOTE_READ};
    pair.left.post(request);
    if (request.send_flags != 0)
      require(pair.left.wait_send().status == IBV_WC_SUCCESS, "a window is not bound");
  }
}

// Resets a QP to which many windows are bound. The bench can also kill the prepared program with all its
// windows.
void dying_qp() {
  apps::Pair pair;
  const apps::Memory memory(pair.left_device.pd(), 4096, apps::kAllAccess | IBV_ACCESS_MW_BIND);
  std::vector<ibv_mw*> windows;
  bind_windows(pair, memory, windows);
  wait_for_the_word();
  if (go_on()) require(pair.left.to_state(IBV_QPS_RESET) == 0, "the QP cannot be reset");
  while (go_on()) usleep(10'000);
  _exit(0);  // destroys no objects before
}

// Registers a range in which each page is a mapping of its own, because neighbouring pages have different
// rights.
void many_mappings() {
  const apps::Device device("urnic0");
  const auto page = static_cast<std::size_t>(getpagesize());
  const apps::Pages pages(kMappings * page);
  for (std::size_t i = 0; i < kMappings - 1; i += 2)
    require(mprotect(pages.data() + i * page, page, PROT_READ) == 0, "mapping {}: {}", i,
            std::strerror(errno));
  wait_for_the_word();
  while (go_on()) {
    ibv_mr* const mr = ibv_reg_mr(device.pd(), pages.data(), pages.size(), kRemoteRead);
    require(mr != nullptr, "ibv_reg_mr: {}", std::strerror(errno));
    require(ibv_dereg_mr(mr) == 0, "ibv_dereg_mr");
  }
}

// Fills the CQ through QPs in the error state, whose requests complete at once.
void fill_cq(const apps::Device& device, ibv_cq* cq, std::vector<apps::Endpoint>& ends) {
  apps::EndpointOptions options;
  options.capacity = {kFlushed, 1, 1, 1, 0};
  for (int i = 0; i < kFlushedQps; ++i) {
    apps::Endpoint& end = ends.emplace_back(device, options, cq, cq);
    require(end.to_init() == 0 && end.to_state(IBV_QPS_ERR) == 0, "no QP in the error state");
    for (std::uint32_t posted = 0; posted < kFlushed; ++posted) {
      ibv_send_wr request{};
      request.opcode = IBV_WR_SEND;
      end.post(request);
    }
  }
}

void resized_cq() {
  const apps::Device device("urnic0");
  const apps::CqOwner cq(ibv_create_cq(device.context(), kLargeCq, nullptr, nullptr, 0));
  require(cq != nullptr, "a CQ of {}: {}", kLargeCq, std::strerror(errno));
  std::vector<apps::Endpoint> ends;
  ends.reserve(kFlushedQps);
  fill_cq(device, cq.get(), ends);
  wait_for_the_word();
  for (int entries = kLargeCq / 2; go_on(); entries = entries == kLargeCq ? kLargeCq / 2 : kLargeCq)
    require(ibv_resize_cq(cq.get(), entries) == 0, "ibv_resize_cq: {}", std::strerror(errno));
}

abi::ModifyQpRequest to_state(const abi::CreateQpReply& qp, ibv_qp_state state, int mask,
                              const ibv_gid& gid) {
  abi::ModifyQpRequest request{};
  request.handle = qp.handle;
  request.mask = static_cast<std::uint32_t>(mask | IBV_QP_STATE);
  request.attributes.state = state;
  request.attributes.port = 1;
  request.attributes.path_mtu = IBV_MTU_1024;
  request.attributes.destination_qpn = qp.qpn;
  request.attributes.timeout = 14;
  request.attributes.retry_count = 7;
  request.attributes.path.is_global = 1;
  request.attributes.path.source_gid_index = apps::kGidIndex;
  request.attributes.path.hop_limit = 64;
  request.attributes.path.port = 1;
  std::memcpy(request.attributes.path.destination_gid, gid.raw, sizeof gid.raw);
  return request;
}

std::uint32_t connected_qp(apps::ControlClient& client, std::uint32_t pd, std::uint32_t cq,
                           const ibv_gid& gid) {
  abi::CreateQpRequest wanted{};
  wanted.pd = pd;
  wanted.send_cq = wanted.receive_cq = cq;
  wanted.type = IBV_QPT_RC;
  wanted.max_send_wr = wanted.max_receive_wr = wanted.max_send_sge = wanted.max_receive_sge = 1;
  const auto qp = client.demand<abi::CreateQpReply>(ControlOpcode::create_qp, wanted);
  constexpr int kInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  constexpr int kRtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  constexpr int kRts =
      IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  for (const auto& [state, mask] : {std::pair{IBV_QPS_INIT, kInit}, {IBV_QPS_RTR, kRtr}, {IBV_QPS_RTS, kRts}})
    client.demand<abi::Empty>(ControlOpcode::modify_qp, to_state(qp, state, mask, gid));
  return qp.doorbell;
}

// Rings the doorbells of QPs that have nothing to send, which a well-behaved program never does.
void doorbell_storm() {
  const ibv_gid gid = apps::Device("urnic0").gid();
  apps::ControlClient client;
  client.open_context();
  const auto pd = client.demand<abi::HandleReply>(ControlOpcode::allocate_pd, abi::Empty{}).handle;
  const auto cq =
      client.demand<abi::CreateCqReply>(ControlOpcode::create_cq, abi::CreateCqRequest{1, 0, 64, 0}).handle;
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < kIdleQps; ++i) numbers.push_back(connected_qp(client, pd, cq, gid));
  void* const page = mmap(nullptr, sizeof(abi::Doorbells), PROT_READ | PROT_WRITE, MAP_SHARED,
                          client.context_descriptors()[0].get(), 0);
  require(page != MAP_FAILED, "mmap: {}", std::strerror(errno));
  auto& doorbells = *static_cast<abi::Doorbells*>(page);
  wait_for_the_word();
  while (go_on()) {
    for (const std::uint32_t number : numbers) doorbells.ring(number);
    const std::uint64_t one = 1;
    require(write(client.context_descriptors()[2].get(), &one, sizeof one) > 0, "nobody is to be woken");
    usleep(50);  // leaves the processor to other threads
  }
}

const std::map<std::string, std::function<void()>> kAttacks{{"dying_qp", dying_qp},
                                                            {"mappings", many_mappings},
                                                            {"resize_cq", resized_cq},
                                                            {"doorbells", doorbell_storm}};

}  // namespace
}  // namespace urnic::bench

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app(
      "What a program can do to others by what it makes the device process do", "attacks");
  std::string attack;
  std::vector<std::string> names;
  for (const auto& [name, unused] : urnic::bench::kAttacks) names.push_back(name);
  app.add_option("ATTACK", attack, "which one").required().one_of(names);
  app.footer("Example: echo | urnic run -- attacks mappings");
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    urnic::bench::kAttacks.at(attack)();
  } catch (const std::exception& problem) {
    fmt::print(stderr, "attacks: {}\n", problem.what());
    return 1;
  }
}
