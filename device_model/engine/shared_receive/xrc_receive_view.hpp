// The shared receive queues of an XRC domain as one of its target QPs sees them: the WQEs that it has taken
// from any of them, counted as its own, and where each was.
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/engine/shared_receive/shared_receive_queue.hpp"
#include "device_model/engine/shared_receive/shared_receive_view.hpp"
#include "device_model/engine/shared_receive/xrc_domain.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class XrcReceiveView final : public transport::XrcReceiveQueues {
 public:
  static constexpr std::uint32_t kMost = SharedReceiveView::kMost;

  // `domain` outlives this.
  explicit XrcReceiveView(XrcDomain& domain)
      : domain_(domain), taken_from_(std::make_unique_for_overwrite<Place[]>(kMost)) {}
  ~XrcReceiveView() { reset(); }
  XrcReceiveView(const XrcReceiveView&) = delete;
  XrcReceiveView& operator=(const XrcReceiveView&) = delete;

  struct Place {
    SharedReceiveQueue* queue;  // null: it has gone
    std::uint32_t slot;
  };

  // As SharedReceiveView.
  void reset();
  // The queue goes. True if a WQE of it was taken and is not completed.
  bool forget(const SharedReceiveQueue& queue);
  // The queue that requests are for now; null if none is.
  const SharedReceiveQueue* selected() const { return selected_; }

  std::optional<transport::PdId> select(std::uint32_t number) override;
  bool next(transport::ReceiveRequest& request) override;
  std::uint32_t available() const override { return 0; }
  void retire(std::uint32_t) override {}

  // The completion of request `index`, and so of all before it, is being written.
  Place complete(std::uint32_t index);

 private:
  Place& place(std::uint32_t index) { return taken_from_[index % kMost]; }

  XrcDomain& domain_;
  SharedReceiveQueue* selected_ = nullptr;
  std::uint32_t taken_ = 0;
  std::uint32_t completed_ = 0;
  std::unique_ptr<Place[]> taken_from_;
};

}  // namespace urnic::engine
