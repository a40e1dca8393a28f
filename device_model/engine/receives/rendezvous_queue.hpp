// The send queue of a QP on a tag-matching SRQ, which is the device's: for each rendezvous request that was
// matched, a READ of what it offers into the tagged buffer, and behind it the message that says so.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "device_model/transport/work_request.hpp"
#include "wire/tag_matching.hpp"

namespace urnic::engine {

struct Rendezvous {
  std::uint32_t entry = 0;               // of the tagged buffer
  std::span<const transport::Sge> sges;  // its segments: stay until the READ is reported
  wire::RendezvousHeader offer;
  wire::RendezvousFinish finish{};
};

class RendezvousQueue final : public transport::SendQueue {
 public:
  // Rendezvous under way at once; a QP has at most 16 READs under way.
  static constexpr std::uint32_t kMost = 32;
  // A rendezvous is in one or two slots; the second is taken when the READ is reported, which may be after
  // the first was used anew by others.
  static constexpr std::uint32_t kSlots = 4 * kMost;

  // How many more can begin.
  std::uint32_t room() const { return free_count_; }
  // Asks for the READ. Returns the rendezvous's number; only if there is room.
  std::uint32_t begin(const Rendezvous& rendezvous);

  // A request of the queue.
  struct Item {
    std::uint32_t number = 0;  // of its rendezvous
    bool is_read = false;
    bool done = false;
  };
  const Item& item(std::uint32_t index) const { return items_[index % kSlots]; }
  const Rendezvous& at(std::uint32_t number) const { return rendezvous_[number]; }
  // Its payload is there and reported: says so to the peer.
  void finish(std::uint32_t number) { append({.number = number}); }
  // It ends with the failure of its READ.
  void end(std::uint32_t number) { release(number); }

  // Calls `each` with every rendezvous whose READ was not reported, and forgets all (QP to reset).
  template <typename Each>
  void reset(Each each) {
    for (std::uint32_t number = 0; number < kMost; ++number) {
      if (stages_[number] == Stage::reading) each(rendezvous_[number]);
    }
    *this = RendezvousQueue();
  }

  bool next(transport::SendRequest& request) override;
  bool pending() const override { return taken_ != produced_; }
  // May be said again after a failed access (transport::SendQueue).
  void retire(std::uint32_t index) override;

 private:
  enum class Stage : std::uint8_t { none, reading, finishing };

  void append(const Item& item);
  void release(std::uint32_t number);

  std::array<Rendezvous, kMost> rendezvous_{};
  std::array<Stage, kMost> stages_{};
  std::array<Item, kSlots> items_{};
  std::uint32_t next_free_ = 0;  // where to look for one that is free: the one released last comes last
  std::uint32_t free_count_ = kMost;
  std::uint32_t produced_ = 0;
  std::uint32_t taken_ = 0;
};

}  // namespace urnic::engine
