#include "tests/unit/queue_pair/workload.hpp"

#include <algorithm>
#include <array>

namespace urnic::transport::bench {
namespace {

bool takes_receive(WorkOpcode opcode) {
  return opcode == WorkOpcode::send || opcode == WorkOpcode::send_with_immediate ||
         opcode == WorkOpcode::send_with_invalidate || opcode == WorkOpcode::rdma_write_with_immediate;
}

// On one of the words for atomics.
bool is_on_word(WorkOpcode opcode) { return is_atomic(opcode) || opcode == WorkOpcode::atomic_write; }

std::size_t slot_size(const WorkloadSetup& setup) {
  return (std::size_t{setup.path_mtu} * setup.most_packets + 63) / 64 * 64;
}

constexpr std::size_t kWords = 64;  // at the beginning of each half: targets of atomics

}  // namespace

// Memory: for each direction a half with words for atomics, slots where the sender's data is, slots where it
// goes to.
std::size_t Workload::memory_size(const WorkloadSetup& setup) {
  return 2 * (kWords + 2 * setup.requests * slot_size(setup));
}

std::uint64_t Workload::slot(std::uint32_t position) const {
  return kBase + half_ + kWords + position * slot_size(setup_);
}

Workload::Workload(LossyPair& pair, std::size_t from, const WorkloadSetup& setup)
    : pair_(pair),
      from_(pair.side(from)),
      to_(pair.side(1 - from)),
      setup_(setup),
      half_(from * memory_size(setup) / 2) {
  for (std::uint32_t i = 0; i < setup.requests; ++i) make_request(i);
}

void Workload::make_request(std::uint32_t position) {
  static constexpr std::array kOpcodes{
      WorkOpcode::rdma_write,          WorkOpcode::rdma_write_with_immediate, WorkOpcode::send,
      WorkOpcode::send_with_immediate, WorkOpcode::send_with_invalidate,      WorkOpcode::rdma_read,
      WorkOpcode::rdma_read,           WorkOpcode::atomic_compare_swap,       WorkOpcode::atomic_fetch_add,
      WorkOpcode::atomic_write};
  Expected expected;
  SendRequest& request = expected.request;
  request.opcode = kOpcodes[random(kOpcodes.size())];
  request.signaled = random(3) != 0;
  request.solicited = random(2) != 0;
  request.fence = random(8) == 0;
  for (std::uint8_t& byte : request.immediate.bytes) byte = static_cast<std::uint8_t>(random(256));
  request.invalidate = wire::Rkey{static_cast<std::uint32_t>(random(1 << 16))};
  request.rkey = wire::Rkey{kKey};
  expected.seed = static_cast<std::uint8_t>(random(256));
  expected.local = slot(position);
  expected.remote = slot(setup_.requests + position);
  const std::uint32_t most = setup_.path_mtu * setup_.most_packets;
  // Whole packets and the lengths around them more often than chance would have them.
  expected.length = static_cast<std::uint32_t>(
      random(3) == 0 ? random(setup_.most_packets + 1) * setup_.path_mtu : random(most + 1));
  if (is_on_word(request.opcode)) expect_atomic(expected);
  request.remote_address = expected.remote;
  if (takes_receive(request.opcode)) {
    expected.receive = static_cast<std::uint32_t>(receives_.size());
    receives_.push_back({requests_.size(), expected.remote, random(2) == 0});
  }
  requests_.push_back(expected);
}

void Workload::expect_atomic(Expected& expected) {
  const std::size_t word = random(2);
  SendRequest& request = expected.request;
  expected.remote = kBase + half_ + 8 * word;
  expected.length = 8;
  expected.original = counters_[word];
  if (request.opcode == WorkOpcode::atomic_write) {
    counters_[word] = expected.written = random(1u << 20);
    return;
  }
  if (request.opcode == WorkOpcode::atomic_fetch_add) {
    request.compare_add = random(1000);
    counters_[word] += request.compare_add;
  } else {
    request.compare_add = random(2) == 0 ? counters_[word] : counters_[word] + 1;
    request.swap = random(1u << 20);
    if (request.compare_add == counters_[word]) counters_[word] = request.swap;
  }
}

void Workload::fill_memory(const Expected& expected) {
  if (is_atomic(expected.request.opcode)) return;
  if (expected.request.opcode == WorkOpcode::atomic_write) {
    return from_.memory.set_word(expected.local, expected.written);
  }
  Side& source = expected.request.opcode == WorkOpcode::rdma_read ? to_ : from_;
  const std::uint64_t address =
      expected.request.opcode == WorkOpcode::rdma_read ? expected.remote : expected.local;
  source.memory.fill_pattern(address, expected.length, expected.seed);
}

void Workload::post_all() {
  for (const Expected& expected : requests_) {
    fill_memory(expected);
    SendRequest request = expected.request;
    const auto first = static_cast<std::uint32_t>(random(expected.length + 1));
    const bool split = !is_on_word(request.opcode) && random(2) == 0;
    const std::array<Sge, 2> sges{Sge{expected.local, split ? first : expected.length, Lkey{kKey}},
                                  Sge{expected.local + first, expected.length - first, Lkey{kKey}}};
    request.sges = std::span(sges).first(split ? 2 : 1);
    const std::vector<std::byte> data = from_.memory.bytes(expected.local, expected.length);
    const bool may_be_inline =
        request.opcode != WorkOpcode::rdma_read && !is_on_word(request.opcode) && expected.length <= 128;
    if ((may_be_inline && random(2) == 0) || request.opcode == WorkOpcode::atomic_write) {
      request.is_inline = true;
      request.inline_data = data;
      request.sges = {};
    }
    from_.sends.post(request);
  }
}

void Workload::post_receives(std::uint32_t count) {
  const std::uint32_t room = setup_.path_mtu * setup_.most_packets;
  for (; count > 0 && posted_receives_ < receives_.size(); --count) {
    const ExpectedReceive& receive = receives_[posted_receives_++];
    const std::uint32_t first = receive.split ? room / 3 : room;
    to_.receives.post(
        {Sge{receive.address, first, Lkey{kKey}}, Sge{receive.address + first, room - first, Lkey{kKey}}});
  }
}

std::string Workload::check_memory(std::size_t position) const {
  const Expected& expected = requests_[position];
  const std::string which = "request " + std::to_string(position) + " (opcode " +
                            std::to_string(static_cast<int>(expected.request.opcode)) + ")";
  if (is_atomic(expected.request.opcode)) {
    if (from_.memory.word(expected.local) == expected.original) return {};
    return which + ": atomic returned " + std::to_string(from_.memory.word(expected.local)) + ", not " +
           std::to_string(expected.original);
  }
  if (expected.request.opcode == WorkOpcode::atomic_write) return {};  // the words are looked at in the end
  const bool read = expected.request.opcode == WorkOpcode::rdma_read;
  const BenchMemory& target = read ? from_.memory : to_.memory;
  const std::uint64_t address = read ? expected.local : expected.remote;
  std::vector<std::byte> wanted = pattern(expected.length, expected.seed);
  wanted.resize(slot_size(setup_));  // nothing was written behind it
  if (target.bytes(address, wanted.size()) != wanted) return which + ": data differs";
  return {};
}

std::string Workload::check_sends() const {
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i].request.signaled) wanted.push_back(i);
  }
  std::size_t at = 0;
  for (const Completion& completion : from_.host.completions) {
    if (completion.receive) continue;
    if (completion.status != WorkStatus::success) {
      return "request " + std::to_string(completion.wqe_index) + " completed with status " +
             std::to_string(static_cast<int>(completion.status));
    }
    if (at == wanted.size() || completion.wqe_index != wanted[at]) {
      return "completion of request " + std::to_string(completion.wqe_index) + " out of order";
    }
    ++at;
  }
  if (at != wanted.size()) return "only " + std::to_string(at) + " requests completed";
  if (from_.sends.retired() != requests_.size()) return "not all requests retired";
  return {};
}

