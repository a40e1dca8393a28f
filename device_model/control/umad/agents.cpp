#include "device_model/control/umad/agents.hpp"

#include <cerrno>

namespace urnic::control {
namespace {

std::uint32_t oui_of(std::span<const std::byte> mad) {
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(mad[kOuiOffset + i]); };
  return byte(0) << 16 | byte(1) << 8 | byte(2);
}

}  // namespace

UmadAgents::Key UmadAgents::key(const UmadAgent& agent, std::uint32_t method) {
  const AgentRequest& request = agent.request;
  return {agent.device, request.management_class, request.class_version,
          has_oui(request.management_class) ? request.oui : 0, static_cast<std::uint8_t>(method)};
}

int UmadAgents::add(UmadAgent& agent) {
  const bool takes_requests = agent.request.management_class != 0;
  for (std::uint32_t method = 0; method < kMethods && takes_requests; ++method) {
    if (agent.request.takes(method) && takers_.contains(key(agent, method))) return EINVAL;
  }
  do {
    agent.number = ++last_number_;
  } while (agent.number == 0 || by_number_.contains(agent.number));
  by_number_.emplace(agent.number, &agent);
  for (std::uint32_t method = 0; method < kMethods && takes_requests; ++method) {
    if (agent.request.takes(method)) takers_.emplace(key(agent, method), &agent);
  }
  return 0;
}

void UmadAgents::remove(const UmadAgent& agent) {
  by_number_.erase(agent.number);
  for (std::uint32_t method = 0; method < kMethods; ++method) {
    const auto found = takers_.find(key(agent, method));
    if (found != takers_.end() && found->second == &agent) takers_.erase(found);
  }
}

UmadAgent* UmadAgents::find_taker(std::uint32_t device, const wire::mad::MadHeader& header,
                                  std::span<const std::byte> mad) const {
  const auto management_class = static_cast<std::uint8_t>(header.management_class);
  const std::uint32_t oui = has_oui(management_class) ? oui_of(mad) : 0;
  const auto found = takers_.find(
      {device, management_class, header.class_version, oui, static_cast<std::uint8_t>(header.method)});
  return found != takers_.end() ? found->second : nullptr;
}

UmadAgent* UmadAgents::find_requester(std::uint32_t device, wire::mad::TransactionId transaction) const {
  const auto found = by_number_.find(static_cast<std::uint32_t>(transaction.value >> 32));
  return found != by_number_.end() && found->second->device == device ? found->second : nullptr;
}

}  // namespace urnic::control
