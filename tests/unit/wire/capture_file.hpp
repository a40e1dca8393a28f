// Reads the frames of a capture file.
#pragma once

#include <pcap/pcap.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sample_frames.hpp"

namespace urnic::wire::test {

// Throws if there is no such capture.
inline std::vector<Bytes> read_capture(const std::string& path) {
  char error[PCAP_ERRBUF_SIZE];
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> capture(pcap_open_offline(path.c_str(), error),
                                                               &pcap_close);
  if (!capture) throw std::runtime_error(error);
  std::vector<Bytes> frames;
  pcap_pkthdr* header = nullptr;
  const unsigned char* data = nullptr;
  while (pcap_next_ex(capture.get(), &header, &data) == 1) {
    const auto bytes = std::as_bytes(std::span(data, header->caplen));
    frames.emplace_back(bytes.begin(), bytes.end());
  }
  return frames;
}

}  // namespace urnic::wire::test
