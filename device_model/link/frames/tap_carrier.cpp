#include "device_model/link/frames/tap_carrier.hpp"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "wire/byte_order.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {
namespace {

[[noreturn]] void fail(const std::string& interface, const std::string& what) {
  throw std::system_error(errno, std::generic_category(), "tap " + interface + ": " + what);
}

ifreq request_for(const std::string& interface) {
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), sizeof request.ifr_name - 1);
  return request;
}

void attach(int tap, const std::string& interface, TapOffloads offloads) {
  ifreq request = request_for(interface);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (offloads == TapOffloads::offered) request.ifr_flags |= IFF_VNET_HDR;
  constexpr unsigned long kOffloads = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
  if (ioctl(tap, TUNSETIFF, &request) == 0) {
    if (offloads == TapOffloads::offered && ioctl(tap, TUNSETOFFLOAD, kOffloads) != 0)
      fail(interface, "TUNSETOFFLOAD");
    return;
  }
  if (errno == EPERM)
    fail(interface,
         "it is not this user's, and to make one needs CAP_NET_ADMIN: let root run 'ip tuntap add dev " +
             interface +
             " mode tap user NAME', or start urnic in a network namespace of your own ('unshare -Urn')");
  if (errno == EBUSY) fail(interface, "another process uses it");
  fail(interface, "TUNSETIFF (is it a TAP interface?)");
}

}  // namespace

memory::Descriptor open_tap(const std::string& interface, TapOffloads offloads) {
  memory::Descriptor tap(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!tap) fail(interface, "/dev/net/tun cannot be opened");
  attach(tap.get(), interface, offloads);
  return tap;
}

// A user without that right leaves it to the maker of the interface.
void bring_up(const std::string& interface) {
  const memory::Descriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = request_for(interface);
  if (ioctl(any.get(), SIOCGIFFLAGS, &request) != 0 || (request.ifr_flags & IFF_UP) != 0) return;
  request.ifr_flags |= IFF_UP;
  ioctl(any.get(), SIOCSIFFLAGS, &request);
}

TapCarrier::TapCarrier(memory::Descriptor tap)
    : tap_(std::move(tap)), bytes_(new std::byte[kFrames * kMostFrameBytes]) {
  given_.reserve(kFrames);
  wake_.add(tap_.get());
}

std::span<const std::span<std::byte>> TapCarrier::receive(transport::Time, const Load& most) {
  given_.clear();
  const std::uint32_t end = std::min({in_use_ + kPerRound, in_use_ + most.frames, kFrames});
  while (in_use_ < end) {
    std::byte* const at = bytes_.get() + in_use_ * kMostFrameBytes;
    const ssize_t length = read(tap_.get(), at, kMostFrameBytes);
    if (length < 0) break;
    if (static_cast<std::size_t>(length) < wire::kEthernetBytes) {
      ++counters_.impossible_length;
      continue;
    }
    ++in_use_;
    given_.emplace_back(at, static_cast<std::size_t>(length));
  }
  return given_;
}

std::size_t TapCarrier::send(std::span<const std::byte> frames) {
  std::size_t done = 0;
  while (done < frames.size()) {
    const std::size_t length = wire::load_be32(frames.data() + done);
    if (write(tap_.get(), frames.data() + done + kLengthBytes, length) < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) break;
      ++counters_.refused;
    }
    done += kLengthBytes + length;
  }
  wake_.watch_for_room(tap_.get(), done != frames.size());
  return done;
}

}  // namespace urnic::link
