// The options --points and --snaplen, which `urnic capture` and `urnic run` share.
#pragma once

#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "device_model/capture/ring_memory.hpp"

namespace urnic::cli {

// Adds the option to `command`. `points` receives its values and must outlive `command`.
inline void add_points_option(command_line::Command& command, std::vector<std::string>& points) {
  command
      .add_option("--points", points,
                  "Where packets are seen: before the link, after it, where they are dropped; all three in a "
                  ".pcapng file unless said otherwise, before in a .pcap file")
      .delimiter(',')
      .type_name("before,after,dropped")
      .one_of({"before", "after", "dropped"})
      .expected(1, 3)
      .no_more_words();
}

// Adds the option to `command`. `bytes` receives its value and must outlive `command`.
inline void add_snaplen_option(command_line::Command& command, int& bytes) {
  command
      .add_option("--snaplen", bytes,
                  "Keep only so many bytes of each packet, from the first on: 128 have all headers, and the "
                  "network stays faster")
      .type_name("BYTES")
      .between(static_cast<int>(capture::kMinSnapshotBytes), static_cast<int>(capture::kMaxFrameBytes));
}

}  // namespace urnic::cli
