// What is written is read back with libpcap.
#include "device_model/capture/pcap_file.hpp"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>
#include <system_error>

#include "tests/unit/capture/written_files.hpp"

namespace urnic::capture::test {

namespace {

// How reading the file ended and what was in it; each record is checked against its number.
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
                                 0,
                                 {}};
    result.right = result.right && header->len == header->caplen &&
                   captured.nanoseconds == time_of(result.records) &&
                   NumberedFrame(result.records).matches(captured);
    ++result.records;
  }
  result.whole = status == PCAP_ERROR_BREAK;  // libpcap's word for the end of a whole file
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
  {
    PcapFile file(path);
    for (std::uint64_t n = 0; n < 5000; ++n) write_frame(file, n);
    BOOST_TEST(file.records() == 5000);
  }
  const ReadBack result = read_back(path);
  BOOST_TEST(result.records == 5000);
  BOOST_TEST(result.right);
  BOOST_TEST(result.whole);
}

BOOST_AUTO_TEST_CASE(is_readable_from_the_first_moment) {
  PcapFile file(path);
  BOOST_TEST(read_back(path).whole);
}

BOOST_AUTO_TEST_CASE(is_whole_at_any_moment) {
  PcapFile file(path);
  std::uint64_t seen = 0;
  for (std::uint64_t n = 0; n < 3000; ++n) {
    write_frame(file, n);
    if (n % 50 != 0) continue;
    const ReadBack result = read_back(path);
    BOOST_REQUIRE(result.whole);
    BOOST_REQUIRE(result.right);
    BOOST_REQUIRE_GE(result.records, seen);
    seen = result.records;
  }
  BOOST_TEST(seen > 0);  // the buffer was written out in between
}

BOOST_AUTO_TEST_CASE(a_killed_writer_leaves_a_whole_file) {
  for (const std::uint64_t count : {1u, 700u, 3001u}) {
    killed_after([&] {
      PcapFile file(path);
      for (std::uint64_t n = 0; n < count; ++n) write_frame(file, n);
    });
    const ReadBack result = read_back(path);
    BOOST_TEST(result.whole);
    BOOST_TEST(result.right);
    BOOST_TEST(result.records <= count);
  }
}

BOOST_AUTO_TEST_CASE(what_was_flushed_survives_a_kill) {
  killed_after([&] {
    PcapFile file(path);
    for (std::uint64_t n = 0; n < 700; ++n) write_frame(file, n);
    file.flush();
  });
  const ReadBack result = read_back(path);
  BOOST_TEST(result.records == 700);
  BOOST_TEST(result.whole);
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_reported_and_leaves_whole_records) {
  const pid_t pid = fork();
  if (pid == 0) _exit(write_to_a_full_disk<PcapFile>(path));
  int status = 0;
  waitpid(pid, &status, 0);
  BOOST_REQUIRE(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 0);
  const ReadBack result = read_back(path);
  BOOST_TEST(result.whole);
  BOOST_TEST(result.right);
  BOOST_TEST(result.records > 0);
}

BOOST_AUTO_TEST_CASE(a_path_that_cannot_be_written_is_named) {
  try {
    PcapFile file("/nowhere/x.pcap");
    BOOST_FAIL("opened");
  } catch (const std::system_error& error) {
    BOOST_TEST(error.code().value() == ENOENT);
    BOOST_TEST(std::string(error.what()).find("/nowhere/x.pcap") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_minus_is_standard_output) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int target = open(path.c_str(), O_WRONLY | O_TRUNC);
    if (target < 0 || dup2(target, STDOUT_FILENO) < 0) _exit(1);
    {
      PcapFile file("-");
      for (std::uint64_t n = 0; n < 10; ++n) write_frame(file, n);
    }
    _exit(fcntl(STDOUT_FILENO, F_GETFD) < 0 ? 2 : 0);  // it is still open
  }
  int status = 0;
  waitpid(pid, &status, 0);
  BOOST_TEST(WEXITSTATUS(status) == 0);
  BOOST_TEST(read_back(path).records == 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::capture::test
