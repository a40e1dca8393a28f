// A capture under way: takes frames from a device process's ring and writes them to a pcap file.
#pragma once

#include <filesystem>
#include <memory>

#include "device_model/capture/capture_ring.hpp"
#include "device_model/capture/pcap_file.hpp"
#include "tools/urnic/admin_client.hpp"

namespace urnic::cli {

class CaptureFile {
 public:
  // Creates the file first, so that one that cannot be written is an error before anything runs; then asks
  // for the capture. `device` may be empty: every device. Throws Failure.
  CaptureFile(AdminClient client, const std::filesystem::path& file, const std::string& device);

  // Writes frames until `stop` (a descriptor) becomes readable or the device process ends, then what is left
  // in the ring. Returns false if it was the device process that ended.
  bool write_until(int stop);

  std::uint64_t written() const { return written_; }
  std::uint64_t dropped() const { return reader_->dropped(); }

 private:
  // At most so many frames; false if the ring ran empty. What was written is in the file then.
  bool write_some(std::uint64_t most);

  AdminClient client_;
  capture::PcapFile file_;
  std::unique_ptr<capture::CaptureReader> reader_;
  std::uint64_t written_ = 0;
};

}  // namespace urnic::cli
