// What an observer of links (a capture) is told of a frame: the frame, where on its way it was seen, and what
// had been done to it by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "device_model/link/direction.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

// A frame from A to B passes A's link (tx) and B's link (rx). It is observed once as A sends it, and then
// once for every copy: as B takes it, or where it was dropped.
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

// An observation's `why` is never longer.
inline constexpr std::size_t kMaxWhyBytes = 200;

// Views; valid during the call of FrameObserver::observe.
struct Observation {
  const wire::Frame& frame;
  CapturePoint point;
  // Whose link: the sender's before the link, the receiver's after it, the one that dropped it.
  std::string_view device;
  Direction direction;
  // One line that says what touched the packet up to here and how, and why it was dropped; empty for a packet
  // that nothing touched.
  std::string_view why;
};

// Sees frames on their way. The capture is one.
class FrameObserver {
 public:
  virtual void observe(const Observation& observation) = 0;

 protected:
  ~FrameObserver() = default;
};

}  // namespace urnic::link
