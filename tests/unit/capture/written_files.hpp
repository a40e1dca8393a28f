// For tests of capture files: a place for a file, numbered frames, and ways in which a writer ends.
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "device_model/capture/frame_file.hpp"
#include "tests/unit/capture/numbered_frames.hpp"

namespace urnic::capture::test {

struct TemporaryFile {
  std::string path = std::filesystem::temp_directory_path() / "urnic-pcap-test-XXXXXX";
  TemporaryFile() {
    const memory::Descriptor file(mkstemp(path.data()));
    BOOST_REQUIRE(file);
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

inline std::uint64_t time_of(std::uint64_t n) { return 1'700'000'000'123'456'789 + n * 1001; }
// The interface of frame number n, of three.
inline std::uint16_t interface_of(std::uint64_t n) { return static_cast<std::uint16_t>(n % 3); }
// The comment of frame number n: every other frame has one, of all lengths modulo 4.
inline std::string comment_of(std::uint64_t n) {
  return n % 2 == 0 ? std::string() : "rule " + std::string(n % 97, 'x') + std::to_string(n);
}

// The bytes of frame number n. They stay until the program ends, since files may write them late.
inline std::span<const std::byte> bytes_of(std::uint64_t n) {
  static std::map<std::uint64_t, std::vector<std::byte>> kept;
  const auto [place, is_new] = kept.try_emplace(n);
  if (is_new) {
    const NumberedFrame numbered(n);
    const wire::Frame frame = numbered.frame();
    for (const auto piece : {frame.headers, frame.payload, frame.trailer})
      place->second.insert(place->second.end(), piece.begin(), piece.end());
  }
  return place->second;
}

inline void write_frame(FrameFile& file, std::uint64_t n) {
  const std::string comment = comment_of(n);
  file.write({time_of(n), bytes_of(n), bytes_of(n).size(), interface_of(n), comment});
}

// Runs `body` in a child, which then ends by SIGKILL.
template <class Body>
void killed_after(Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  BOOST_REQUIRE(WIFSIGNALED(status));
}

// Runs `body` in a child and returns its exit status, which is the result of `body`; -1 if the child ended in
// another way.
template <class Body>
int status_of_child(Body body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Plays a full disk by the limit on file sizes; the disk has room again before the file is closed.
template <class File>
int write_to_a_full_disk(const std::string& path) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit{3'000'001, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  File file(path);
  bool failed = false;
  for (std::uint64_t n = 0; n < 3000; ++n) {
    try {
      write_frame(file, n);
      if (failed) return 1;  // every later call fails too
    } catch (const std::system_error& error) {
      if (error.code().value() != EFBIG) return 2;
      if (std::string(error.what()).find(path) == std::string::npos) return 3;
      failed = true;
    }
  }
  limit.rlim_cur = RLIM_INFINITY;
  setrlimit(RLIMIT_FSIZE, &limit);
  return failed ? 0 : 4;
}

}  // namespace urnic::capture::test
