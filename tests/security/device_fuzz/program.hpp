// One hostile program: a context with objects of every kind, valid requests, and the same requests bent.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device_model/abi/doorbells.hpp"
#include "device_model/abi/memory_messages.hpp"
#include "device_model/abi/queues.hpp"
#include "device_model/abi/steering_messages.hpp"
#include "device_model/abi/tag_matching_ring.hpp"
#include "tests/security/device_fuzz/chance.hpp"
#include "tests/security/device_fuzz/odd_descriptors.hpp"
#include "tests/security/device_fuzz/own_memory.hpp"
#include "tests/security/device_fuzz/shared_queues.hpp"

namespace urnic::device_fuzz {

inline constexpr unsigned kDevices = 6;  // two of them with the face mlx5

// The things that all programs of an attacker share.
struct Attack {
  std::string run_directory;
  Counts& counts;
  Chance& chance;
  Targets& targets;
  OddDescriptors& odd;
  OwnMemory& memory;
  // Of all its programs, running and ended: numbers that are another program's.
  std::vector<std::uint32_t> handles;
  std::vector<std::uint32_t> qpns;
  std::vector<std::uint32_t> keys;
  std::vector<abi::ContextToken> tokens;
};

class Program {
 public:
  Program(Attack& attack, unsigned device);

  bool is_open() const { return connection_.is_open(); }
  // Sends one message, or posts, or rings; takes the answer.
  void step();
  // The requests with which most programs begin, so that many later ones are about existing objects.
  void settle();

 private:
  struct Queue {  // a QP, or an SRQ
    std::uint32_t handle = 0;
    std::uint32_t number = 0;
    std::uint32_t type = 0;
    std::uint32_t state = 0;
    std::uint32_t doorbell = 0;
    std::uint32_t sends = 0, send_bytes = 0, receives = 0, receive_bytes = 0;
    std::span<std::byte> send_ring, receive_ring, posted_ring, indices;
    std::span<std::byte> operations, operation_indices;
    std::uint32_t tag_doorbell = 0;
  };
  struct Completion {
    std::uint32_t handle = 0;
    std::uint32_t entries = 0;
    std::span<std::byte> indices;
  };
  struct Request {
    abi::ControlOpcode opcode{};
    std::vector<std::byte> body;
    std::vector<Descriptor> descriptors;
    std::function<void(ControlReply&)> served;  // remembers the objects of a good answer
  };

  // program.cpp
  void send(Request request);
  void bend(Request& request);
  void open();
  Request opening();

  // creations.cpp, requests.cpp: each makes one valid request about existing objects.
  Request any_request();
  Request any_creation();
  Request any_destruction();
  Request any_other();
  Request pd();
  Request mr();
  Request reregister();
  Request window();
  Request null_mr();
  Request device_memory();
  Request device_memory_mr();
  Request dma_buf();
  Request cq();
  Request qp();
  Request srq();
  Request xrc_srq();
  Request tag_matching();
  Request xrcd();
  Request open_qp();
  Request ah();
  Request flow();
  Request rss();
  Request counters();
  Request channel();
  Request next_state();
  Request resize_cq();
  Request modify_srq();
  Request multicast();
  Request exec_notice();
  Request advise();
  Request place_received();
  Request about_handle(abi::ControlOpcode opcode, std::vector<std::uint32_t>& handles, bool ends);
  Request deallocate_pd();
  Request about_qp(abi::ControlOpcode opcode);
  template <typename Body>
  static Request request(abi::ControlOpcode opcode, const Body& body) {
    const auto bytes = std::as_bytes(std::span(&body, 1));
    return {opcode, {bytes.begin(), bytes.end()}, {}, {}};
  }
  abi::AddressVector path();
  void remember(std::vector<std::uint32_t>& kind, std::uint32_t handle);
  void remember_keys(const abi::RegisterMrReply& reply, std::vector<std::uint32_t>& kind);
  void remember_qp(const abi::CreateQpRequest& request, const abi::CreateQpReply& reply);
  void forget_qp(std::uint32_t handle);

  // posting.cpp: work requests in the shared queues.
  void post();
  void post_send(Queue& queue);
  void post_receive(Queue& queue);
  void post_shared_receive(Queue& queue);
  void post_tag(Queue& queue);
  void consume();
  void ring(std::uint32_t number);
  void wake();
  void put_segments(std::span<std::byte> place, std::uint32_t count);

  Attack& attack_;
  Chance& chance_;
  unsigned device_;
  Connection connection_;
  SharedQueues shared_;
  std::uint32_t sequence_ = 0;
  bool opened_ = false;
  std::vector<Descriptor> events_;    // the pipe of asynchronous events
  std::vector<Descriptor> channels_;  // and those of channels
  Descriptor wake_;
  std::span<std::byte> doorbells_;
  std::vector<std::uint64_t> channel_inodes_;
  std::uint32_t reserved_pd_ = 0;  // for allocate_reserved_pd
  std::vector<std::uint32_t> pds_, mrs_, mws_, dms_, ahs_, ah_numbers_, xrcds_, flows_, counters_, rss_,
      lkeys_;
  std::vector<Completion> cqs_;
  std::vector<Queue> qps_, srqs_;
};

}  // namespace urnic::device_fuzz
