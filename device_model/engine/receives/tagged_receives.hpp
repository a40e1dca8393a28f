// The receives of a QP on a tag-matching SRQ: what each message was given, the send queue for rendezvous, and
// the translation of the transport's completions into the SRQ's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "device_model/abi/tag_matching_ring.hpp"
#include "device_model/engine/receives/receives.hpp"
#include "device_model/engine/receives/rendezvous_queue.hpp"
#include "device_model/engine/receives/shared_receive_view.hpp"
#include "device_model/transport/tagged_receives.hpp"
#include "wire/tag_matching_headers.hpp"

namespace urnic::engine {

class TagMatching;

class TaggedReceives final : public Receives, private transport::TaggedReceives {
 public:
  // `queue` is the SRQ of `matching`, which gives the ordinary receives; both outlive this.
  TaggedReceives(TagMatching& matching, SharedReceiveQueue& queue, wire::Qpn qpn)
      : matching_(matching), untagged_(queue), qpn_(qpn) {}
  ~TaggedReceives() override { give_back(); }
  TaggedReceives(const TaggedReceives&) = delete;
  TaggedReceives& operator=(const TaggedReceives&) = delete;

  void describe(transport::QpConfig& config) override;
  // Reports buffers that messages have taken and not completed as flushed: they belong to the SRQ, and
  // nothing else would give them back.
  void reset() override {
    give_back();
    untagged_.reset();
  }
  bool broken() const override { return untagged_.broken(); }
  std::uint32_t inline_room() const override { return 0; }
  // In the error state no rendezvous begins.
  Reported report(const transport::Completion& completion, bool in_error) override;
  Reported report_send(const transport::Completion& completion, bool in_error) override;

 private:
  // What a message was given. The first three are ordinary receives.
  enum class Kind : std::uint8_t {
    plain,       // not a tag-matching message
    no_tag,      // one without a tag
    unexpected,  // one with a tag that no buffer has
    eager,       // a tagged buffer, for a message of one packet
    long_eager,  // a tagged buffer, for a longer message
    rendezvous,
    incomplete,  // a rendezvous that software must carry out
  };
  struct Receive {
    Kind kind = Kind::plain;
    std::uint16_t entry = 0;
  };

  // transport::TaggedReceives
  std::optional<Taken> take(std::span<const std::byte> payload, bool whole, bool reads,
                            transport::ReceiveRequest& request) override;
  bool take_untagged(transport::ReceiveRequest& request) override;
  std::uint32_t available() const override { return 0; }
  void retire(std::uint32_t) override {}

  static bool is_ordinary(Kind kind) { return kind <= Kind::unexpected; }

  void give_back();
  bool full() const { return taken_ - completed_ == kMost; }
  void count(const Receive& receive, transport::ReceiveRequest& request);
  bool take_ordinary(Kind kind, transport::ReceiveRequest& request);
  Taken take_buffer(const Receive& receive, std::span<const std::byte> payload,
                    transport::ReceiveRequest& request);
  Kind kind_of(const wire::TaggedMessage& message, std::uint32_t entry, bool whole, bool reads) const;
  Reported finish_ordinary(Kind kind, transport::Completion completion);
  Reported finish_buffer(const Receive& receive, transport::Completion completion, bool in_error);
  Reported begin_rendezvous(std::uint32_t entry, const transport::Completion& completion, bool in_error);
  Reported report_buffer(std::uint32_t entry, transport::Completion completion, std::uint8_t flags);
  void flush_buffer(std::uint32_t entry);

  static constexpr std::uint32_t kMost = SharedReceiveView::kMost;

  TagMatching& matching_;
  SharedReceiveView untagged_;
  const wire::Qpn qpn_;
  std::uint32_t untagged_completed_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t completed_ = 0;
  std::uint32_t promised_ = 0;  // rendezvous that are matched and not begun
  std::array<Receive, kMost> receives_;
  RendezvousQueue sends_;
};

}  // namespace urnic::engine
