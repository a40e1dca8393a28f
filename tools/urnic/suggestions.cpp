#include "tools/urnic/suggestions.hpp"

#include <charconv>
#include <exception>
#include <filesystem>
#include <string_view>

#include "json/json.hpp"
#include "tools/urnic/admin_client.hpp"
#include "tools/urnic/installation.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "trust/default_directory.hpp"

namespace urnic::cli {
namespace {

using Words = std::vector<std::string>;

nlohmann::json ask_links() {
  return connect_or_fail(named_run_directory("")).ask({{"cmd", "link"}}).at("links");
}

Words devices() {
  Words words;
  const nlohmann::json links = ask_links();
  for (const auto& [device, link] : links.items()) words.push_back(device);
  return words;
}

Words devices_and_all() {
  Words words = devices();
  words.emplace_back("all");
  return words;
}

Words link_settings() {
  Words words{"state=", "recovery="};
  const nlohmann::json links = ask_links();
  for (const auto& [key, value] : links.begin()->at("tx").at("settings").items()) words.push_back(key + "=");
  return words;
}

// Those that answer.
Words device_processes() {
  Words words;
  for (const auto& entry :
       std::filesystem::directory_iterator(trust::default_run_directory("any").parent_path()))
    if (AdminClient::connect(entry.path())) words.push_back(entry.path().filename());
  return words;
}

// Their folders are "01-first-program" and so on.
Words lessons() {
  Words words;
  for (const auto& entry : std::filesystem::directory_iterator(find_lesson_installation().lessons)) {
    const std::string name = entry.path().filename();
    int number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
      words.push_back(std::to_string(number));
  }
  return words;
}

constexpr struct {
  std::string_view what;
  Words (*find)();
} kSources[] = {{"device", devices_and_all},
                {"one-device", devices},
                {"device-process", device_processes},
                {"lesson", lessons},
                {"link-setting", link_settings}};

}  // namespace

std::vector<std::string> suggestions(const std::string& what) {
  try {
    for (const auto& source : kSources)
      if (source.what == what) return source.find();
  } catch (const std::exception&) {  // a person who presses Tab has not asked for a message
  }
  return {};
}

}  // namespace urnic::cli
