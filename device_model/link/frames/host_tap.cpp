#include "device_model/link/frames/host_tap.hpp"

#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "wire/internet_checksum.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {
namespace {

// The field has the sum of the pseudo header. A sum of 0 would be none in UDP (RFC 768), and is the same as
// 0xFFFF in TCP.
bool complete_checksum(std::span<std::byte> frame, std::size_t start, std::size_t offset) {
  if (start >= frame.size() || offset + 2 > frame.size() - start) return false;
  wire::InternetSum sum;
  sum.add(frame.subspan(start));
  std::uint16_t checksum = sum.checksum();
  if (checksum == 0) checksum = 0xFFFF;
  std::memcpy(frame.data() + start + offset, &checksum, sizeof checksum);
  return true;
}

}  // namespace

HostTap::HostTap(memory::Descriptor tap)
    : tap_(std::move(tap)), bytes_(new std::byte[kFrames * kMostFrameBytes]) {
  given_.reserve(kFrames);
  wake_.add(tap_.get());
}

void HostTap::set_carrier(bool present) {
  const int wanted = present ? 1 : 0;
  ioctl(tap_.get(), TUNSETCARRIER, &wanted);
}

void HostTap::give(std::size_t bytes) {
  given_.emplace_back(place(), bytes);
  ++in_use_;
}

bool HostTap::read_whole() {
  TapHeader header;
  const std::array<iovec, 2> parts{{{&header, sizeof header}, {whole_.data(), whole_.size()}}};
  const ssize_t length = readv(tap_.get(), parts.data(), parts.size());
  if (length < 0) return false;
  const auto bytes = static_cast<std::size_t>(length);
  if (bytes < sizeof header + wire::kEthernetBytes) {
    ++impossible_;
    return true;
  }
  const std::span<std::byte> frame = std::span(whole_).first(bytes - sizeof header);
  if (header.gso_type != kOneSegment) {
    impossible_ += !segmenter_.begin(frame, header.segment_bytes, kMostFrameBytes);
    return true;
  }
  const bool is_possible = frame.size() <= kMostFrameBytes &&
                           ((header.flags & kNeedsChecksum) == 0 ||
                            complete_checksum(frame, header.checksum_start, header.checksum_offset));
  impossible_ += !is_possible;
  if (!is_possible) return true;
  std::memcpy(place(), frame.data(), frame.size());
  give(frame.size());
  return true;
}

std::span<const std::span<std::byte>> HostTap::receive(std::uint32_t most) {
  given_.clear();
  const std::uint32_t end = std::min({in_use_ + kPerRound, in_use_ + most, kFrames});
  for (std::uint32_t calls = 0; in_use_ < end && calls < kPerRound;) {
    if (!segmenter_.is_done()) {
      give(segmenter_.next(place()));
    } else if (++calls; !read_whole()) {
      break;
    }
  }
  return given_;
}

void HostTap::send(HostFrames& frames) {
  frames.for_each([this](std::span<const iovec> pieces) {
    while (writev(tap_.get(), pieces.data(), static_cast<int>(pieces.size())) < 0 && errno == EINTR) {
    }
  });
}

}  // namespace urnic::link
