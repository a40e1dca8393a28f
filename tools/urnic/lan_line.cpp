#include "tools/urnic/lan_line.hpp"

#include <fmt/format.h>

namespace urnic::cli {
namespace {

std::string seconds(const nlohmann::json& milliseconds) {
  return fmt::format("{:.1f} s", milliseconds.get<double>() / 1000);
}

// What keeps frames from passing comes first.
std::string peer_words(const nlohmann::json& lan) {
  if (lan.at("peer") == "none") return "NO PEER";
  if (const auto nothing = lan.find("takes_nothing_ms"); nothing != lan.end())
    return "THE PEER TAKES NOTHING since " + seconds(*nothing);
  return "peer connected";
}

}  // namespace

std::string lan_line(const nlohmann::json& lan) {
  const std::string remote = lan.contains("remote") ? " to " + lan.at("remote").get<std::string>() : "";
  const auto heard = lan.find("heard_ms_ago");
  const std::string last = heard == lan.end() ? "no frame came" : "last frame " + seconds(*heard) + " ago";
  return fmt::format("lan  {} {}{}: {}, {}", lan.at("kind").get<std::string>(),
                     lan.at("name").get<std::string>(), remote, peer_words(lan), last);
}

}  // namespace urnic::cli
