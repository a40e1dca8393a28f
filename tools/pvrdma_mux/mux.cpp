#include "tools/pvrdma_mux/mux.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "trust/peer.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::pvrdma_mux {

Mux::~Mux() {
  try {
    for (const Guest& guest : guests_)
      for (const wire::Gid& gid : guest.own) gids_.remove(gid);
  } catch (const cli::Failure&) {  // the device process has gone, and its GIDs with it
  }
}

void Mux::serve_until(int stop) {
  for (;;) {
    std::vector<pollfd> looks{
        {stop, POLLIN, 0}, {listening_.get(), POLLIN, 0}, {port_.descriptor(), POLLIN, 0}};
    for (const Guest& guest : guests_) looks.push_back({guest.descriptor(), POLLIN, 0});
    if (poll(looks.data(), looks.size(), -1) < 0) continue;
    if (looks[0].revents != 0) return;
    // Requests first: what arrives is not to be taken for their answers.
    for (Guest& guest : guests_) read(guest);
    if (looks[1].revents != 0) accept_one();
    if (looks[2].revents != 0) take_arrivals();
    remove_gone();
  }
}

void Mux::accept_one() {
  memory::Descriptor socket(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || guests_.size() == kMostGuests || !trust::peer_is_own_user(socket.get())) return;
  guests_.emplace_back(std::move(socket));
}

void Mux::read(Guest& guest) {
  while (auto request = guest.next()) {
    if (request->type != MessageType::request) continue;
    request->status = carry_out(guest, *request);
    request->type = MessageType::response;
    guest.send(*request);
  }
}

Status Mux::carry_out(Guest& guest, const MuxMessage& request) {
  switch (request.operation) {
    case Operation::register_gid:
      return register_gid(guest, request.own);
    case Operation::unregister_gid:
      return unregister_gid(guest, request.own);
    case Operation::mad:
      return send(guest, request);
  }
  return Status::invalid;
}

Status Mux::register_gid(Guest& guest, const wire::Gid& gid) {
  if (const Guest* const has = owner(gid); has != nullptr) return has == &guest ? Status::ok : Status::denied;
  try {
    gids_.add(gid);
  } catch (const cli::RequestRefused& refused) {
    fmt::print(stderr, "urnic-pvrdma-mux: the guest's address {}: {}\n", to_text(gid), refused.what());
    return Status::invalid;
  }
  guest.own.insert(gid);
  fmt::print("{} is a guest's\n", to_text(gid));
  std::fflush(stdout);
  return Status::ok;
}

Status Mux::unregister_gid(Guest& guest, const wire::Gid& gid) {
  if (guest.own.erase(gid) == 0) return Status::not_found;
  conversations_.forget(gid);
  gids_.remove(gid);
  fmt::print("{} is no guest's any more\n", to_text(gid));
  std::fflush(stdout);
  return Status::ok;
}

Status Mux::send(const Guest& guest, const MuxMessage& request) {
  if (!guest.own.contains(request.own)) return Status::denied;
  const auto index = gids_.index(request.own);
  const auto peer = conversations_.destination(request.own, request.user_mad.mad);
  if (!index || !peer) return Status::not_found;
  UserMad message = request.user_mad;
  message.length = sizeof message.mad;
  message.peer_qpn = htonl(1);
  message.qkey = htonl(wire::mad::kManagementQkey.value);
  message.grh_present = 1;
  message.gid_index = *index;
  message.peer = *peer;
  message.pkey_index = 0;
  return port_.send(message) == 0 ? Status::ok : Status::invalid;
}

void Mux::take_arrivals() {
  while (const auto arrived = port_.receive()) hand_over(*arrived);
}

void Mux::hand_over(const UserMad& arrived) {
  const auto own = gids_.at(arrived.gid_index);
  Guest* const guest = own ? owner(*own) : nullptr;
  if (guest == nullptr) return;
  conversations_.arrived(*own, arrived.peer, arrived.mad);
  MuxMessage message{};
  message.operation = Operation::mad;
  message.own = *own;
  message.length = sizeof arrived.mad;
  message.user_mad = arrived;
  if (guest->is_waiting()) read(*guest);
  guest->send(message);
}

Guest* Mux::owner(const wire::Gid& gid) {
  const auto found = std::find_if(guests_.begin(), guests_.end(),
                                  [&](const Guest& guest) { return guest.own.contains(gid); });
  return found == guests_.end() ? nullptr : &*found;
}

void Mux::remove_gone() {
  for (Guest& guest : guests_) {
    if (!guest.has_gone()) continue;
    while (!guest.own.empty()) {
      const wire::Gid gid = *guest.own.begin();  // which the set loses meanwhile
      unregister_gid(guest, gid);
    }
  }
  guests_.remove_if([](const Guest& guest) { return guest.has_gone(); });
}

}  // namespace urnic::pvrdma_mux
