// Packets for a program to read, in the order in which they came: in its node's socket as far as that has
// room, the others here.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "device_model/abi/umad_messages.hpp"
#include "device_model/control/umad/held_memory.hpp"

namespace urnic::control {

class UnreadPackets {
 public:
  static constexpr std::size_t kMost = 256;                           // here
  static constexpr std::size_t kMostLongBytes = abi::kMostUmadBytes;  // of those that are several datagrams
  static constexpr std::size_t kBytes = kMost * abi::kMaxUmadPacket;  // of those that are one

  // `device` names it in the log, and outlives this object, as `socket` does.
  UnreadPackets(int socket, std::shared_ptr<Account> account, std::string_view device)
      : socket_(socket), device_(device), memory_(std::move(account), 2 * kMostLongBytes) {}

  // False: there is no room, and the packet is lost.
  bool add(std::vector<std::byte> packet);
  // Gives the socket what it takes: when it may have room again, and awaits_room() says so.
  void hand_over();
  bool awaits_room() const { return !waiting_.empty() || long_in_socket_ != 0; }

 private:
  bool hand_over(const std::vector<std::byte>& packet);
  bool is_read() const;

  int socket_;
  std::string_view device_;
  std::deque<std::vector<std::byte>> waiting_;
  std::size_t long_waiting_ = 0;    // bytes
  std::size_t long_in_socket_ = 0;  // bytes of the one whose rest is in the socket
  HeldMemory memory_;
};

}  // namespace urnic::control
