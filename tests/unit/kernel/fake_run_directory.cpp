#include "tests/unit/kernel/fake_run_directory.hpp"

#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "device_model/abi/control.hpp"

namespace urnic::kernel::test {

namespace fs = std::filesystem;

namespace {

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

int bind_node(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot bind " + path);
  return listener;
}

bool is_pipe(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace

FakeRunDirectory::FakeRunDirectory(bool through_link) {
  home_ = fs::temp_directory_path() / "urnic-kernel-test-XXXXXX";
  if (mkdtemp(home_.data()) == nullptr) throw std::runtime_error("cannot make " + home_);
  fs::create_directories(home_ + "/here/run");
  if (through_link) fs::create_symlink(".", home_ + "/link");
  path_ = home_ + (through_link ? "/link/here/run" : "/here/run");
  make_sysfs();
  make_nodes();
  stop_ = eventfd(0, EFD_CLOEXEC);
  server_ = std::thread([this] { serve(); });
}

FakeRunDirectory::~FakeRunDirectory() {
  eventfd_write(stop_, 1);
  server_.join();
  close(stop_);
  close(listener_);
  close(netlink_listener_);
  fs::remove_all(home_);
}

void FakeRunDirectory::make_sysfs() const {
  const fs::path folder = fs::path(path_) / "sysfs/class";
  const fs::path devices = fs::path(path_) / "sysfs/devices/virtual/infiniband";
  put(folder / "infiniband_verbs/abi_version", "6");
  for (const char index : {'0', '1'}) {
    const std::string name = std::string("urnic") + index;
    const fs::path verbs = folder / ("infiniband_verbs/uverbs" + std::string(1, index));
    put(verbs / "ibdev", name);
    put(verbs / "dev", std::string("231:19") + (index == '0' ? '2' : '3'));
    put(verbs / "abi_version", "1");
    const fs::path device = (index == '0' ? folder / "infiniband" : devices) / name;
    put(device / "node_type", "1: CA");
    put(device / "node_guid", std::string("0200:00ff:fe00:000") + index);
    put(device / "ports/1/state", "4: ACTIVE");
  }
  make_pci_bus();
  fs::create_symlink("../../devices/virtual/infiniband/urnic1", folder / "infiniband/urnic1");
  fs::create_symlink(path_ + "/sysfs/class/infiniband/urnic0",
                     folder / "infiniband_verbs/uverbs0/absolute_link");
}

// Two PCI devices, and beside them one of the machine's.
void FakeRunDirectory::make_pci_bus() const {
  const fs::path sysfs = fs::path(path_) / "sysfs";
  fs::create_directories(sysfs / "bus/pci/devices");
  for (const char index : {'0', '1'}) {
    const std::string address = std::string("7572:00:0") + index + ".0";
    const fs::path device = sysfs / "devices/pci7572:00" / address;
    put(device / "vendor", "0x15b3");
    fs::create_directories(device / "infiniband" / (std::string("urnic") + index));
    fs::create_symlink("../../../devices/pci7572:00/" + address, sysfs / "bus/pci/devices" / address);
  }
  std::ofstream(sysfs / "devices/pci7572:00/7572:00:01.0/empty").close();
  put(sysfs / "module/mlx5_core/initstate", "live");
  fs::create_directories(sysfs / "class/net");
  fs::create_directories(sysfs / "devices/virtual/net/mlx5_0");
  fs::create_symlink("../../../pci7572:00/7572:00:00.0", sysfs / "devices/virtual/net/mlx5_0/device");
  fs::create_symlink("../../devices/virtual/net/mlx5_0", sysfs / "class/net/mlx5_0");
  put(fs::path(home_) / "machine/0000:00:00.0/vendor", "0x8086");
  fs::create_symlink(home_ + "/machine", sysfs / "devices/pci0000:00");
  fs::create_symlink("../../../devices/pci0000:00/0000:00:00.0", sysfs / "bus/pci/devices/0000:00:00.0");
}

void FakeRunDirectory::make_nodes() {
  fs::create_directory(path_ + "/dev");
  listener_ = bind_node(path_ + "/dev/uverbs0");
  netlink_listener_ = bind_node(path_ + "/netlink.sock");
  if (listen(listener_, 16) != 0 || listen(netlink_listener_, 16) != 0)
    throw std::runtime_error("cannot listen");
  close(bind_node(path_ + "/dev/uverbs1"));
}

void FakeRunDirectory::serve() {
  std::vector<pollfd> watched = {{stop_, POLLIN, 0}, {listener_, POLLIN, 0}, {netlink_listener_, POLLIN, 0}};
  const auto is_netlink = [this](int connection) {
    return std::find(netlink_connections_.begin(), netlink_connections_.end(), connection) !=
           netlink_connections_.end();
  };
  while (poll(watched.data(), watched.size(), -1) > 0 && watched[0].revents == 0) {
    const bool arrival = watched[1].revents != 0;
    const bool netlink_arrival = watched[2].revents != 0;
    for (std::size_t i = 3; i < watched.size();) {
      const int connection = watched[i].fd;
      if (watched[i].revents == 0 ||
          (is_netlink(connection) ? refuse_netlink(connection) : take_message(connection))) {
        ++i;
        continue;
      }
      close(connection);
      std::erase(netlink_connections_, connection);
      watched.erase(watched.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (arrival) watched.push_back({accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), POLLIN, 0});
    if (netlink_arrival) {
      netlink_connections_.push_back(accept4(netlink_listener_, nullptr, nullptr, SOCK_CLOEXEC));
      watched.push_back({netlink_connections_.back(), POLLIN, 0});
    }
  }
  for (std::size_t i = 3; i < watched.size(); ++i) close(watched[i].fd);
}

// False at the end of the connection.
bool FakeRunDirectory::refuse_netlink(int connection) {
  struct {
    nlmsghdr header;
    nlmsgerr error;
  } answer = {};
  char data[4096];
  const ssize_t size = recv(connection, data, sizeof data, 0);
  if (size < static_cast<ssize_t>(sizeof answer.error.msg)) return false;
  std::memcpy(&answer.error.msg, data, sizeof answer.error.msg);
  answer.error.error = -EOPNOTSUPP;
  answer.header = {sizeof answer, NLMSG_ERROR, 0, answer.error.msg.nlmsg_seq, answer.error.msg.nlmsg_pid};
  return send(connection, &answer, sizeof answer, MSG_NOSIGNAL) == sizeof answer;
}

// False at the end of the connection.
bool FakeRunDirectory::take_message(int connection) {
  char data[abi::kMaxControlMessage];
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
  iovec place = {data, sizeof data};
  msghdr message = {};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  if (size <= 0) return false;

  std::vector<int> descriptors;
  if (const cmsghdr* rights = CMSG_FIRSTHDR(&message)) {
    descriptors.resize((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(descriptors.data(), CMSG_DATA(rights), descriptors.size() * sizeof(int));
  }
  abi::RequestHeader header = {};
  std::memcpy(&header, data, sizeof header);
  if (size == sizeof header && header.magic == abi::kControlMagic && descriptors.empty() &&
      header.opcode == static_cast<std::uint32_t>(abi::ControlOpcode::async_channel)) {
    ++good_messages_;
    answer_async_channel(connection);
    return true;
  }
  const bool good = size == sizeof header + sizeof(abi::AddCompletionChannelRequest) &&
                    header.magic == abi::kControlMagic && header.length == size &&
                    header.opcode == static_cast<std::uint32_t>(abi::ControlOpcode::add_completion_channel) &&
                    descriptors.size() == 2 && is_pipe(descriptors[0]) && is_pipe(descriptors[1]);
  ++(good ? good_messages_ : other_messages_);
  if (good && write(descriptors[1], &kEventHandle, sizeof kEventHandle) < 0) ++other_messages_;
  for (const int descriptor : descriptors) close(descriptor);
  return true;
}

void FakeRunDirectory::answer_async_channel(int connection) {
  struct {
    abi::ReplyHeader header;
    abi::Empty body;
  } reply = {};
  reply.header.magic = abi::kControlMagic;
  reply.header.opcode = static_cast<std::uint32_t>(abi::ControlOpcode::async_channel);
  reply.header.length = sizeof reply;
  reply.header.error = async_channels_++ % 2 == 0 ? 0 : EMFILE;
  iovec data = {&reply, sizeof reply};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  int ends[2] = {-1, -1};
  if (reply.header.error == 0) {
    if (pipe2(ends, O_CLOEXEC) != 0 || write(ends[1], &kEventHandle, sizeof kEventHandle) < 0) {
      ++other_messages_;
    }
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &ends[0], sizeof ends[0]);
  }
  if (sendmsg(connection, &message, MSG_NOSIGNAL) != sizeof reply) ++other_messages_;
  for (const int end : ends) {
    if (end >= 0) close(end);
  }
}

}  // namespace urnic::kernel::test
