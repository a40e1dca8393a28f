// A device process in the test process. It answers the control protocol and executes no work requests: a test
// reads what the provider wrote into the queues, and writes the completions itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device_model/abi/control.hpp"
#include "device_model/abi/doorbells.hpp"
#include "device_model/abi/queues.hpp"

namespace urnic::test {

struct FakeCq {
  std::uint64_t user_handle;
  abi::Cqe* ring;
  std::uint32_t entries;
  abi::CompletionQueueIndices* indices;
  std::uint32_t producer;
  int channel;  // write end; -1: none
  std::uint32_t events_reported;
  std::uint32_t flags;  // as asked for
};

struct FakeQp {
  abi::CreateQpRequest request;
  abi::CreateQpReply reply;
  char* send_ring;
  char* receive_ring;
  abi::QueuePairIndices* indices;
  std::uint32_t async_events_reported;

  const abi::SendWqe& send_wqe(std::uint32_t index) const;
  const abi::ScatterGather* send_segments(std::uint32_t index) const;
  const abi::ReceiveWqe& receive_wqe(std::uint32_t index) const;
  const abi::ScatterGather* receive_segments(std::uint32_t index) const;
};

class FakeDevice {
 public:
  static constexpr std::uint32_t kSendSlots = 8;
  static constexpr std::uint32_t kReceiveSlots = 8;
  static constexpr std::uint32_t kMaxSge = 3;
  static constexpr std::uint32_t kMaxInline = 100;
  static constexpr std::uint32_t kCqEntries = 16;
  static constexpr std::uint32_t kVendorId = 0x1AF4;

  // Makes a run directory with sysfs and a socket, and serves it on a thread of its own.
  FakeDevice();
  ~FakeDevice();

  // The directory that stands for /sys, and the socket that stands for /dev/infiniband/uverbs0.
  const std::string& sysfs() const { return sysfs_; }
  const std::string& node() const { return node_; }

  FakeQp& qp(std::uint32_t qpn);
  FakeCq& cq(std::uint32_t handle) { return cqs_.at(handle); }

  // Adds a CQE for the QP's WQE `wqe_index` to its CQ, and the completion event if one is due. `change` may
  // set more members of the CQE.
  void complete_send(FakeQp& qp, std::uint32_t wqe_index, const std::function<void(abi::Cqe&)>& change = {});
  void complete_receive(FakeQp& qp, std::uint32_t wqe_index,
                        const std::function<void(abi::Cqe&)>& change = {});
  void raise_async_event(std::uint64_t element, std::uint32_t type);

  // As the engine does before it sleeps. `woken`: whether the engine was woken since the last call.
  void set_sleeping(bool sleeping) { status_->sleeping.store(sleeping ? 1 : 0); }
  bool woken();
  // Whether the doorbell was rung; clears its bit.
  bool take_doorbell(std::uint32_t number);

  // The next request of this opcode fails with `error`.
  void refuse_next(abi::ControlOpcode opcode, int error);
  // The next register_mr is answered with an offer to share `pages`, and the one that says what came of it
  // fails with `error`.
  void offer_next(const abi::PageRange& pages, int error);
  unsigned requests(abi::ControlOpcode opcode);
  // The body of the last request of this opcode.
  template <typename Body>
  Body last_request(abi::ControlOpcode opcode) {
    const std::lock_guard lock(mutex_);
    const std::vector<char>& body = last_bodies_.at(opcode);
    Body value;
    std::copy_n(body.begin(), sizeof value, reinterpret_cast<char*>(&value));
    return value;
  }

  // The next QP gets this number.
  void give_next(std::uint32_t qpn) { next_qpn_ = qpn; }

  // Closes everything at once, as the kernel does for a process that is killed.
  void die();
  // For a forked child, which would not have a real device process's ends of sockets and pipes.
  void close_inherited();

 private:
  struct Connection {
    int socket;
    bool knows_arena;
  };
  struct Answer {
    int error = 0;
    std::vector<char> body;
    std::vector<int> descriptors;
    bool silent = false;

    template <typename Body>
    void set(const Body& value) {
      body.assign(reinterpret_cast<const char*>(&value),
                  reinterpret_cast<const char*>(&value) + sizeof value);
    }
  };
  struct Channel {
    std::uint64_t inode;
    int write_end;
  };

  void serve();
  bool serve_one(Connection& connection);
  Answer answer(Connection& connection, abi::ControlOpcode opcode, const std::vector<char>& body,
                const std::vector<int>& descriptors);
  Answer open_context(const std::vector<int>& descriptors);
  Answer add_channel(const std::vector<int>& descriptors);
  Answer create_cq(Connection& connection, const abi::CreateCqRequest& request);
  Answer resize_cq(Connection& connection, const abi::ResizeCqRequest& request);
  Answer create_qp(Connection& connection, const abi::CreateQpRequest& request);
  Answer offer_pages(const abi::RegisterMrRequest& request);
  abi::DestroyReply destroy_cq(std::uint32_t handle);
  abi::DestroyReply destroy_qp(std::uint32_t handle);
  abi::ArenaRange cut(std::uint64_t length, Connection& connection, Answer& answer);
  template <typename T>
  T* at(const abi::ArenaRange& range) {
    return reinterpret_cast<T*>(arena_base_ + range.offset);
  }
  void complete(FakeQp& qp, bool receive, std::uint32_t wqe_index,
                const std::function<void(abi::Cqe&)>& change);

  std::string directory_, sysfs_, node_;
  int listener_ = -1;
  int stop_[2];
  std::vector<Connection> connections_;
  std::thread thread_;

  std::mutex mutex_;
  std::map<abi::ControlOpcode, int> refusals_;
  abi::PageRange offer_;
  int error_after_offer_ = 0;
  std::map<abi::ControlOpcode, unsigned> counts_;
  std::map<abi::ControlOpcode, std::vector<char>> last_bodies_;

  int arena_ = -1;
  char* arena_base_ = nullptr;
  std::uint64_t arena_used_ = 0;
  int doorbells_memory_ = -1, status_memory_ = -1, wakeup_ = -1;
  abi::Doorbells* doorbells_ = nullptr;
  abi::EngineStatus* status_ = nullptr;
  int async_read_ = -1, async_write_ = -1;

  std::uint32_t next_handle_ = 1;
  std::uint32_t next_qpn_ = 0x11;
  std::map<std::uint32_t, FakeCq> cqs_;
  std::map<std::uint32_t, FakeQp> qps_;  // by handle
  std::vector<Channel> channels_;
};

// Writes the part of /sys that libibverbs reads to find one device, urnic_fake, with the node uverbs0.
void write_fake_sysfs(const std::string& directory);

// Makes /dev/infiniband/uverbs0 of this process a connection to `node` (fake_device_node.cpp).
void attach_fake_node(const std::string& node);

}  // namespace urnic::test
