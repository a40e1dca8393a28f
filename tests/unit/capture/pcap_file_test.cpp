// Files are read back with libpcap.
#include "device_model/capture/pcap_file.hpp"

#include <pcap/pcap.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "tests/unit/capture/every_kind.hpp"

namespace urnic::capture::test {

namespace {

// The result of reading a file; each record is checked against its number.
struct ReadBack {
  std::uint64_t records = 0;
  bool whole = false;  // ended at a record's end
  bool right = true;
  int link_type = -1;
  bool nanoseconds = false;
};

ReadBack read_back(const std::string& path) {
  ReadBack result;
  char error[PCAP_ERRBUF_SIZE] = "";
  pcap_t* file = pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error);
  if (file == nullptr) return result;
  result.link_type = pcap_datalink(file);
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  int status = 0;
  while ((status = pcap_next_ex(file, &header, &bytes)) == 1) {
    const CapturedFrame captured{static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000 +
                                     static_cast<std::uint64_t>(header->ts.tv_usec),
                                 {reinterpret_cast<const std::byte*>(bytes), header->caplen},
                                 header->len};
    result.right = result.right && header->len == header->caplen &&
                   captured.nanoseconds == time_of(result.records) &&
                   NumberedFrame(result.records).matches(captured);
    ++result.records;
  }
  result.whole = status == PCAP_ERROR_BREAK;  // libpcap returns this at the end of a whole file
  pcap_close(file);
  return result;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pcap_file, TemporaryFile)

BOOST_AUTO_TEST_CASE(is_a_nanosecond_ethernet_capture) {
  { PcapFile file(path); }
  std::ifstream stream(path, std::ios::binary);
  std::uint32_t magic = 0;
  stream.read(reinterpret_cast<char*>(&magic), sizeof magic);
  BOOST_TEST(magic == 0xA1B23C4D);
  const ReadBack result = read_back(path);
  BOOST_TEST(result.link_type == DLT_EN10MB);
  BOOST_TEST(result.records == 0);
  BOOST_TEST(result.whole);
}

BOOST_AUTO_TEST_CASE(holds_every_frame_to_the_byte_and_the_nanosecond) {
  check_that_it_holds_every_frame<PcapFile>(path, read_back);
}

BOOST_AUTO_TEST_CASE(frames_that_are_cut) {
  PcapFile file(path, 128);
  check_that_cut_frames_keep_their_length(file, path, 128);
}

BOOST_AUTO_TEST_CASE(is_readable_from_the_first_moment) {
  PcapFile file(path);
  BOOST_TEST(read_back(path).whole);
}

BOOST_AUTO_TEST_CASE(is_whole_at_any_moment) {
  check_that_it_is_whole_at_any_moment<PcapFile>(path, read_back);
}

BOOST_AUTO_TEST_CASE(a_killed_writer_leaves_a_whole_file) {
  check_that_a_killed_writer_leaves_it_whole<PcapFile>(path, read_back);
}

BOOST_AUTO_TEST_CASE(what_was_flushed_survives_a_kill) {
  check_that_what_was_flushed_survives_a_kill<PcapFile>(path, read_back);
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_reported_and_leaves_whole_records) {
  check_that_a_full_disk_is_reported<PcapFile>(path, read_back);
}

BOOST_AUTO_TEST_CASE(a_path_that_cannot_be_written_is_named) {
  check_that_a_path_that_cannot_be_written_is_named<PcapFile>();
}

BOOST_AUTO_TEST_CASE(a_minus_is_standard_output) {
  check_that_a_minus_is_standard_output<PcapFile>(path, read_back);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::capture::test
