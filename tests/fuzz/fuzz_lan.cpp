// Any bytes as the stream of frames from a LAN: the reader gives frames of possible lengths, however the
// stream is split, and address resolution believes nobody about its own addresses, keeps a bounded table, and
// answers a frame with at most one. Queries of group memberships are answered with a report for each group at
// most. As a host's segment that its interface divides, a frame gives parts of possible lengths, which are
// joined to no more than it was.
//
// An input is one byte, the length of the pieces in which the stream comes, and the stream.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "device_model/link/frames/frame_stream.hpp"
#include "device_model/link/frames/host_frames.hpp"
#include "device_model/link/frames/tcp_segmenter.hpp"
#include "device_model/link/membership/group_membership.hpp"
#include "device_model/link/neighbours/neighbour_discovery.hpp"
#include "tests/fuzz/require.hpp"
#include "wire/network_codec.hpp"

namespace {

using urnic::fuzz::require;
using namespace urnic::link;

constexpr urnic::wire::MacAddress kMac{{2, 0, 0, 0, 0, 1}};
constexpr urnic::wire::Gid kIpv4{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1}};
constexpr urnic::wire::Gid kIpv6{{0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr urnic::wire::Gid kIpv4Group{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 239, 0, 0, 1}};
constexpr urnic::wire::Gid kIpv6Group{{0xFF, 0x0E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}};
constexpr urnic::wire::Gid kInVlan{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 5, 0, 1}};
constexpr std::uint16_t kVlan = 5;
constexpr std::size_t kGroups = 2;
constexpr urnic::wire::Gid kPeer{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 2}};

struct Answers final : NeighbourDiscovery::Sender {
  std::size_t count = 0;
  void send(std::span<const std::byte>) override { ++count; }
};

void divide_and_join(std::span<const std::byte> frame) {
  TcpSegmenter segmenter;
  const std::size_t payload_bytes = 64 + std::to_integer<std::size_t>(frame.back()) * 4;
  HostFrames joined(1 << 20);
  std::deque<std::vector<std::byte>> parts;
  joined.add({frame, {}, {}});
  if (segmenter.begin(frame, payload_bytes, kMostFrameBytes)) {
    while (!segmenter.is_done()) {
      std::vector<std::byte>& part = parts.emplace_back(kMostFrameBytes);
      part.resize(segmenter.next(part.data()));
      require(part.size() <= frame.size(), "a part is longer than the whole");
      joined.add({part, {}, {}});
    }
  }
  joined.for_each([&](std::span<const iovec> pieces) {
    std::size_t bytes = 0;
    for (const iovec& piece : pieces) bytes += piece.iov_len;
    require(bytes <= sizeof(TapHeader) + 2 * frame.size(), "more was joined than there was");
  });
}

void take_frames(FrameStreamReader& reader, NeighbourDiscovery& discovery, GroupMembership& groups,
                 urnic::transport::Time now) {
  for (auto frame = reader.next(); !frame.empty(); frame = reader.next()) {
    require(frame.size() >= urnic::wire::kEthernetBytes && frame.size() <= kMostFrameBytes,
            "an impossible length");
    // In memory of exactly this length, so that the sanitizer sees a read behind it.
    const std::vector<std::byte> exact(frame.begin(), frame.end());
    divide_and_join(exact);
    Answers answers;
    discovery.receive(exact, now, answers);
    require(answers.count <= 1, "more answers than questions");
    if (groups.receive(exact, now))
      require(groups.run(now + std::chrono::hours(24)).size() <= kGroups, "more reports than groups");
  }
  reader.release();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::max<std::size_t>(1, data[0]);
  std::span<const std::byte> stream = std::as_bytes(std::span(data + 1, size - 1));
  urnic::transport::Time now{std::chrono::seconds(1)};
  NeighbourDiscovery discovery([&] { return now; }, [] {});
  discovery.set_addresses({{kIpv4, kMac}, {kIpv6, kMac}, {kInVlan, kMac, kVlan}});
  discovery.find(kPeer);
  GroupMembership groups([] {});
  groups.set_members({{kMac, kIpv4Group, kIpv4}, {kMac, kIpv6Group, kIpv6}});
  FrameStreamReader reader;
  while (!stream.empty()) {
    const std::span<std::byte> space = reader.space();
    const std::size_t count = std::min({piece, stream.size(), space.size()});
    require(count != 0, "the reader is full");
    std::copy_n(stream.begin(), count, space.begin());
    reader.filled(count);
    stream = stream.subspan(count);
    take_frames(reader, discovery, groups, now);
    if (reader.broken()) reader.restart();
    now += std::chrono::milliseconds(100);
    Answers questions;
    discovery.run(now, questions);
  }
  const auto tables = discovery.tables();
  for (const auto& [vlan, table] : tables) {
    require(vlan == 0 || vlan == kVlan, "a network that nobody here is in");
    require(table.entries().size() <= NeighbourTable::kMostEntries, "too many entries");
  }
  const NeighbourTable& table = tables.at(0);
  require(!table.entries().contains(kIpv4) && !table.entries().contains(kIpv6),
          "an own address is a neighbour");
  return 0;
}
