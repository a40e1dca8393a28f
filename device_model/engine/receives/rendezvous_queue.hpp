// The send queue of a QP on a tag-matching SRQ, filled by the device: for each matched rendezvous request, a
// READ of the offered data into the tagged buffer, then the message that reports its end.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "device_model/transport/work_request.hpp"
#include "wire/tag_matching_headers.hpp"

namespace urnic::engine {

struct Rendezvous {
  std::uint32_t entry = 0;               // of the tagged buffer
  std::span<const transport::Sge> sges;  // the buffer's segments; they stay until the READ is reported
  wire::RendezvousHeader offer;
  wire::RendezvousFinish finish{};
};

class RendezvousQueue final : public transport::SendQueue {
 public:
  // Rendezvous under way at once; a QP has at most 16 READs under way.
  static constexpr std::uint32_t kMost = 32;
  // A rendezvous uses one or two slots. It takes the second when the READ is reported; others may have reused
  // the first by then.
  static constexpr std::uint32_t kSlots = 4 * kMost;

  // How many more can begin.
  std::uint32_t room() const { return free_count_; }
  // Posts the READ and returns the rendezvous's number. Only if there is room.
  std::uint32_t begin(const Rendezvous& rendezvous);

  // A request of the queue.
  struct Item {
    std::uint32_t number = 0;  // of its rendezvous
    bool is_read = false;
    bool done = false;
  };
  const Item& item(std::uint32_t index) const { return items_[index % kSlots]; }
  const Rendezvous& at(std::uint32_t number) const { return rendezvous_[number]; }
  // The READ is done and reported: posts the finish message to the peer.
  void finish(std::uint32_t number) { append({.number = number}); }
  // Ends a rendezvous whose READ failed.
  void end(std::uint32_t number) { release(number); }

  // Calls `each` with every rendezvous whose READ was not reported, and drops all (QP to reset).
  template <typename Each>
  void reset(Each each) {
    for (std::uint32_t number = 0; number < kMost; ++number) {
      if (stages_[number] == Stage::reading) each(rendezvous_[number]);
    }
    *this = RendezvousQueue();
  }

  bool next(transport::SendRequest& request) override;
  bool pending() const override { return taken_ != produced_; }
  // May be called again after a failed access (transport::SendQueue).
  void retire(std::uint32_t index) override;

 private:
  enum class Stage : std::uint8_t { none, reading, finishing };

  void append(const Item& item);
  void release(std::uint32_t number);

  std::array<Rendezvous, kMost> rendezvous_{};
  std::array<Stage, kMost> stages_{};
  std::array<Item, kSlots> items_{};
  std::uint32_t next_free_ = 0;  // where to search for a free one: the one released last is reused last
  std::uint32_t free_count_ = kMost;
  std::uint32_t produced_ = 0;
  std::uint32_t taken_ = 0;
};

}  // namespace urnic::engine