std::string Workload::check_receives() const {
  std::uint32_t index = 0;
  for (const Completion& completion : to_.host.completions) {
    if (!completion.receive) continue;
    const std::string which = "receive " + std::to_string(index);
    if (index == receives_.size()) return which + ": one too many";
    const Expected& expected = requests_[receives_[index].request];
    const SendRequest& request = expected.request;
    const bool immediate = request.opcode == WorkOpcode::send_with_immediate ||
                           request.opcode == WorkOpcode::rdma_write_with_immediate;
    if (completion.wqe_index != index) return which + ": index";
    if (completion.status != WorkStatus::success) return which + ": status";
    if (completion.byte_length != expected.length) return which + ": length";
    if (completion.solicited != request.solicited) return which + ": solicited";
    if (completion.with_immediate != immediate) return which + ": with_immediate";
    if (immediate && !(completion.immediate == request.immediate)) return which + ": immediate";
    const bool invalidate = request.opcode == WorkOpcode::send_with_invalidate;
    if (completion.with_invalidate != invalidate) return which + ": with_invalidate";
    if (invalidate && completion.invalidated != request.invalidate) return which + ": invalidated";
    if ((completion.opcode == CompletionOpcode::receive_rdma_with_immediate) !=
        (request.opcode == WorkOpcode::rdma_write_with_immediate)) {
      return which + ": opcode";
    }
    ++index;
  }
  if (index != receives_.size()) return "only " + std::to_string(index) + " receives completed";
  return {};
}

std::string Workload::verdict() const {
  if (std::string problem = check_sends(); !problem.empty()) return problem;
  if (std::string problem = check_receives(); !problem.empty()) return problem;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (std::string problem = check_memory(i); !problem.empty()) return problem;
  }
  for (std::size_t word = 0; word < 2; ++word) {
    if (to_.memory.word(kBase + half_ + 8 * word) != counters_[word]) return "an atomic's word is wrong";
  }
  std::size_t invalidations = 0;
  for (const Expected& expected : requests_) {
    invalidations += expected.request.opcode == WorkOpcode::send_with_invalidate ? 1 : 0;
  }
  if (to_.keys.invalidated.size() != invalidations) return "invalidated too often or too rarely";
  return {};
}

}  // namespace urnic::transport::bench
