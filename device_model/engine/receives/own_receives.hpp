// The receives of a QP with a receive queue of its own.
#pragma once

#include "device_model/engine/receives/receives.hpp"
#include "device_model/engine/rings/posted_receives.hpp"

namespace urnic::engine {

class OwnReceives final : public Receives {
 public:
  // `queue` may be null for a QP that takes no receives. All arguments outlive this.
  OwnReceives(PostedReceives& ring, std::uint32_t slots, CompletionQueue* queue,
              const bool* several_processes)
      : ring_(ring), slots_(slots), queue_(queue), several_processes_(several_processes) {}

  void describe(transport::QpConfig& config) override {
    config.receive_slots = slots_;
    config.receive_queue = &ring_;
  }
  void reset() override { ring_.reset(); }
  bool broken() const override { return ring_.lied(); }
  QueuedReceives queued() const { return ring_.queued(); }
  std::uint32_t inline_room() const override { return inline_room_of(queue_, several_processes_); }
  CompletionQueue* completion_queue() const override { return queue_; }
  // Called without a CQ only, for a QP that takes no receives.
  Reported report(const transport::Completion& /*completion*/, bool /*in_error*/) override {
    return Reported::yes;
  }

 private:
  PostedReceives& ring_;
  std::uint32_t slots_;
  CompletionQueue* queue_;
  const bool* several_processes_;
};

}  // namespace urnic::engine
