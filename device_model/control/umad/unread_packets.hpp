// Packets for a program to read, in the order in which they came: in its node's socket as far as that has
// room, the others here. The next long one follows when the one before it is read, or nobody can read it any
// more: a program that leaves it unread keeps its own next one waiting, and what is behind that.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "device_model/abi/umad_messages.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/umad/held_memory.hpp"
#include "device_model/control/umad/rest_stream.hpp"

namespace urnic::control {

class UnreadPackets {
 public:
  static constexpr std::size_t kMost = 256;                           // here
  static constexpr std::size_t kBytes = kMost * abi::kMaxUmadPacket;  // of those that are one datagram
  // Of those that are several: memory. A message that has grown may have twice its length.
  static constexpr std::size_t kMostHeld = 2 * std::size_t{abi::kMostUmadBytes};

  // `device` names it in the log. All outlive this object. `ready` is called when hand_over() may do more,
  // for another reason than that the socket has room.
  UnreadPackets(EventLoop& loop, int socket, std::shared_ptr<Account> account, std::string_view device,
                std::function<void()> ready)
      : loop_(loop),
        socket_(socket),
        device_(device),
        ready_(std::move(ready)),
        memory_(std::move(account), kMostHeld) {}

  // A packet of one datagram. False: there is no room, and it is lost.
  bool add(std::vector<std::byte> packet) { return add(Packet{std::move(packet), {}}); }
  // One whose message is several.
  bool add(std::span<const std::byte> header, std::vector<std::byte> message);
  // Gives the socket what it takes, and a long packet's stream.
  void hand_over();
  // The socket has to have room first.
  bool awaits_room() const { return !waiting_.empty() && !(is_long(waiting_.front()) && rest_); }

 private:
  struct Packet {
    std::vector<std::byte> first;    // the header, and one datagram
    std::vector<std::byte> message;  // of a long one: all of it
  };

  static bool is_long(const Packet& packet) { return !packet.message.empty(); }
  bool add(Packet packet);
  bool hand_over(Packet& packet);
  bool hand_over_long(Packet& packet);
  std::size_t held() const { return held_waiting_ + (rest_ ? rest_->held() : 0); }

  EventLoop& loop_;
  int socket_;
  std::string_view device_;
  std::function<void()> ready_;
  std::deque<Packet> waiting_;
  std::size_t held_waiting_ = 0;    // bytes of memory of long ones
  std::optional<RestStream> rest_;  // of the long packet that the program reads now, or has in its socket
  HeldMemory memory_;
};

}  // namespace urnic::control
