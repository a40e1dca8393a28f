#include "tools/urnic/options_comparison.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "json/json.hpp"
#include "tools/urnic/face_option.hpp"
#include "tools/urnic/failure.hpp"

namespace urnic::cli {
namespace {

// What devices a device process has.
struct Devices {
  std::vector<std::string> udp;
  std::string face;
  std::string file;
  bool infiniband = false;
  bool is_ibsim_net = false;  // the file is that of --ibsim-net

  std::string file_option() const { return (is_ibsim_net ? "--ibsim-net " : "--config ") + file; }
};

std::string describe(const Devices& devices) {
  if (!devices.file.empty()) return devices.file_option();
  if (devices.infiniband) return "--infiniband";
  std::string words;
  for (const std::string& address : devices.udp) words += " --udp " + address;
  if (devices.face != kFaces[0]) words += " --face " + devices.face;
  return words.empty() ? "the default devices" : words.substr(1);
}

std::string read_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw Failure(fmt::format("{}: cannot be read", file));
  return text.str();
}

// The first line that differs, as "line 3 says 'loss = 0.1' there and 'loss = 0.2' here".
std::string differing_line(const std::string& there, const std::string& here) {
  std::istringstream old_text(there), new_text(here);
  for (int number = 1;; ++number) {
    std::string old_line, new_line;
    const bool old_ends = !std::getline(old_text, old_line), new_ends = !std::getline(new_text, new_line);
    if (old_ends && new_ends) return "the ends of their lines differ";
    if (old_line != new_line || old_ends != new_ends)
      return fmt::format("line {} says '{}' there and '{}' here", number, old_line, new_line);
  }
}

}  // namespace

std::string what_differs(const StartOptions& options, const nlohmann::json& source) {
  if (options.network && !source.at("network").get<bool>())
    return "without --network, which this command has";
  if (options.outside && !source.at("outside").get<bool>())
    return "without --outside, which this command has";
  if (options.interfaces && !source.at("interfaces").get<bool>())
    return "without --interfaces, which this command has";
  const bool is_ibsim_net = !options.ibsim_net.empty();
  const std::string wanted_file = (is_ibsim_net ? options.ibsim_net : options.configuration).string();
  if (wanted_file.empty() && options.udp.empty() && options.face.empty() && !options.infiniband) return {};
  const Devices wanted{options.udp, options.face.empty() ? kFaces[0] : options.face, wanted_file,
                       options.infiniband, is_ibsim_net};
  const Devices running{source.at("udp").get<std::vector<std::string>>(),
                        source.at("face").get<std::string>(), source.at("config").get<std::string>(),
                        source.at("infiniband").get<bool>(), source.at("ibsim_net").get<bool>()};
  if (wanted_file.empty() || running.file.empty() || running.is_ibsim_net != is_ibsim_net) {
    if (wanted_file.empty() && running.file.empty() && running.udp == wanted.udp &&
        running.face == wanted.face && running.infiniband == wanted.infiniband)
      return {};
    return fmt::format("with {}, and this command has {}", describe(running), describe(wanted));
  }
  const auto there = source.at("text").get<std::string>();
  const std::string here = read_text(wanted_file);
  if (there == here) return {};
  return fmt::format("with {}, and this command has {}: {}", running.file_option(), wanted.file_option(),
                     differing_line(there, here));
}

}  // namespace urnic::cli
