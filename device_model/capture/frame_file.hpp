// The interface of all kinds of capture file.
//
// Only whole records are handed to the kernel, so that a killed writer leaves a whole file. Exception: the
// kernel may have ended the last write in the middle of a record.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "device_model/capture/capture_ring.hpp"

namespace urnic::capture {

// What the bytes of a packet in the file begin with.
enum class LinkType : std::uint16_t {
  ethernet = 1,
  erf = 197,         // packets of InfiniBand (erf_record.hpp)
  infiniband = 247,  // the same from their LRH on
};

// Where frames are seen: a capture point of a device's link.
struct Interface {
  std::string name;         // short: "urnic0/before"
  std::string description;  // in words
  LinkType link_type = LinkType::ethernet;
};

class FrameFile {
 public:
  FrameFile() = default;
  FrameFile(const FrameFile&) = delete;
  FrameFile& operator=(const FrameFile&) = delete;
  virtual ~FrameFile() = default;

  // Writes the capture's interfaces. To be called once, before the first frame.
  virtual void describe_interfaces(std::span<const Interface> interfaces) = 0;

  // Adds a frame, and writes out the gathered frames now and then. The frame's bytes must stay in place until
  // flush() has returned: the kernel copies them from there. Call flush when no frame follows at once. Both
  // throw std::system_error if the file cannot be written (disk full): the file then ends behind the last
  // whole record that went to it, and every later call throws too.
  virtual void write(const CapturedFrame& frame) = 0;
  virtual void flush() = 0;
};

}  // namespace urnic::capture
