#include "tests/unit/provider/fake_device.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace urnic::test {
namespace {

constexpr std::uint64_t kArenaSize = 8 << 20;

int make_memory(const char* name, std::uint64_t size) {
  const int memory = memfd_create(name, MFD_CLOEXEC);
  if (memory < 0 || ftruncate(memory, static_cast<off_t>(size)) != 0)
    throw std::runtime_error("memfd_create");
  return memory;
}

void* map(int memory, std::uint64_t size) {
  return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
}

// A read-only descriptor, such as the device gives for memory that clients must not write.
int reopen_read_only(int memory) {
  return open(("/proc/self/fd/" + std::to_string(memory)).c_str(), O_RDONLY | O_CLOEXEC, 0);
}

int listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 8) != 0) {
    throw std::runtime_error("bind " + path);
  }
  return listener;
}

void send_reply(int connection, const abi::ReplyHeader& header, const std::vector<char>& body,
                const std::vector<int>& descriptors) {
  iovec parts[2] = {{const_cast<abi::ReplyHeader*>(&header), sizeof header},
                    {const_cast<char*>(body.data()), body.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
  }
  sendmsg(connection, &message, MSG_NOSIGNAL);
}

}  // namespace

FakeDevice::FakeDevice() {
  directory_ = std::filesystem::temp_directory_path() / "urnic-fake-XXXXXX";
  if (mkdtemp(directory_.data()) == nullptr) throw std::runtime_error("mkdtemp");
  sysfs_ = directory_ + "/sysfs";
  node_ = directory_ + "/uverbs0";
  write_fake_sysfs(sysfs_);
  listener_ = listen_at(node_);
  arena_ = make_memory("arena", kArenaSize);
  arena_base_ = static_cast<char*>(map(arena_, kArenaSize));
  doorbells_memory_ = make_memory("doorbells", sizeof(abi::Doorbells));
  doorbells_ = static_cast<abi::Doorbells*>(map(doorbells_memory_, sizeof(abi::Doorbells)));
  status_memory_ = make_memory("status", sizeof(abi::EngineStatus));
  status_ = static_cast<abi::EngineStatus*>(map(status_memory_, sizeof(abi::EngineStatus)));
  wakeup_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (pipe2(stop_, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  thread_ = std::thread([this] { serve(); });
}

FakeDevice::~FakeDevice() {
  die();
  std::filesystem::remove_all(directory_);
  munmap(arena_base_, kArenaSize);
  munmap(doorbells_, sizeof(abi::Doorbells));
  munmap(status_, sizeof(abi::EngineStatus));
  for (const int number : {arena_, doorbells_memory_, status_memory_, wakeup_}) close(number);
}

void FakeDevice::die() {
  if (!thread_.joinable()) return;
  if (write(stop_[1], "", 1) != 1) throw std::runtime_error("stop pipe");
  thread_.join();
  close(stop_[0]);
  close(stop_[1]);
  close_inherited();
}

void FakeDevice::close_inherited() {
  close(listener_);
  for (const Connection& connection : connections_) close(connection.socket);
  connections_.clear();
  for (const Channel& channel : channels_) close(channel.write_end);
  channels_.clear();
  for (const int number : {async_read_, async_write_}) {
    if (number >= 0) close(number);
  }
}

void FakeDevice::serve() {
  for (;;) {
    std::vector<pollfd> entries{{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Connection& connection : connections_) entries.push_back({connection.socket, POLLIN, 0});
    poll(entries.data(), entries.size(), -1);
    if (entries[0].revents != 0) return;
    for (std::size_t i = entries.size(); i-- > 2;) {
      if (entries[i].revents == 0 || serve_one(connections_[i - 2])) continue;
      close(connections_[i - 2].socket);
      connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i - 2));
    }
    if (entries[1].revents != 0) {
      connections_.push_back({accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), false});
    }
  }
}

// False: the connection has ended.
bool FakeDevice::serve_one(Connection& connection) {
  abi::RequestHeader header;
  std::vector<char> body(abi::kMaxControlMessage);
  iovec parts[2] = {{&header, sizeof header}, {body.data(), body.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = recvmsg(connection.socket, &message, MSG_CMSG_CLOEXEC);
  if (length < static_cast<ssize_t>(sizeof header) || header.magic != abi::kControlMagic) return false;
  body.resize(static_cast<std::size_t>(length) - sizeof header);
  std::vector<int> descriptors;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    descriptors.resize((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(descriptors.data(), CMSG_DATA(part), descriptors.size() * sizeof(int));
  }
  const auto opcode = static_cast<abi::ControlOpcode>(header.opcode);
  const std::lock_guard lock(mutex_);
  ++counts_[opcode];
  last_bodies_[opcode] = body;
  const Answer reply = answer(connection, opcode, body, descriptors);
  if (reply.silent) return true;
  const abi::ReplyHeader reply_header{
      abi::kControlMagic,
      header.opcode,
      static_cast<std::uint32_t>(sizeof(abi::ReplyHeader) + reply.body.size()),
      header.sequence,
      reply.error,
      0};
  send_reply(connection.socket, reply_header, reply.body, reply.descriptors);
  for (const int number : reply.descriptors) {
    if (number != arena_ && number != doorbells_memory_ && number != wakeup_) close(number);
  }
  return true;
}

FakeDevice::Answer FakeDevice::open_context(const std::vector<int>& descriptors) {
  close(descriptors.at(0));
  close(descriptors.at(1));
  async_read_ = descriptors.at(2);
  async_write_ = descriptors.at(3);
  Answer answer;
  abi::OpenContextReply reply{};
  reply.token.bytes[0] = 0x5A;
  reply.completion_vectors = 2;
  reply.reserved_pd = next_handle_++;
  answer.set(reply);
  answer.descriptors = {doorbells_memory_, reopen_read_only(status_memory_), wakeup_};
  return answer;
}

FakeDevice::Answer FakeDevice::add_channel(const std::vector<int>& descriptors) {
  struct stat status {};
  fstat(descriptors.at(1), &status);
  close(descriptors.at(0));
  channels_.push_back({status.st_ino, descriptors.at(1)});
  Answer answer;
  answer.silent = true;
  return answer;
}

bool FakeDevice::woken() {
  std::uint64_t count = 0;
  return read(wakeup_, &count, sizeof count) == sizeof count;
}

bool FakeDevice::take_doorbell(std::uint32_t number) {
  const std::uint64_t bit = std::uint64_t{1} << (number % 64);
  return (doorbells_->bits[number / 64].fetch_and(~bit) & bit) != 0;
}

void FakeDevice::refuse_next(abi::ControlOpcode opcode, int error) {
  const std::lock_guard lock(mutex_);
  refusals_[opcode] = error;
}

void FakeDevice::offer_next(const abi::PageRange& pages, int error) {
  const std::lock_guard lock(mutex_);
  offer_ = pages;
  error_after_offer_ = error;
}

FakeDevice::Answer FakeDevice::offer_pages(const abi::RegisterMrRequest& request) {
  Answer answer;
  if (request.sharing == abi::Sharing::willing) {
    abi::RegisterMrReply reply{};
    reply.pages = offer_;
    answer.set(reply);
    answer.descriptors = {make_memory("pages", offer_.length)};
  } else {
    answer.error = error_after_offer_;
    offer_ = {};
  }
  return answer;
}

unsigned FakeDevice::requests(abi::ControlOpcode opcode) {
  const std::lock_guard lock(mutex_);
  return counts_[opcode];
}

}  // namespace urnic::test
