// A program that has opened a umad node, without the kernel stand-in, and what it writes.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "device_model/abi/umad_messages.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/umad/pending_requests.hpp"
#include "tests/unit/control/file_in_memory.hpp"
#include "tests/unit/control/running_process.hpp"
#include "wire/mad/vendor.hpp"

namespace urnic::control::test {

using abi::UmadRequestKind;
using wire::mad::Mad;
using wire::mad::MadHeader;
using wire::mad::ManagementClass;
using wire::mad::Method;

inline constexpr auto kPing = static_cast<std::uint8_t>(ManagementClass::openib_ping);
inline constexpr std::uint32_t kOui = wire::mad::kOpenIbOui.value;

// One that takes every request to ping.
inline ib_user_mad_reg_req2 ping_server() {
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  request.mgmt_class = kPing;
  request.mgmt_class_version = 1;
  request.oui = kOui;
  request.method_mask[0] = request.method_mask[1] = ~std::uint64_t{0};
  return request;
}

inline Mad ping(Method method, std::uint64_t transaction = 5) {
  wire::mad::VendorMad mad;
  mad.header = {.management_class = ManagementClass::openib_ping,
                .class_version = 1,
                .method = method,
                .transaction = {transaction}};
  mad.oui = wire::mad::kOpenIbOui;
  return encode(mad);
}

// A program that has opened a node, without the kernel stand-in.
class UmadProgram {
 public:
  UmadProgram(const RunningProcess& process, int device)
      : node_(connect_to(process.directory().device_nodes() / ("umad" + std::to_string(device)),
                         SOCK_SEQPACKET)) {}

  // The answer's errno; -1: the connection is closed. `argument` becomes the answer's.
  int ask(UmadRequestKind kind, std::span<std::byte> argument) { return ask(kind, argument, argument); }
  int ask(UmadRequestKind kind, std::span<const std::byte> data, std::span<std::byte> answer, int rest = -1) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    const memory::Descriptor ours(ends[0]);
    memory::Descriptor theirs(ends[1]);
    const abi::UmadRequest header{abi::kUmadMagic, static_cast<std::uint32_t>(kind)};
    std::vector<std::byte> message(sizeof header + data.size());
    std::memcpy(message.data(), &header, sizeof header);
    std::copy(data.begin(), data.end(), message.begin() + sizeof header);
    std::vector<int> descriptors{theirs.get()};
    if (rest >= 0) descriptors.push_back(rest);
    send_message(node_.get(), message, descriptors);
    theirs.reset();
    std::array<std::byte, 256> reply{};
    const ssize_t length = recv(ours.get(), reply.data(), reply.size(), 0);
    abi::UmadReply head{};
    if (length < static_cast<ssize_t>(sizeof head)) return -1;
    std::memcpy(&head, reply.data(), sizeof head);
    const std::size_t behind = std::min(static_cast<std::size_t>(length) - sizeof head, answer.size());
    std::copy_n(reply.begin() + sizeof head, behind, answer.begin());
    return head.error;
  }
  template <class Argument>
  int ask(UmadRequestKind kind, Argument& argument) {
    return ask(kind, std::as_writable_bytes(std::span(&argument, 1)));
  }
  // Of the class ping, for sending only.
  std::uint32_t register_client() {
    ib_user_mad_reg_req2 request = ping_server();
    request.method_mask[0] = request.method_mask[1] = 0;
    BOOST_REQUIRE(ask(UmadRequestKind::register_agent2, request) == 0);
    return request.id;
  }
  int write(const UmadPacket& packet, std::size_t bytes = sizeof(UmadPacket)) {
    return ask(UmadRequestKind::write, std::as_bytes(std::span(&packet, 1)).first(bytes), {});
  }
  int write_bytes(std::span<const std::byte> bytes) {
    if (bytes.size() <= abi::kMaxUmadPacket) return ask(UmadRequestKind::write, bytes, {});
    const memory::Descriptor rest = file_in_memory(bytes.subspan(abi::kMaxUmadPacket));
    return ask(UmadRequestKind::write, bytes.first(abi::kMaxUmadPacket), {}, rest.get());
  }
  // Waits for a packet of any length; empty if none comes.
  std::vector<std::byte> read_bytes(int patience_ms = 5000) {
    pollfd look{node_.get(), POLLIN, 0};
    std::vector<std::byte> bytes(abi::kMaxUmadPacket);
    std::vector<memory::Descriptor> rest;
    int flags = 0;
    const bool has_come = poll(&look, 1, patience_ms) == 1;
    const ssize_t length = has_come ? receive_bytes(node_.get(), bytes, rest, flags) : 0;
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    std::array<std::byte, 100'000> portion;
    for (ssize_t got = 1; !rest.empty() && got > 0;) {
      look.fd = rest[0].get();
      BOOST_REQUIRE(poll(&look, 1, patience_ms) == 1);
      got = recv(rest[0].get(), portion.data(), portion.size(), 0);
      bytes.insert(bytes.end(), portion.begin(), portion.begin() + std::max<ssize_t>(got, 0));
    }
    return bytes;
  }
  // Waits for a packet; its length, or 0 if none comes.
  std::size_t read(UmadPacket& packet, int patience_ms = 5000) {
    pollfd look{node_.get(), POLLIN, 0};
    if (poll(&look, 1, patience_ms) != 1) return 0;
    return static_cast<std::size_t>(recv(node_.get(), &packet, sizeof packet, 0));
  }
  // Waits for the end of the connection; false: it goes on, or there is a packet.
  bool is_closed(int patience_ms = 5000) {
    pollfd look{node_.get(), POLLIN, 0};
    std::byte first{};
    return poll(&look, 1, patience_ms) == 1 && recv(node_.get(), &first, 1, 0) <= 0;
  }
  int descriptor() const { return node_.get(); }

 private:
  memory::Descriptor node_;
};

inline UmadPacket packet_to(std::uint16_t lid, const Mad& mad, std::uint32_t id = 0) {
  UmadPacket packet;
  packet.header.id = id;
  packet.header.qpn = htonl(1);
  packet.header.lid = htons(lid);
  packet.mad = mad;
  return packet;
}

}  // namespace urnic::control::test
