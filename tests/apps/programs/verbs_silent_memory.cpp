// Registers memory that does not answer, and has requests of each kind wait for it. Says "waits for" and the
// process number of what serves the memory, which answers when it is sent SIGUSR1; then says how the requests
// ended.
//
// Usage: verbs_silent_memory
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/apps/programs/silent_file.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kLength = 3 * 4096;
constexpr std::size_t kApart = 64 * 1024;  // places of the file that have nothing to do with each other

struct Case {
  const char* name;
  ibv_wr_opcode opcode;
  bool silent_at_requester;
};
constexpr std::array<Case, 5> kCases{{
    {"send", IBV_WR_SEND, true},
    {"write from it", IBV_WR_RDMA_WRITE, true},
    {"write to it", IBV_WR_RDMA_WRITE, false},
    {"read of it", IBV_WR_RDMA_READ, false},
    {"fetch and add of it", IBV_WR_ATOMIC_FETCH_AND_ADD, false},
}};

// The peer of a responder that waits may try for minutes.
EndpointOptions patient() {
  EndpointOptions options;
  options.timeout = 21;
  return options;
}

class Wait {
 public:
  Wait(const Case& kind, const Device& left, const Device& right, std::byte* silent, std::uint32_t key)
      : kind_(kind),
        left_(left, patient()),
        right_(right, patient()),
        near_(left.pd(), kLength),
        far_(right.pd(), kLength),
        silent_(silent),
        key_(key) {
    left_.connect(right_.address());
    right_.connect(left_.address());
  }

  void post() {
    const auto silent = reinterpret_cast<std::uintptr_t>(silent_);
    const std::uint32_t length = kind_.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : kLength;
    ibv_sge segment = near_.segment(0, length);
    if (kind_.silent_at_requester) segment = {silent, length, key_};
    const std::uint64_t remote = kind_.silent_at_requester ? far_.address() : silent;
    const std::uint32_t rkey = kind_.silent_at_requester ? far_.rkey() : key_;
    if (kind_.opcode == IBV_WR_SEND) {
      right_.post_receive(1, {far_.segment(0, kLength)});
      left_.post(send_request(segment));
    } else if (kind_.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      left_.post(fetch_add_request(segment, remote, rkey));
    } else {
      left_.post(rdma_request(kind_.opcode, segment, remote, rkey));
    }
  }

  bool waits() const { return !poll_for(left_.send_cq(), std::chrono::milliseconds(0)); }

  // Says how it ended.
  void finish() const {
    const ibv_wc completion = left_.wait_send();
    fmt::print("{}: {}, {}\n", kind_.name, ibv_wc_status_str(completion.status),
               is_right() ? "right" : "wrong bytes");
  }

 private:
  // What the file has is on the other side as well, or what the other side had is in the file.
  bool is_right() const {
    const std::size_t offset = static_cast<std::size_t>(silent_ - silent_file);
    const std::byte* const copy = kind_.silent_at_requester ? far_.data() : near_.data();
    const std::size_t length = kind_.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : kLength;
    if (kind_.opcode == IBV_WR_RDMA_WRITE && !kind_.silent_at_requester)
      return std::memcmp(copy, silent_, length) == 0;
    for (std::size_t i = 0; i < length; ++i) {
      if (copy[i] != SilentFile::byte_at(offset + i)) return false;
    }
    return true;
  }

 public:
  static inline const std::byte* silent_file = nullptr;

 private:
  const Case& kind_;
  Endpoint left_;
  Endpoint right_;
  Memory near_;
  Memory far_;
  std::byte* silent_;
  std::uint32_t key_;
};

void wait_for_memory() {
  const SilentFile file;
  std::byte* const silent = file.map();
  Wait::silent_file = silent;
  const DeviceNames names = device_names();
  const Device left(names.first);
  const Device right(names.second);
  const MrOwner left_mr(ibv_reg_mr(left.pd(), silent, SilentFile::kBytes, kAllAccess));
  const MrOwner right_mr(ibv_reg_mr(right.pd(), silent, SilentFile::kBytes, kAllAccess));
  require(left_mr != nullptr && right_mr != nullptr, "memory of a file cannot be registered");
  std::vector<std::unique_ptr<Wait>> waits;
  for (const Case& kind : kCases) {
    const std::uint32_t key = kind.silent_at_requester ? left_mr->lkey : right_mr->rkey;
    waits.push_back(std::make_unique<Wait>(kind, left, right, silent + waits.size() * kApart, key));
    waits.back()->post();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (const auto& wait : waits) require(wait->waits(), "a request did not wait");
  fmt::print("waits for {}\n", file.server());
  std::fflush(stdout);
  for (const auto& wait : waits) wait->finish();
  std::fflush(stdout);
}

}  // namespace
}  // namespace urnic::apps

int main() {
  try {
    urnic::apps::wait_for_memory();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
