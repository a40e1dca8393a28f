// A whole queue pair that a program drives as libmlx5 does: rings, completion queues, and the device's end of
// them. The doorbell is urnic's own; pages of the device are not this folder's business.
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/engine/mlx5_rings/completion_ring.hpp"
#include "device_model/engine/mlx5_rings/queue_pair_rings.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/engine/program.hpp"
#include "tests/unit/mlx5_rings/completion_end.hpp"
#include "tests/unit/mlx5_rings/work_end.hpp"

namespace urnic::engine::mlx5::test {

class QueuePairEnd {
 public:
  static constexpr std::uint32_t kBlocks = 64;
  static constexpr std::uint32_t kReceives = 32;
  static constexpr std::uint32_t kStride = 64;
  static constexpr std::uint32_t kCqes = 64;

  // `number` is a free one of the program's doorbells.
  QueuePairEnd(engine::test::Program& program, std::uint32_t number,
               transport::QpService service = transport::QpService::rc, SharedReceiveQueue* srq = nullptr)
      : sends(kBlocks), receives(kReceives, kStride), program_(program), number_(number) {
    rings_ = std::make_shared<QueuePairRings>(
        QueuePairRingsConfig{.sends = {.ring = sends.ring.data(),
                                       .blocks = kBlocks,
                                       .producer = &sends.doorbells.send,
                                       .service = service},
                             .receives = {.ring = receives.ring.data(),
                                          .slots = kReceives,
                                          .stride = kStride,
                                          .producer = &receives.doorbells.receive},
                             .user_index = user_index()});
    send_cq_ = make_queue(send_end);
    receive_cq_ = make_queue(receive_end);
    QueuePairConfig config;
    config.device = &program.device.resources();
    config.service = service;
    config.pd = program.pd;
    config.send_cq = send_cq_.get();
    config.receive_cq = receive_cq_.get();
    config.async_events = &program.async_events.device_end();
    config.send_slots = kBlocks;
    config.receive_slots = kReceives;
    config.queues = rings_;
    config.shared_receive_queue = srq;
    config.indices = &indices_;
    hosted_ = QueuePairContext::make(config);
    program.engine.execute([&] {
      hosted_->install();
      queues_.add(hosted_->qpn(), rings_->as_completed());
      program_.doorbell_set.attach(number_, *hosted_);
    });
  }
  ~QueuePairEnd() {
    program_.engine.execute([&] {
      program_.doorbell_set.detach(number_);
      queues_.remove(hosted_->qpn());
      hosted_.reset();
    });
  }

  std::uint32_t user_index() const { return 0x700 + number_; }
  wire::Qpn qpn() const { return hosted_->qpn(); }
  QueuePairContext& device_end() { return *hosted_; }
  CompletionQueue& receive_queue() { return *receive_cq_; }

  // Publishes what was written to `sends` and rings.
  void ring() {
    sends.publish();
    program_.doorbells->ring(number_);
  }
  void post(std::uint8_t opcode, std::uint8_t flags = kUpdate, std::uint32_t immediate = 0,
            const Bytes& segments = {}) {
    sends.write(opcode, flags, immediate, segments);
    ring();
  }

  // To RTS; the peer may have any face.
  void connect_to(wire::Qpn peer, Device& at, transport::QpParameters parameters) {
    parameters.destination = peer;
    bring_up(parameters, engine::test::Fabric::path(program_.device, at));
  }
  // To RTS; datagrams and raw packets have no path.
  void bring_up(const transport::QpParameters& parameters,
                const std::optional<wire::NetworkHeaders>& path = std::nullopt) {
    program_.engine.execute([&] {
      hosted_->modify(transport::QpState::init, parameters, std::nullopt);
      hosted_->modify(transport::QpState::rtr, parameters, path);
      hosted_->modify(transport::QpState::rts, parameters, std::nullopt);
    });
  }

  SendEnd sends;
  ReceiveEnd receives;
  CompletionEnd send_end{kCqes};
  CompletionEnd receive_end{kCqes, 128};

 private:
  std::unique_ptr<CompletionQueue> make_queue(CompletionEnd& end) {
    return std::make_unique<CompletionQueue>(CompletionQueueConfig{
        .entries = std::make_shared<CompletionRing>(CompletionRingConfig{.ring = end.buffer->begin(),
                                                                         .slots = end.buffer->slots,
                                                                         .cqe_bytes = end.buffer->entry_bytes,
                                                                         .doorbells = &end.doorbells,
                                                                         .queues = &queues_}),
        .user_handle = 4000 + number_,
        .channel = &program_.channel.device_end(),
        .async_events = &program_.async_events.device_end()});
  }

  engine::test::Program& program_;
  std::uint32_t number_;
  abi::QueuePairIndices indices_{};
  CompletedQueues queues_;
  std::shared_ptr<QueuePairRings> rings_;
  std::unique_ptr<CompletionQueue> send_cq_;
  std::unique_ptr<CompletionQueue> receive_cq_;
  std::unique_ptr<QueuePairContext> hosted_;
};

}  // namespace urnic::engine::mlx5::test
