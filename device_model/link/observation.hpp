// What an observer of links (a capture) sees: a frame, its place on the way, and what happened to it before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "device_model/link/direction.hpp"
#include "device_model/link/packet_identity.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

// A frame from A to B passes A's link (tx) and B's link (rx). It is observed once as A sends it, then once
// for each copy: as B receives the copy, or where the copy is dropped.
enum class CapturePoint : std::uint8_t { before_link, after_link, dropped };
constexpr std::string_view name(CapturePoint point) {
  switch (point) {
    case CapturePoint::before_link:
      return "before the link";
    case CapturePoint::after_link:
      return "after the link";
    case CapturePoint::dropped:
      return "dropped";
  }
  return "?";
}

// Maximum length of an observation's `remarks`.
inline constexpr std::size_t kMaxRemarkBytes = 200;

// Views; valid during the call of FrameObserver::observe.
struct Observation {
  const wire::Frame& frame;
  const PacketOrigin& origin;
  CapturePoint point;
  // Whose link: the sender's before the link, the receiver's after it, or the one that dropped the frame.
  std::string_view device;
  Direction direction;
  // One line: what was done to the packet so far, by what, and why it was dropped; empty if nothing was done.
  std::string_view remarks;
};

// Sees frames on their way; a capture is an observer.
class FrameObserver {
 public:
  // How many bytes of a frame it reads at most, from the first on. Constant. What it does not read is not
  // made for it: the ICRC, or a copy of the payload that stays as it is.
  virtual std::size_t reach() const { return std::numeric_limits<std::size_t>::max(); }
  virtual void observe(const Observation& observation) = 0;

 protected:
  ~FrameObserver() = default;
};

}  // namespace urnic::link
