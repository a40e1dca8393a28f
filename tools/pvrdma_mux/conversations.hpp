// Which address each guest's peers have. QEMU names the guest's own address beside a message that leaves, and
// not the peer's: messages of connection management say it themselves, or answer one that has said it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "wire/identifiers.hpp"

namespace urnic::pvrdma_mux {

class Conversations {
 public:
  // Most that are remembered; the one that was begun first is forgotten first.
  static constexpr std::size_t kMost = 4096;

  // A message that has come from `peer` to the guest's address `own`.
  void arrived(const wire::Gid& own, const wire::Gid& peer, std::span<const std::byte> mad);

  // Where a message of the guest with the address `own` goes; empty: it is none of connection management, or
  // answers nothing that is remembered.
  std::optional<wire::Gid> destination(const wire::Gid& own, std::span<const std::byte> mad);

  // The guest has lost this address.
  void forget(const wire::Gid& own);

  std::size_t size() const { return begun_.size(); }

 private:
  // Numbers of connections (communication ids), or of requests for a service's queue pair (SIDR).
  enum class Kind : std::uint8_t { connection, service };
  struct Conversation {
    Kind kind{};
    wire::Gid own;
    std::uint32_t guest_number = 0;  // that the guest has given it; 0: not known
    std::uint32_t peer_number = 0;   // that the peer has given it; 0: not known
    wire::Gid peer;
  };
  // What a message says of its conversation, in the view of its sender.
  struct Said {
    Kind kind{};
    bool begins = false;
    std::uint32_t local = 0;
    std::uint32_t remote = 0;
    std::optional<wire::Gid> peer;  // of a message that begins a conversation
  };

  static std::optional<Said> read(std::span<const std::byte> mad);
  Conversation* find(Kind kind, const wire::Gid& own, std::uint32_t guest_number, std::uint32_t peer_number);
  void begin(const Conversation& conversation);

  std::deque<Conversation> begun_;
};

}  // namespace urnic::pvrdma_mux
