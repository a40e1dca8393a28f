// What all kinds of capture file have in common.
//
// Only whole records are handed to the kernel, so that a file whose writer was killed is whole, but for
// the record in whose middle the kernel may have ended a write.
#pragma once

#include <span>
#include <string>

#include "device_model/capture/capture_ring.hpp"

namespace urnic::capture {

// Where frames are seen: a capture point of a device's link.
struct Interface {
  std::string name;         // short: "urnic0/before"
  std::string description;  // in words
};

class FrameFile {
 public:
  FrameFile() = default;
  FrameFile(const FrameFile&) = delete;
  FrameFile& operator=(const FrameFile&) = delete;
  virtual ~FrameFile() = default;

  // All interfaces of the frames to come, once, before the first of them.
  virtual void describe_interfaces(std::span<const Interface> interfaces) = 0;

  // Takes the frame, whose bytes must stay where they are until flush() has returned: they go to the kernel
  // from there. Now and then writes out what it has. Call flush when no frame follows at once. Throws
  // std::system_error if the file cannot be written (disk full): the file then ends behind the last whole
  // record that went to it, and every later call throws too.
  virtual void write(const CapturedFrame& frame) = 0;
  virtual void flush() = 0;
};

}  // namespace urnic::capture
