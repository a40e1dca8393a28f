// Captured packets one after the other: of a capture file, of standard input, or of a running device process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/capture_files/capture_file.hpp"
#include "analysis/capture_files/captured_packet.hpp"
#include "tools/urnic/admin_client.hpp"

namespace urnic::cli {

class PacketSource {
 public:
  PacketSource() = default;
  PacketSource(const PacketSource&) = delete;
  PacketSource& operator=(const PacketSource&) = delete;
  virtual ~PacketSource() = default;

  enum class Next {
    packet,
    none_yet,  // more may come: call `wait`
    end,
  };
  // The packet is valid until the next call. Throws analysis::CaptureError, std::system_error or
  // std::runtime_error.
  virtual Next next(analysis::CapturedPacket& packet) = 0;
  // After none_yet: waits for packets, at most `milliseconds`, or until `stop` (a descriptor) is readable.
  virtual void wait(int stop, int milliseconds) = 0;
  virtual const std::vector<analysis::CaptureInterface>& interfaces() const = 0;
  // All packets are there already, so none needs to be waited for.
  virtual bool is_whole() const = 0;
  // How much of them has been read; `whole` is 0 where that cannot be known.
  virtual analysis::CaptureFile::Position position() const = 0;
  // What the user should know at the end; empty if there is nothing.
  virtual std::string complaint() const = 0;
};

// "-" is standard input. Throws analysis::CaptureError.
std::unique_ptr<PacketSource> packets_of_file(const std::string& path);
// All capture points. `device`: empty for all. Throws as RunningCapture.
std::unique_ptr<PacketSource> packets_of_devices(AdminClient client, const std::string& device);

}  // namespace urnic::cli
