#include "web/server/actions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace urnic::web {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 12> kActions{"drop",
                                                    "duplicate",
                                                    "delay",
                                                    "reorder",
                                                    "corrupt_before_icrc",
                                                    "corrupt_after_icrc",
                                                    "mark_ecn",
                                                    "cnp",
                                                    "rnr_nak",
                                                    "nak",
                                                    "cut_link",
                                                    "stop_qp"};

// Which packets a button means, and the condition of a fault plan that selects them (docs/faults.md).
struct PacketKind {
  std::string_view name;
  std::string_view condition;
  std::string_view words;
};
constexpr std::array kKinds{
    PacketKind{"any", "", "packet"},
    PacketKind{"acknowledge", "opcode = [\"Acknowledge\", \"Atomic Acknowledge\"]\n", "acknowledgement"},
    PacketKind{"request",
               "opcode = [\"Send First\", \"Send Middle\", \"Send Last\", \"Send Last Immediate\", \"Send "
               "Last Invalidate\", "
               "\"Send Only\", \"Send Only Immediate\", \"Send Only Invalidate\", \"RDMA Write First\", "
               "\"RDMA Write Middle\", "
               "\"RDMA Write Last\", \"RDMA Write Last Immediate\", \"RDMA Write Only\", \"RDMA Write Only "
               "Immediate\", "
               "\"RDMA Read Request\", \"Compare Swap\", \"Fetch Add\", \"Atomic Write\"]\n",
               "request"},
    PacketKind{
        "read_response",
        "opcode = [\"RDMA Read Response First\", \"RDMA Read Response Middle\", \"RDMA Read Response Last\", "
        "\"RDMA Read Response Only\"]\n",
        "READ response"},
};

const std::string& text_of(const json& action, const char* key) {
  const auto found = action.find(key);
  if (found == action.end() || !found->is_string())
    throw WrongAction(fmt::format("\"{}\" must be a text", key));
  return found->get_ref<const std::string&>();
}

std::uint64_t number_of(const json& action, const char* key, std::uint64_t least, std::uint64_t most,
                        std::uint64_t otherwise) {
  const auto found = action.find(key);
  if (found == action.end()) return otherwise;
  const auto fits = [&] {
    return found->is_number_unsigned() && found->get<std::uint64_t>() >= least &&
           found->get<std::uint64_t>() <= most;
  };
  if (!fits())
    throw WrongAction(fmt::format("\"{}\" must be a whole number from {} to {}", key, least, most));
  return found->get<std::uint64_t>();
}

// A name that can stand in a fault plan between quotes.
const std::string& device_of(const json& action) {
  const std::string& device = text_of(action, "device");
  const auto is_plain = [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '_' || character == '-' || character == '.';
  };
  if (device.empty() || device.size() > 64 || !std::all_of(device.begin(), device.end(), is_plain))
    throw WrongAction("\"device\" must be a device's name");
  return device;
}

const PacketKind& kind_of(const json& action) {
  const std::string& wanted = text_of(action, "packets");
  const auto kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const PacketKind& each) { return each.name == wanted; });
  if (kind == kKinds.end())
    throw WrongAction("\"packets\" must be any, acknowledge, request or read_response");
  return *kind;
}

// `algorithm` names what is chosen: of a device, or of one queue pair.
json set_request(const json& action, const char* algorithm) {
  json request{{"cmd", "set"}, {"device", device_of(action)}, {algorithm, text_of(action, algorithm)}};
  if (action.contains("qp")) request["qp"] = number_of(action, "qp", 0, 0xFFFFFF, 0);
  return request;
}

}  // namespace

json link_request(const json& action) {
  json request{{"cmd", "link"}, {"device", device_of(action)}};
  const std::string& direction = text_of(action, "direction");
  if (direction != "tx" && direction != "rx" && direction != "both")
    throw WrongAction("\"direction\" must be tx, rx or both");
  request["direction"] = direction;
  const auto set = action.find("set");
  if (set == action.end() || !set->is_object() || set->empty())
    throw WrongAction("\"set\" must be an object such as {\"loss\":0.01}");
  for (const auto& [name, value] : set->items()) {
    if (!value.is_number() && name != "state")
      throw WrongAction(fmt::format("\"{}\" must be a number", name));
    request["set"][name] = value;
  }
  return request;
}

json recovery_request(const json& action) { return set_request(action, "recovery"); }

json congestion_request(const json& action) { return set_request(action, "congestion"); }

json fault_request(const json& action, unsigned number) {
  const std::string& device = device_of(action);
  const std::uint64_t qpn = number_of(action, "qpn", 0, 0xFFFFFF, 0);
  const std::string& what = text_of(action, "action");
  if (std::find(kActions.begin(), kActions.end(), what) == kActions.end())
    throw WrongAction(fmt::format("\"action\" must be one of {}", fmt::join(kActions, ", ")));
  const PacketKind& kind = kind_of(action);
  const std::string name =
      fmt::format("page {}: {} the next {} of {} QP {}", number, what, kind.words, device, qpn);
  std::string text = fmt::format("[[fault]]\nname = \"{}\"\ndevice = \"{}\"\nqp = {}\naction = \"{}\"\n{}",
                                 name.substr(0, 60), device, qpn, what, kind.condition);
  if (what == "delay")
    text += fmt::format("delay_us = {}\n", number_of(action, "delay_us", 1, 10'000'000, 1000));
  if (what == "cut_link")
    text += fmt::format("for_us = {}\n", number_of(action, "for_us", 1, 10'000'000, 100'000));
  return {{"cmd", "fault"},
          {"do", "add"},
          {"name", "page"},
          {"text", text},
          {"times", number_of(action, "times", 1, 1000, 1)}};
}

}  // namespace urnic::web
