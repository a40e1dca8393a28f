#include "tests/apps/programs/silent_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::uint64_t kRoot = FUSE_ROOT_ID;
constexpr std::uint64_t kFile = 2;
constexpr const char* kName = "file";

volatile std::sig_atomic_t answers = 0;

void write_file(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  require(file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "{}",
          path);
  close(file);
}

void enter_namespaces() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (user == 0) {
    require(unshare(CLONE_NEWNS) == 0, "a mount namespace");
  } else {
    require(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0, "a user namespace");
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", fmt::format("{0} {0} 1", user));
    write_file("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
  }
  require(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "mounts of its own");
}

// The kernel's requests, one by one (fuse.4, linux/fuse.h).
class Server {
 public:
  explicit Server(int device) : device_(device), bytes_(kBuffer) {}

  [[noreturn]] void run() {
    for (;;) {
      if (answers != 0) release_reads();
      pollfd entry{device_, POLLIN, 0};
      if (poll(&entry, 1, 50) <= 0) continue;
      const ssize_t size = read(device_, bytes_.data(), bytes_.size());
      if (size < 0 && errno == ENODEV) _exit(EXIT_SUCCESS);
      if (size >= static_cast<ssize_t>(sizeof(fuse_in_header))) handle();
    }
  }

 private:
  static constexpr std::size_t kBuffer = FUSE_MIN_READ_BUFFER + 128 * 1024;
  struct Read {
    std::uint64_t unique;
    fuse_read_in in;
  };

  template <class Body>
  Body body() const {
    Body copy;
    std::memcpy(&copy, bytes_.data() + sizeof(fuse_in_header), sizeof copy);
    return copy;
  }

  void reply(std::uint64_t unique, int error, std::span<const std::byte> body) {
    const fuse_out_header header{static_cast<std::uint32_t>(sizeof(fuse_out_header) + body.size()), -error,
                                 unique};
    const std::array<iovec, 2> parts{iovec{const_cast<fuse_out_header*>(&header), sizeof header},
                                     iovec{const_cast<std::byte*>(body.data()), body.size()}};
    [[maybe_unused]] const ssize_t written = writev(device_, parts.data(), body.empty() ? 1 : 2);
  }
  template <class Body>
  void reply_with(std::uint64_t unique, const Body& body) {
    reply(unique, 0, std::as_bytes(std::span(&body, 1)));
  }

  static fuse_attr attributes(std::uint64_t node) {
    fuse_attr attributes{};
    attributes.ino = node;
    attributes.mode = node == kRoot ? S_IFDIR | 0700 : S_IFREG | 0600;
    attributes.nlink = 1;
    attributes.size = node == kRoot ? 0 : SilentFile::kBytes;
    attributes.uid = geteuid();
    attributes.gid = getegid();
    attributes.blksize = 4096;
    return attributes;
  }

  void handle() {
    fuse_in_header header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    switch (header.opcode) {
      case FUSE_INIT: {
        fuse_init_out out{};
        out.major = FUSE_KERNEL_VERSION;
        out.minor = std::min<std::uint32_t>(body<fuse_init_in>().minor, FUSE_KERNEL_MINOR_VERSION);
        out.max_readahead = 4096;
        out.max_write = 4096;
        return reply_with(header.unique, out);
      }
      case FUSE_LOOKUP: {
        fuse_entry_out out{};
        out.nodeid = kFile;
        out.entry_valid = out.attr_valid = 3600;
        out.attr = attributes(kFile);
        return reply_with(header.unique, out);
      }
      case FUSE_GETATTR: {
        fuse_attr_out out{};
        out.attr_valid = 3600;
        out.attr = attributes(header.nodeid);
        return reply_with(header.unique, out);
      }
      case FUSE_OPEN:
        return reply_with(header.unique, fuse_open_out{});
      case FUSE_READ:
        return reads_.push_back({header.unique, body<fuse_read_in>()});
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT:
        return;
      default:
        return reply(header.unique, ENOSYS, {});
    }
  }

  void release_reads() {
    for (const Read& each : reads_) {
      std::vector<std::byte> page(std::min<std::size_t>(each.in.size, SilentFile::kBytes - each.in.offset));
      for (std::size_t i = 0; i < page.size(); ++i) page[i] = SilentFile::byte_at(each.in.offset + i);
      reply(each.unique, 0, page);
    }
    reads_.clear();
  }

  int device_;
  std::vector<std::byte> bytes_;
  std::vector<Read> reads_;  // that wait
};

}  // namespace

SilentFile::SilentFile() {
  enter_namespaces();
  prctl(PR_SET_DUMPABLE, 1);  // as before: the device is to reach this process's memory
  directory_ = std::filesystem::temp_directory_path() / "urnic-silent-XXXXXX";
  require(mkdtemp(directory_.data()) != nullptr, "a directory to mount at");
  const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  require(device >= 0, "/dev/fuse");
  const std::string options =
      fmt::format("fd={},rootmode=40000,user_id={},group_id={}", device, geteuid(), getegid());
  require(mount("urnic-silent", directory_.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) == 0,
          "a FUSE mount");
  server_ = fork();
  require(server_ >= 0, "fork");
  if (server_ == 0) {
    setsid();
    std::signal(SIGUSR1, [](int) { answers = 1; });
    Server(device).run();
  }
  close(device);
}

SilentFile::~SilentFile() { rmdir(directory_.c_str()); }

std::byte* SilentFile::map() const {
  const int file = open((directory_ + "/" + kName).c_str(), O_RDWR | O_CLOEXEC);
  require(file >= 0, "the file");
  void* const place = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  require(place != MAP_FAILED, "the mapping");
  return static_cast<std::byte*>(place);
}

}  // namespace urnic::apps
