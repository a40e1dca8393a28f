// Files are read back block by block, by the draft; libpcap, which reads pcapng too, has to agree.
#include "device_model/capture/pcapng_file.hpp"

#include <pcap/pcap.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "tests/unit/capture/every_kind.hpp"

namespace urnic::capture::test {

namespace pcapng_file {

const std::vector<Interface> kInterfaces{{"urnic0/before", "as urnic0 sends"},
                                         {"urnic0/after", "as urnic0 takes"},
                                         {"urnic0/dropped", "lost on urnic0's link"}};

using Options = std::multimap<std::uint16_t, std::string>;

// Reads bytes from front to back; a read beyond their end is noted and gives zeros.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}
  std::string_view take(std::size_t size) {
    if (size > left_.size()) {
      beyond_ = true;
      left_ = {};
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  template <class Number>
  Number number() {
    Number value{};
    const std::string_view taken = take(sizeof value);
    if (taken.size() == sizeof value) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  std::string_view padded(std::size_t size) {
    const std::string_view taken = take((size + 3) / 4 * 4);
    for (const char pad : taken.substr(std::min(size, taken.size()))) beyond_ |= pad != 0;
    return taken.substr(0, size);
  }
  bool empty() const { return left_.empty(); }
  bool sound() const { return !beyond_; }

 private:
  std::string_view left_;
  bool beyond_ = false;
};

struct ReadBack {
  bool whole = true;  // every block has its length at both ends, and the last ends with the file
  bool right = true;  // every packet is that of its number
  std::uint64_t records = 0;
  std::vector<Options> sections;
  std::vector<Options> interfaces;
};

Options read_options(Bytes& block) {
  Options options;
  while (!block.empty() && block.sound()) {
    const auto code = block.number<std::uint16_t>();
    const auto length = block.number<std::uint16_t>();
    if (code == 0) break;
    options.emplace(code, block.padded(length));
  }
  return options;
}

void read_packet(Bytes& block, ReadBack& result) {
  const std::uint64_t n = result.records++;
  const auto interface = block.number<std::uint32_t>();
  const std::uint64_t high = block.number<std::uint32_t>();
  const std::uint64_t nanoseconds = high << 32 | block.number<std::uint32_t>();
  const auto captured = block.number<std::uint32_t>();
  const auto original = block.number<std::uint32_t>();
  const std::string_view bytes = block.padded(captured);
  const Options options = read_options(block);
  const CapturedFrame frame{
      nanoseconds, {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, original};
  const std::string comment = comment_of(n);
  const Options expected = comment.empty() ? Options{} : Options{{1, comment}};
  result.right = result.right && interface == interface_of(n) && interface < result.interfaces.size() &&
                 nanoseconds == time_of(n) && captured == original && NumberedFrame(n).matches(frame) &&
                 bytes.size() == NumberedFrame(n).size() && options == expected;
}

void read_block(std::uint32_t type, Bytes block, ReadBack& result) {
  if (type == 0x0A0D0D0A) {
    result.right = result.right && block.number<std::uint32_t>() == 0x1A2B3C4D &&
                   block.number<std::uint16_t>() == 1 && block.number<std::uint16_t>() == 0 &&
                   block.number<std::uint64_t>() == ~std::uint64_t{0};
    result.sections.push_back(read_options(block));
  } else if (type == 1) {
    result.right = result.right && block.number<std::uint16_t>() == 1;  // Ethernet
    block.take(6);
    result.interfaces.push_back(read_options(block));
  } else if (type == 6) {
    read_packet(block, result);
  } else {
    result.right = false;
  }
  result.right = result.right && block.empty() && block.sound();
}

ReadBack read_back(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  ReadBack result;
  Bytes file(content);
  while (!file.empty()) {
    const auto type = file.number<std::uint32_t>();
    const auto length = file.number<std::uint32_t>();
    const Bytes block(file.take(length < 12 || length % 4 != 0 ? ~std::size_t{0} : length - 12));
    result.whole = result.whole && file.number<std::uint32_t>() == length && file.sound();
    if (!result.whole) break;
    read_block(type, block, result);
  }
  return result;
}

struct Fixture : TemporaryFile {
  // A file with all three interfaces.
  struct Described : PcapngFile {
    explicit Described(const std::string& path) : PcapngFile(path, "urnic test") {
      describe_interfaces(kInterfaces);
    }
  };
};

}  // namespace pcapng_file

BOOST_FIXTURE_TEST_SUITE(pcapng_file, Fixture)

BOOST_AUTO_TEST_CASE(says_who_wrote_it_and_what_its_interfaces_are) {
  { Described file(path); }
  const ReadBack result = read_back(path);
  BOOST_TEST(result.whole);
  BOOST_TEST(result.right);
  BOOST_REQUIRE(result.sections.size() == 1);
  BOOST_TEST((result.sections[0] == Options{{4, "urnic test"}}));
  BOOST_REQUIRE(result.interfaces.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const Options expected{{2, kInterfaces[i].name}, {3, kInterfaces[i].description}, {9, "\x09"}};
    BOOST_TEST((result.interfaces[i] == expected));
  }
}

BOOST_AUTO_TEST_CASE(holds_every_frame_with_interface_time_and_comment) {
  check_that_it_holds_every_frame<Described>(path, read_back);
}

BOOST_AUTO_TEST_CASE(libpcap_reads_it_too) {
  {
    Described file(path);
    for (std::uint64_t n = 0; n < 300; ++n) write_frame(file, n);
  }
  char error[PCAP_ERRBUF_SIZE] = "";
  pcap_t* file = pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error);
  BOOST_REQUIRE_MESSAGE(file != nullptr, error);
  BOOST_TEST(pcap_datalink(file) == DLT_EN10MB);
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  for (std::uint64_t n = 0; n < 300; ++n) {
    BOOST_REQUIRE_MESSAGE(pcap_next_ex(file, &header, &bytes) == 1, pcap_geterr(file));
    BOOST_TEST(static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000 +
                   static_cast<std::uint64_t>(header->ts.tv_usec) ==
               time_of(n));
    BOOST_TEST(header->caplen == NumberedFrame(n).size());
    BOOST_TEST(header->len == NumberedFrame(n).size());
  }
  BOOST_TEST(pcap_next_ex(file, &header, &bytes) == PCAP_ERROR_BREAK);
  pcap_close(file);
}

BOOST_AUTO_TEST_CASE(frames_that_are_cut) {
  PcapngFile file(path, "urnic test", 128);
  file.describe_interfaces(kInterfaces);
  check_that_cut_frames_keep_their_length(file, path, 128);
}

BOOST_AUTO_TEST_CASE(is_readable_from_the_first_moment) {
  PcapngFile file(path, "urnic test");
  const ReadBack before = read_back(path);
  BOOST_TEST(before.whole);
  BOOST_TEST(before.sections.size() == 1);
  file.describe_interfaces(kInterfaces);
  BOOST_TEST(read_back(path).interfaces.size() == 3);
}

BOOST_AUTO_TEST_CASE(is_whole_at_any_moment) {
  check_that_it_is_whole_at_any_moment<Described>(path, read_back);
}

BOOST_AUTO_TEST_CASE(a_killed_writer_leaves_a_whole_file) {
  check_that_a_killed_writer_leaves_it_whole<Described>(path, read_back);
}

BOOST_AUTO_TEST_CASE(what_was_flushed_survives_a_kill) {
  check_that_what_was_flushed_survives_a_kill<Described>(path, read_back);
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_reported_and_leaves_whole_blocks) {
  check_that_a_full_disk_is_reported<Described>(path, read_back);
}

BOOST_AUTO_TEST_CASE(a_path_that_cannot_be_written_is_named) {
  check_that_a_path_that_cannot_be_written_is_named<Described>();
}

BOOST_AUTO_TEST_CASE(a_minus_is_standard_output) {
  check_that_a_minus_is_standard_output<Described>(path, read_back);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::capture::test
