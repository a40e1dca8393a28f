#include "device_model/link/frames/lan_port.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "device_model/link/frames/carrier_settings.hpp"
#include "device_model/link/frames/frame_stream.hpp"
#include "device_model/memory/descriptor.hpp"
#include "sample_frames.hpp"
#include "wire/ethernet.hpp"

namespace urnic::link::test {
namespace lan_port {

constexpr Load kEverything{1000, 1 << 20};
constexpr wire::MacAddress kPeer{{0x52, 0x54, 0, 0, 0, 2}};

using Bytes = std::vector<std::byte>;

struct TakenFrames final : Port {
  std::vector<Bytes> frames;
  std::vector<PacketOrigin> origins;
  void transmit(const wire::Frame& frame, const PacketOrigin& origin, transport::Time) override {
    frames.push_back(bytes_of(frame));
    origins.push_back(origin);
  }
  bool up(transport::Time) const override { return true; }
};

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "urnic-frames-XXXXXX";
    BOOST_REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

// The other end of the stream.
struct Peer {
  memory::Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};

  explicit Peer(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    BOOST_REQUIRE(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  void send(const Bytes& frame) const {
    Bytes bytes(kLengthBytes);
    wire::store_be32(bytes.data(), static_cast<std::uint32_t>(frame.size()));
    bytes.insert(bytes.end(), frame.begin(), frame.end());
    BOOST_REQUIRE(write(socket.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  // All that lies in the socket, as frames.
  std::vector<Bytes> receive() const {
    Bytes bytes(1 << 20);
    std::size_t count = 0;
    for (ssize_t some = 0; some >= 0 && count < bytes.size();) {
      some = recv(socket.get(), bytes.data() + count, bytes.size() - count, MSG_DONTWAIT);
      if (some <= 0) break;
      count += static_cast<std::size_t>(some);
    }
    std::vector<Bytes> frames;
    for (std::size_t at = 0; at + kLengthBytes <= count;) {
      const std::size_t length = wire::load_be32(bytes.data() + at);
      BOOST_REQUIRE(at + kLengthBytes + length <= count);
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at + kLengthBytes);
      frames.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
      at += kLengthBytes + length;
    }
    return frames;
  }
};

std::unique_ptr<FrameCarrier> open(CarrierKind kind, const std::string& name,
                                   const std::string& remote = "") {
  return open_carrier({.kind = kind, .name = name, .remote = remote});
}
std::unique_ptr<FrameCarrier> listener(const std::string& path) { return open(CarrierKind::listen, path); }

struct Listening {
  Folder folder;
  std::string path = folder.path / "lan";
  transport::Time now{std::chrono::seconds(1)};
  int wakes = 0;
  TakenFrames taken;
  LanPort lan{listener(path), {}, [this] { ++wakes; }};

  void round(LanPort& socket) {
    socket.take(taken, now, kEverything);
    socket.release();
  }
  void round() { round(lan); }
  void send(LanPort& socket, const Bytes& frame) {
    socket.arrive({frame, {}, {}}, {});
    socket.flush();
  }
};

Bytes frame_of(std::size_t size, std::uint8_t value) {
  Bytes frame(size, static_cast<std::byte>(value));
  wire::store_ethernet(frame.data(), mac_of(0), kPeer, wire::ether_type::kIpv4);
  return frame;
}

Bytes tagged(const Bytes& frame, std::uint16_t control) {
  Bytes result(frame.begin(), frame.begin() + wire::kEtherTypeOffset);
  result.resize(wire::kEtherTypeOffset + wire::kVlanTagBytes);
  wire::store_be16(result.data() + wire::kEtherTypeOffset, wire::ether_type::kVlan);
  wire::store_be16(result.data() + wire::kEtherTypeOffset + 2, control);
  result.insert(result.end(), frame.begin() + wire::kEtherTypeOffset, frame.end());
  return result;
}

BOOST_FIXTURE_TEST_SUITE(lan_port, Listening)

BOOST_AUTO_TEST_CASE(frames_pass_both_ways) {
  const Peer peer(path);
  round();
  BOOST_TEST(lan.is_connected());
  peer.send(frame_of(60, 1));
  peer.send(frame_of(1514, 2));
  round();
  BOOST_TEST((taken.frames == std::vector<Bytes>{frame_of(60, 1), frame_of(1514, 2)}));
  BOOST_TEST((taken.origins[0].queue_pair == kUnknownQpn));
  BOOST_TEST((taken.origins[0].device == kPeer));
  const SampleFrame sample;
  lan.arrive(sample.frame(), {});
  BOOST_TEST(peer.receive().empty());
  lan.flush();
  BOOST_TEST((peer.receive() == std::vector<Bytes>{bytes_of(sample.frame())}));
  BOOST_TEST(lan.counters().sent_frames == 1u);
  BOOST_TEST(lan.counters().received_frames == 2u);
}

BOOST_AUTO_TEST_CASE(without_a_peer_frames_are_dropped_and_counted) {
  round();
  send(lan, frame_of(60, 1));
  BOOST_TEST(lan.counters().unconnected == 1u);
}

BOOST_AUTO_TEST_CASE(one_peer_follows_another) {
  {
    const Peer first(path);
    round();
    const Bytes piece = frame_of(100, 1);
    BOOST_REQUIRE(write(first.socket.get(), piece.data(), 50) == 50);
    round();
  }
  const Peer second(path);
  second.send(frame_of(60, 2));
  for (int i = 0; i < 3; ++i) round();
  BOOST_TEST((taken.frames == std::vector<Bytes>{frame_of(60, 2)}));
  BOOST_TEST(lan.counters().carrier.connections == 2u);
  send(lan, frame_of(60, 3));
  BOOST_TEST((second.receive() == std::vector<Bytes>{frame_of(60, 3)}));
}

// What an ended peer has sent last may still be in use.
BOOST_AUTO_TEST_CASE(the_frames_of_a_lost_peer_stay_until_they_are_released) {
  {
    const Peer first(path);
    round();
    first.send(frame_of(60, 1));
    lan.take(taken, now, kEverything);
  }
  const Peer second(path);
  second.send(frame_of(60, 2));
  lan.take(taken, now, kEverything);
  lan.take(taken, now, kEverything);
  BOOST_TEST(taken.frames.size() == 1u);
  lan.release();
  round();
  BOOST_TEST(taken.frames.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_peer_that_does_not_read_is_waited_for_and_then_not) {
  const Peer peer(path);
  round();
  while (lan.has_room(now)) send(lan, frame_of(1514, 1));
  BOOST_TEST((lan.room_at() > now));
  BOOST_TEST(lan.counters().overruns == 0u);
  for (int i = 0; i < 1000; ++i) send(lan, frame_of(1514, 1));  // sent by those that do not ask
  BOOST_TEST(lan.counters().overruns > 0u);
  BOOST_TEST(!lan.has_room(now + std::chrono::milliseconds(99)));
  BOOST_TEST(lan.has_room(now + std::chrono::milliseconds(101)));
  const std::uint64_t sent = lan.counters().sent_frames;
  std::size_t received = 0;
  for (int i = 0; i < 10000 && received < sent * 1518; ++i) {
    char bytes[65536];
    const ssize_t count = recv(peer.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) received += static_cast<std::size_t>(count);
    lan.flush();
  }
  BOOST_TEST(received == sent * 1518);
  BOOST_TEST(lan.has_room(now));
}

// Where the next frame begins is not known.
BOOST_AUTO_TEST_CASE(a_peer_that_sends_an_impossible_length_is_left) {
  const Peer first(path);
  round();
  first.send(frame_of(60, 1));
  first.send(Bytes(5));
  first.send(frame_of(60, 2));
  const Peer second(path);
  second.send(frame_of(60, 3));
  for (int i = 0; i < 3; ++i) round();
  BOOST_TEST((taken.frames == std::vector<Bytes>{frame_of(60, 1), frame_of(60, 3)}));
  char byte;
  BOOST_TEST(recv(first.socket.get(), &byte, 1, MSG_DONTWAIT) == 0);  // its end
  BOOST_TEST(lan.counters().carrier.broken_streams == 1u);
  BOOST_TEST(lan.counters().carrier.connections == 2u);
}

// The peer may be a machine that stands still for a while: it keeps its place until another one wants it.
BOOST_AUTO_TEST_CASE(a_listener_takes_another_peer_for_one_that_takes_nothing) {
  const Peer first(path);
  round();
  while (lan.has_room(now)) send(lan, frame_of(1514, 1));
  round();
  BOOST_TEST(!lan.takes_nothing_since(now + std::chrono::milliseconds(99)));
  BOOST_TEST((lan.takes_nothing_since(now + std::chrono::seconds(3)) == now));
  BOOST_TEST((lan.next_due() == now + std::chrono::seconds(10)));
  now += std::chrono::seconds(20);
  round();
  BOOST_TEST(lan.is_connected());
  BOOST_TEST(lan.counters().carrier.stalled_peers == 0u);

  const Peer second(path);
  round();  // it looks once a second
  BOOST_TEST(lan.counters().carrier.connections == 1u);
  now += std::chrono::seconds(1);
  round();
  BOOST_TEST(lan.counters().carrier.connections == 2u);
  BOOST_TEST(lan.counters().carrier.stalled_peers == 1u);
  second.send(frame_of(60, 3));
  round();
  BOOST_TEST((taken.frames == std::vector<Bytes>{frame_of(60, 3)}));
  char bytes[65536];
  while (recv(second.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT) > 0) lan.flush();
  BOOST_TEST(!lan.takes_nothing_since(now + std::chrono::seconds(3)));
}

// A former peer's rest is not sent to the next one.
BOOST_AUTO_TEST_CASE(who_connects_leaves_a_peer_that_takes_nothing_and_connects_again) {
  const std::string server = folder.path / "server";
  const memory::Descriptor listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, server.c_str(), server.size());
  BOOST_REQUIRE(bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  BOOST_REQUIRE(listen(listening.get(), 4) == 0);
  LanPort connecting(open(CarrierKind::connect, server), {}, [] {});
  round(connecting);
  const memory::Descriptor first(accept(listening.get(), nullptr, nullptr));
  while (connecting.has_room(now)) send(connecting, frame_of(1514, 1));
  now += std::chrono::milliseconds(9'900);
  round(connecting);
  BOOST_TEST(connecting.counters().carrier.connections == 1u);
  now += std::chrono::milliseconds(200);
  round(connecting);
  BOOST_TEST(connecting.counters().carrier.connections == 2u);
  BOOST_TEST(connecting.counters().carrier.stalled_peers == 1u);
  const memory::Descriptor second(accept(listening.get(), nullptr, nullptr));
  std::array<std::byte, kLengthBytes> length;
  round(connecting);
  BOOST_REQUIRE(recv(second.get(), length.data(), length.size(), MSG_DONTWAIT) == kLengthBytes);
  BOOST_TEST(wire::load_be32(length.data()) == 1514u);
}

BOOST_AUTO_TEST_CASE(own_addresses_are_answered_for) {
  const wire::Gid own = gid_of(1);
  lan.neighbours().set_addresses({{own, mac_of(1)}});
  const Peer peer(path);
  round();
  const auto question =
      wire::encode_arp({wire::ArpOperation::request, kPeer, gid_of(9), {}, own}, wire::kBroadcastMac);
  peer.send(Bytes(question.begin(), question.end()));
  round();
  const auto answers = peer.receive();
  BOOST_REQUIRE_EQUAL(answers.size(), 1u);
  const auto answer = wire::parse_arp(answers[0]);
  BOOST_REQUIRE(answer);
  BOOST_TEST((answer->sender_mac == mac_of(1)));
  BOOST_TEST(taken.frames.size() == 1u);  // programs with raw packet QPs may want to see it
}

BOOST_AUTO_TEST_CASE(a_neighbour_is_asked_for) {
  lan.neighbours().set_addresses({{gid_of(1), mac_of(1)}});
  const Peer peer(path);
  round();
  now = transport::Time(std::chrono::steady_clock::now().time_since_epoch()) + std::chrono::seconds(1);
  BOOST_TEST((lan.neighbours().find(gid_of(9)).state == Neighbour::State::asked));
  BOOST_TEST(wakes == 1);
  BOOST_TEST(lan.next_due().has_value());
  round();
  BOOST_REQUIRE_EQUAL(peer.receive().size(), 1u);
}

BOOST_AUTO_TEST_CASE(a_priority_tag_is_no_vlan) {
  const Peer peer(path);
  round();
  peer.send(tagged(frame_of(60, 1), 0x6000));
  peer.send(tagged(frame_of(60, 2), 7));
  round();
  BOOST_TEST((taken.frames == std::vector<Bytes>{frame_of(60, 1)}));
  BOOST_TEST(lan.counters().other_vlan == 1u);
}

BOOST_AUTO_TEST_CASE(frames_of_the_own_addresses_vlans_pass_with_their_tags) {
  const Peer peer(path);
  lan.neighbours().set_addresses({{wire::Gid{{0xFD}}, mac_of(0), 7}});
  round();
  peer.send(tagged(frame_of(60, 1), 0x6007));
  peer.send(tagged(frame_of(60, 2), 8));
  peer.send(frame_of(60, 3));
  round();
  BOOST_TEST((taken.frames == std::vector<Bytes>{tagged(frame_of(60, 1), 0x6007), frame_of(60, 3)}));
  BOOST_TEST(lan.counters().other_vlan == 1u);
  send(lan, tagged(frame_of(60, 4), 7));
  BOOST_TEST((peer.receive() == std::vector<Bytes>{tagged(frame_of(60, 4), 7)}));
  lan.neighbours().set_addresses({});
  peer.send(tagged(frame_of(60, 1), 7));
  round();
  BOOST_TEST(lan.counters().other_vlan == 2u);
}

BOOST_AUTO_TEST_CASE(a_vlans_frames_are_tagged) {
  path += "-7";
  LanPort member(listener(path), 7, [] {});
  const Peer peer(path);
  round(member);
  peer.send(tagged(frame_of(60, 1), 0x6007));
  peer.send(tagged(frame_of(60, 2), 8));
  peer.send(frame_of(60, 3));
  round(member);
  BOOST_TEST((taken.frames == std::vector<Bytes>{frame_of(60, 1)}));
  send(member, frame_of(60, 4));
  BOOST_TEST((peer.receive() == std::vector<Bytes>{tagged(frame_of(60, 4), 7)}));
}

BOOST_AUTO_TEST_CASE(a_socket_that_nobody_serves_is_taken_over) {
  BOOST_CHECK_THROW(listener(path), std::system_error);  // served
  const std::string left = folder.path / "left";
  {
    memory::Descriptor dead(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, left.c_str(), left.size());
    BOOST_REQUIRE(bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  const LanPort next(listener(left), {}, [] {});
  const Peer peer(left);
}

BOOST_AUTO_TEST_CASE(who_connects_waits_for_a_listener_and_comes_back) {
  const std::string later = folder.path / "later";
  LanPort other(open(CarrierKind::connect, later), {}, [] {});
  BOOST_TEST(!other.is_connected());
  for (std::uint8_t number = 1; number <= 2; ++number) {
    LanPort first(listener(later), {}, [] {});
    for (int i = 0; i < 2; ++i) round(other);  // notices the loss of the former one
    now += std::chrono::milliseconds(200);
    round(other);
    BOOST_TEST(other.is_connected());
    round(first);
    send(other, frame_of(60, number));
    round(first);
    BOOST_TEST((taken.frames.back() == frame_of(60, number)));
    send(first, frame_of(60, 9));  // lost with its sender
  }
  round(other);
  round(other);
  BOOST_TEST(!other.is_connected());
  BOOST_TEST(other.counters().carrier.connections == 2u);
}

// A stream is cut anywhere, and what follows is whole frames again.
BOOST_AUTO_TEST_CASE(a_frame_that_was_sent_in_part_is_sent_whole) {
  const Peer peer(path);
  round();
  const int little = 4096;
  setsockopt(peer.socket.get(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
  for (int i = 0; i < 400; ++i) send(lan, frame_of(1000 + static_cast<std::size_t>(i), 1));
  Bytes stream;
  for (int i = 0; i < 10000 && stream.size() < 400 * 1204 - 600; ++i) {
    std::array<std::byte, 1777> bytes;
    const ssize_t count = recv(peer.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0) stream.insert(stream.end(), bytes.begin(), bytes.begin() + count);
    lan.flush();
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    BOOST_REQUIRE(at + kLengthBytes <= stream.size());
    BOOST_REQUIRE_EQUAL(wire::load_be32(stream.data() + at), 1000 + i);
    at += kLengthBytes + 1000 + i;
  }
}

BOOST_AUTO_TEST_CASE(a_listener_lets_only_its_users_in) {
  const std::string shared = folder.path / "shared";
  const auto mode = [&] {
    return std::filesystem::status(shared).permissions() & std::filesystem::perms::all;
  };
  for (const bool allowed : {true, false}) {
    CarrierSettings settings{.kind = CarrierKind::listen, .name = shared};
    settings.access.users = {12345};
    settings.access.everybody = allowed;
    LanPort guarded(open_carrier(settings), {}, [] {});
    BOOST_TEST((mode() == std::filesystem::perms(0666)));
    const Peer peer(shared);
    round(guarded);
    // This process's own user is always let in; whom SO_PEERCRED names is tested with two users.
    BOOST_TEST(guarded.is_connected());
  }
  const LanPort own(listener(shared), {}, [] {});
  BOOST_TEST((mode() == std::filesystem::perms(0600)));
}

BOOST_AUTO_TEST_CASE(datagrams_between_two_paths) {
  const std::string one = folder.path / "one";
  const std::string two = folder.path / "two";
  LanPort first(open(CarrierKind::datagram, one, two), {}, [] {});
  send(first, frame_of(60, 1));
  BOOST_TEST(first.counters().unconnected == 1u);
  for (int restart = 0; restart < 2; ++restart) {
    LanPort second(open(CarrierKind::datagram, two, one), {}, [] {});
    now += std::chrono::milliseconds(1100);
    round(first);
    round(second);
    for (std::uint8_t i = 0; i < 5; ++i) {
      taken.frames.clear();
      send(first, frame_of(60, 2));
      send(second, frame_of(9000, 3));
      round(first);
      round(second);
      BOOST_TEST((taken.frames == std::vector<Bytes>{frame_of(9000, 3), frame_of(60, 2)}));
    }
  }
  send(first, frame_of(60, 2));
  BOOST_TEST(!first.is_connected());
}

BOOST_AUTO_TEST_CASE(datagrams_over_udp) {
  const std::string one = "127.0.0.1:47919";
  const std::string two = "127.0.0.1:47920";
  LanPort first(open(CarrierKind::datagram, one, two), {}, [] {});
  send(first, frame_of(60, 1));  // nobody is there: refused, which must not end anything
  LanPort second(open(CarrierKind::datagram, two, one), {}, [] {});
  round(first);
  for (int i = 0; i < 3; ++i) send(first, frame_of(60, 2));
  round(second);
  BOOST_TEST(taken.frames.size() >= 2u);
  BOOST_CHECK_THROW(open(CarrierKind::datagram, "localhost", two), std::system_error);
}

BOOST_AUTO_TEST_CASE(a_query_is_answered_with_the_groups) {
  const wire::Gid group{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 239, 1, 2, 3}};
  const Peer peer(path);
  round();
  lan.groups().set_members({{mac_of(1), group, gid_of(1)}});
  BOOST_TEST(wakes == 1);
  round();
  BOOST_TEST(peer.receive().size() == 1u);
  BOOST_TEST(lan.counters().reports == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace lan_port
}  // namespace urnic::link::test
