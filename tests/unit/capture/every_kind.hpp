// Checks for capture files of every kind, however their writer ends. `File` is made from a path; `read_back`
// takes the path and returns the file's content: the number of `records`, whether they are all `right`, and
// whether the file is `whole`, that is, ends where a record ends.
#pragma once

#include <fcntl.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>

#include "tests/unit/capture/written_files.hpp"

namespace urnic::capture::test {

template <class File>
void write_frames(File& file, std::uint64_t count) {
  for (std::uint64_t n = 0; n < count; ++n) write_frame(file, n);
}

template <class File, class ReadBack>
void check_that_it_holds_every_frame(const std::string& path, ReadBack read_back) {
  {
    File file(path);
    write_frames(file, 5000);
  }
  const auto result = read_back(path);
  BOOST_TEST(result.records == 5000);
  BOOST_TEST(result.right);
  BOOST_TEST(result.whole);
}

// `cut_file`, at `path`, keeps `snapshot_bytes` of each frame. libpcap reads every kind.
inline void check_that_cut_frames_keep_their_length(FrameFile& cut_file, const std::string& path,
                                                    std::size_t snapshot_bytes) {
  for (std::uint64_t n = 0; n < 300; ++n) {
    const auto whole = bytes_of(n);
    const auto cut = whole.first(std::min(whole.size(), snapshot_bytes));
    cut_file.write({time_of(n), cut, whole.size(), interface_of(n), comment_of(n)});
  }
  cut_file.flush();
  char error[PCAP_ERRBUF_SIZE] = "";
  pcap_t* file = pcap_open_offline(path.c_str(), error);
  BOOST_REQUIRE_MESSAGE(file != nullptr, error);
  BOOST_TEST(pcap_snapshot(file) == static_cast<int>(snapshot_bytes));
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  for (std::uint64_t n = 0; n < 300; ++n) {
    BOOST_REQUIRE_MESSAGE(pcap_next_ex(file, &header, &bytes) == 1, pcap_geterr(file));
    const auto whole = bytes_of(n);
    BOOST_TEST(header->len == whole.size());
    BOOST_REQUIRE(header->caplen == std::min(whole.size(), snapshot_bytes));
    BOOST_TEST(std::memcmp(bytes, whole.data(), header->caplen) == 0);
  }
  BOOST_TEST(pcap_next_ex(file, &header, &bytes) == PCAP_ERROR_BREAK);
  pcap_close(file);
}

template <class File, class ReadBack>
void check_that_it_is_whole_at_any_moment(const std::string& path, ReadBack read_back) {
  File file(path);
  std::uint64_t seen = 0;
  for (std::uint64_t n = 0; n < 3000; ++n) {
    write_frame(file, n);
    if (n % 50 != 0) continue;
    const auto result = read_back(path);
    BOOST_REQUIRE(result.whole);
    BOOST_REQUIRE(result.right);
    BOOST_REQUIRE_GE(result.records, seen);
    seen = result.records;
  }
  BOOST_TEST(seen > 0);  // the file was written to in between
}

template <class File, class ReadBack>
void check_that_a_killed_writer_leaves_it_whole(const std::string& path, ReadBack read_back) {
  for (const std::uint64_t count : {1u, 700u, 3001u}) {
    killed_after([&] {
      File file(path);
      write_frames(file, count);
    });
    const auto result = read_back(path);
    BOOST_TEST(result.whole);
    BOOST_TEST(result.right);
    BOOST_TEST(result.records <= count);
  }
}

template <class File, class ReadBack>
void check_that_what_was_flushed_survives_a_kill(const std::string& path, ReadBack read_back) {
  killed_after([&] {
    File file(path);
    write_frames(file, 700);
    file.flush();
  });
  const auto result = read_back(path);
  BOOST_TEST(result.records == 700);
  BOOST_TEST(result.whole);
}

template <class File, class ReadBack>
void check_that_a_full_disk_is_reported(const std::string& path, ReadBack read_back) {
  BOOST_TEST(status_of_child([&] { return write_to_a_full_disk<File>(path); }) == 0);
  const auto result = read_back(path);
  BOOST_TEST(result.whole);
  BOOST_TEST(result.right);
  BOOST_TEST(result.records > 0);
}

template <class File>
void check_that_a_path_that_cannot_be_written_is_named() {
  try {
    File file("/nowhere/x");
    BOOST_FAIL("opened");
  } catch (const std::system_error& error) {
    BOOST_TEST(error.code().value() == ENOENT);
    BOOST_TEST(std::string(error.what()).find("/nowhere/x") != std::string::npos);
  }
}

template <class File, class ReadBack>
void check_that_a_minus_is_standard_output(const std::string& path, ReadBack read_back) {
  const int status = status_of_child([&] {
    const int target = open(path.c_str(), O_WRONLY | O_TRUNC);
    if (target < 0 || dup2(target, STDOUT_FILENO) < 0) return 1;
    {
      File file("-");
      write_frames(file, 10);
    }
    return fcntl(STDOUT_FILENO, F_GETFD) < 0 ? 2 : 0;  // it is still open
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(read_back(path).records == 10);
}

}  // namespace urnic::capture::test
