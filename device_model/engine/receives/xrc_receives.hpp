// The receives of an XRC target: WQEs from any shared receive queue of its domain, with the target's own
// indices, and the slot of each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/engine/completion/notifications.hpp"
#include "device_model/engine/receives/receives.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/engine/receives/shared_receive_view.hpp"
#include "device_model/engine/receives/xrc_domain_members.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class XrcReceives final : public Receives, private transport::XrcReceiveQueues {
 public:
  static constexpr std::uint32_t kMost = SharedReceiveView::kMost;

  // Both outlive this.
  XrcReceives(XrcDomain& domain, Notifications& notifications)
      : domain_(domain), notifications_(notifications), taken_from_(new Place[kMost]) {}
  ~XrcReceives() override { give_back(); }
  XrcReceives(const XrcReceives&) = delete;
  XrcReceives& operator=(const XrcReceives&) = delete;

  void describe(transport::QpConfig& config) override;
  void reset() override { give_back(); }
  std::uint32_t inline_room() const override;
  // To the CQ of the WQE's SRQ (IBTA A14); dropped if that is destroyed.
  Reported report(const transport::Completion& completion, bool in_error) override;
  bool forget(const SharedReceiveQueue& queue) override;

 private:
  struct Place {
    SharedReceiveQueue* queue;  // null: destroyed
    std::uint32_t slot;
  };

  std::optional<transport::PdId> select(std::uint32_t number) override;
  bool next(transport::ReceiveRequest& request) override;
  std::uint32_t available() const override { return 0; }
  void retire(std::uint32_t) override {}

  void give_back();
  Place& place(std::uint32_t index) { return taken_from_[index % kMost]; }

  XrcDomain& domain_;
  Notifications& notifications_;
  SharedReceiveQueue* selected_ = nullptr;  // the queue of the current request; null: none
  std::uint32_t taken_ = 0;
  std::uint32_t completed_ = 0;
  std::unique_ptr<Place[]> taken_from_;
};

}  // namespace urnic::engine
