#include "tools/pvrdma_mux/conversations.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "wire/mad/cm_messages.hpp"
#include "wire/mad/ip_cm_header.hpp"

namespace urnic::pvrdma_mux {
namespace {

namespace mad = wire::mad;

// A request for a service's queue pair has no path; rdma_cm's header names the address (IBTA A11).
std::optional<wire::Gid> named_destination(const mad::SidrReq& request) {
  mad::IpCmHeader header;
  if (mad::decode(request.private_data, header) != mad::IpCmError::none) return {};
  return header.destination;
}

}  // namespace

std::optional<Conversations::Said> Conversations::read(std::span<const std::byte> bytes) {
  mad::CmMessage message;
  if (mad::decode(bytes, message) != mad::MadError::none) return {};
  return std::visit(
      [](const auto& known) -> Said {
        using Known = std::remove_cvref_t<decltype(known)>;
        if constexpr (std::is_same_v<Known, mad::Req>) {
          return {Kind::connection, true, known.local_id.value, 0, known.primary.remote_gid};
        } else if constexpr (std::is_same_v<Known, mad::SidrReq>) {
          return {Kind::service, true, known.request_id.value, 0, named_destination(known)};
        } else if constexpr (std::is_same_v<Known, mad::SidrRep>) {
          return {Kind::service, false, 0, known.request_id.value, {}};
        } else {
          return {Kind::connection, false, known.local_id.value, known.remote_id.value, {}};
        }
      },
      message);
}

Conversations::Conversation* Conversations::find(Kind kind, const wire::Gid& own, std::uint32_t guest_number,
                                                 std::uint32_t peer_number) {
  const auto is_it = [&](const Conversation& one) {
    if (one.kind != kind || one.own != own) return false;
    // Two peers may give two conversations one number; the guest does not.
    if (guest_number != 0 && one.guest_number != 0) return one.guest_number == guest_number;
    return peer_number != 0 && one.peer_number == peer_number;
  };
  // The newest first: numbers may come again.
  const auto found = std::find_if(begun_.rbegin(), begun_.rend(), is_it);
  return found == begun_.rend() ? nullptr : &*found;
}

void Conversations::begin(const Conversation& conversation) {
  if (begun_.size() == kMost) begun_.pop_front();
  begun_.push_back(conversation);
}

void Conversations::arrived(const wire::Gid& own, const wire::Gid& peer, std::span<const std::byte> bytes) {
  const auto said = read(bytes);
  if (!said) return;
  Conversation* const known = find(said->kind, own, said->remote, said->local);
  if (said->begins && (known == nullptr || known->peer != peer)) {
    begin({said->kind, own, 0, said->local, peer});
  } else if (known != nullptr && known->peer_number == 0) {
    known->peer_number = said->local;
  }
}

std::optional<wire::Gid> Conversations::destination(const wire::Gid& own, std::span<const std::byte> bytes) {
  const auto said = read(bytes);
  if (!said) return {};
  Conversation* known = find(said->kind, own, said->local, said->remote);
  if (said->begins) {
    if (!said->peer || *said->peer == wire::Gid{}) return {};
    if (known == nullptr || known->peer != *said->peer) begin({said->kind, own, said->local, 0, *said->peer});
    return said->peer;
  }
  if (known == nullptr) return {};
  if (known->guest_number == 0) known->guest_number = said->local;
  return known->peer;
}

void Conversations::forget(const wire::Gid& own) {
  std::erase_if(begun_, [&](const Conversation& one) { return one.own == own; });
}

}  // namespace urnic::pvrdma_mux
