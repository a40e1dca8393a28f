// The agents of all programs, and which of them gets an arriving MAD.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "device_model/control/umad/agent_rules.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::control {

class UmadFile;

struct UmadAgent {
  UmadFile* file = nullptr;
  std::uint32_t id = 0;      // by which the program names it
  std::uint32_t number = 0;  // no other agent's, ever: the high half of its requests' transaction ids
  std::uint32_t device = 0;  // index
  AgentRequest request;
};

class UmadAgents {
 public:
  // 0 and `agent.number`, or EINVAL if another agent of the device has one of its methods, or the kernel
  // would. The agent stays where it is until it is removed.
  int add(UmadAgent& agent);
  void remove(const UmadAgent& agent);

  // Who gets the request; null: nobody.
  UmadAgent* find_taker(std::uint32_t device, const wire::mad::MadHeader& header,
                        std::span<const std::byte> mad) const;
  // Whose request a response with this transaction id answers; null: nobody's.
  UmadAgent* find_requester(std::uint32_t device, wire::mad::TransactionId transaction) const;

 private:
  // Device, class, class version, OUI, method.
  using Key = std::tuple<std::uint32_t, std::uint8_t, std::uint8_t, std::uint32_t, std::uint8_t>;
  static Key key(const UmadAgent& agent, std::uint32_t method);

  std::map<Key, UmadAgent*> takers_;
  std::unordered_map<std::uint32_t, UmadAgent*> by_number_;
  std::uint32_t last_number_ = 0;
};

}  // namespace urnic::control
