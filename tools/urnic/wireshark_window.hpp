// A live capture in Wireshark.
#pragma once

#include <filesystem>
#include <string>

#include "device_model/memory/descriptor.hpp"

namespace urnic::cli {

class WiresharkWindow {
 public:
  // Starts Wireshark, which reads a pipe and stays when this program has ended. Where Wireshark is not
  // installed or has no display, makes a named pipe in `run_directory`, says on stderr how to read it, and
  // waits for a reader. Throws Failure.
  explicit WiresharkWindow(const std::filesystem::path& run_directory);

  // A file to write a pcapng capture to, as long as this object lives.
  std::string path() const;

 private:
  memory::Descriptor pipe_;
};

}  // namespace urnic::cli
