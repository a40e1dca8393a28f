#include "device_model/capture/pcap_file.hpp"

namespace urnic::capture {

namespace {

// Sections 4 and 5 of the draft; in this machine's byte order, which the magic number tells a reader.
struct FileHeader {
  std::uint32_t magic = 0xA1B23C4D;  // nanoseconds
  std::uint16_t major_version = 2;
  std::uint16_t minor_version = 4;
  std::uint32_t reserved[2] = {0, 0};
  std::uint32_t snapshot_length = 65535;
  std::uint32_t link_type = 1;
};
static_assert(sizeof(FileHeader) == 24);

struct PcapRecordHeader {
  std::uint32_t seconds;
  std::uint32_t nanoseconds;
  std::uint32_t captured_length;
  std::uint32_t original_length;
};
static_assert(sizeof(PcapRecordHeader) == 16);

}  // namespace

PcapFile::PcapFile(const std::string& path, std::uint32_t snapshot_bytes, LinkType link_type) : file_(path) {
  FileHeader header;
  header.link_type = static_cast<std::uint32_t>(link_type);
  if (snapshot_bytes != 0) header.snapshot_length = snapshot_bytes;
  file_.begin_record();
  file_.put(&header, sizeof header);
  file_.flush();
}

void PcapFile::write(const CapturedFrame& frame) {
  const PcapRecordHeader header{static_cast<std::uint32_t>(frame.nanoseconds / 1'000'000'000),
                                static_cast<std::uint32_t>(frame.nanoseconds % 1'000'000'000),
                                static_cast<std::uint32_t>(frame.bytes.size()),
                                static_cast<std::uint32_t>(frame.original_bytes)};
  file_.begin_record();
  file_.put(&header, sizeof header);
  file_.refer(frame.bytes);
}

}  // namespace urnic::capture
