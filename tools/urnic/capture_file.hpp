// A capture in progress: takes frames from a device process's ring and writes them to a file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "device_model/capture/frame_file.hpp"
#include "tools/urnic/admin_client.hpp"
#include "tools/urnic/running_capture.hpp"

namespace urnic::cli {

struct CaptureRequest {
  std::string file;     // a name that ends in .pcapng makes pcapng, any other, also "-", classic pcap
  bool pcapng = false;  // whatever the name
  std::string device;   // empty: every device
  // before, after, dropped. Empty: all of them in pcapng, before in pcap.
  std::vector<std::string> points;
  int snaplen = 0;   // bytes of each packet that are kept; 0: all
  bool lrh = false;  // packets of InfiniBand begin with their LRH, and not with the header of ERF
};

class CaptureFile {
 public:
  // Creates the file first, so that an unwritable file is an error before anything runs; then asks for the
  // capture. Throws Failure; std::system_error or std::runtime_error for the file or the ring.
  CaptureFile(AdminClient client, const CaptureRequest& request);

  // Writes frames until `stop` (a descriptor) becomes readable or the device process ends, then those left in
  // the ring. Returns false if the device process ended. Throws std::system_error or std::runtime_error
  // (capture_ring.hpp, frame_file.hpp).
  bool write_until(int stop);

  // Frames in the file; frames that the engine dropped because this reader was slow.
  std::uint64_t written() const { return written_; }
  std::uint64_t dropped() const { return capture_->reader().dropped(); }

 private:
  // Writes at most `most` frames to the file and gives their room in the ring back; false if the ring ran
  // empty.
  bool write_some(std::uint64_t most);
  void write(capture::CapturedFrame frame);

  std::unique_ptr<RunningCapture> capture_;
  std::vector<capture::Interface> interfaces_;  // as the file has them
  std::unique_ptr<capture::FrameFile> file_;    // destroyed before the ring, where its unwritten frames lie
  std::uint64_t written_ = 0;
};

}  // namespace urnic::cli
