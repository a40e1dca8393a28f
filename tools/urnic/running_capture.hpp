// A capture of a running device process: its ring, and the interfaces that it has.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device_model/capture/capture_ring.hpp"
#include "device_model/capture/frame_file.hpp"
#include "tools/urnic/admin_client.hpp"

namespace urnic::cli {

class RunningCapture {
 public:
  // `points`: some of before, after, dropped; `device`: empty for all; `snaplen`: how many bytes of a frame,
  // 0: all. Throws Failure, std::system_error or std::runtime_error. The capture ends with this object.
  RunningCapture(AdminClient client, const std::vector<std::string>& points, const std::string& device,
                 int snaplen = 0);
  // Of one queue pair's frames at all points, as a sample: the engine does not wait for this reader
  // (docs/admin-socket.md). Throws as the other.
  RunningCapture(AdminClient client, const std::string& device, std::uint32_t qpn);

  capture::CaptureReader& reader() { return *reader_; }
  const capture::CaptureReader& reader() const { return *reader_; }
  const std::vector<capture::Interface>& interfaces() const { return interfaces_; }
  // Becomes readable when the device process ends.
  int descriptor() const { return client_.descriptor(); }

 private:
  void start(const nlohmann::json& request);

  AdminClient client_;
  std::vector<capture::Interface> interfaces_;
  std::unique_ptr<capture::CaptureReader> reader_;
};

}  // namespace urnic::cli
