// A capture under way: takes frames from a device process's ring and writes them to a file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "device_model/capture/capture_ring.hpp"
#include "device_model/capture/frame_file.hpp"
#include "tools/urnic/admin_client.hpp"

namespace urnic::cli {

struct CaptureRequest {
  std::string file;    // what ends in .pcapng is pcapng; all else, also "-", classic pcap
  std::string device;  // empty: every device
  // before, after, dropped. Empty: what the kind of file can hold, all of them in pcapng, before in pcap.
  std::vector<std::string> points;
};

class CaptureFile {
 public:
  // Creates the file first, so that one that cannot be written is an error before anything runs; then asks
  // for the capture. Throws Failure.
  CaptureFile(AdminClient client, const CaptureRequest& request);

  // Writes frames until `stop` (a descriptor) becomes readable or the device process ends, then what is left
  // in the ring. Returns false if it was the device process that ended.
  bool write_until(int stop);

  std::uint64_t written() const { return written_; }
  std::uint64_t dropped() const { return reader_->dropped(); }

 private:
  // At most so many frames; false if the ring ran empty. What was written is in the file then, and its room
  // is the engine's again.
  bool write_some(std::uint64_t most);

  AdminClient client_;
  std::unique_ptr<capture::CaptureReader> reader_;
  std::unique_ptr<capture::FrameFile>
      file_;  // ends before the ring in which frames may lie that it has yet to write
  std::uint64_t written_ = 0;
};

}  // namespace urnic::cli
