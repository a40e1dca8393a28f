#include "tools/urnic/running_capture.hpp"

#include <fmt/format.h>

#include "json/json.hpp"
#include "tools/urnic/failure.hpp"

namespace urnic::cli {
namespace {

std::vector<capture::Interface> interfaces_in(const nlohmann::json& answer) {
  std::vector<capture::Interface> interfaces;
  for (const auto& interface : answer.at("interfaces")) {
    const auto device = interface.at("device").get<std::string>();
    const bool is_infiniband = interface.at("link_layer").get<std::string>() == "infiniband";
    interfaces.push_back({fmt::format("{}/{}", device, interface.at("point").get<std::string>()),
                          fmt::format("{}: {}", device, interface.at("description").get<std::string>()),
                          is_infiniband ? capture::LinkType::erf : capture::LinkType::ethernet});
  }
  return interfaces;
}

}  // namespace

RunningCapture::RunningCapture(AdminClient client, const std::vector<std::string>& points,
                               const std::string& device, int snaplen)
    : client_(std::move(client)) {
  nlohmann::json asked{{"cmd", "capture"}, {"points", points}};
  if (!device.empty()) asked["device"] = device;
  if (snaplen != 0) asked["snaplen"] = snaplen;
  start(asked);
}

RunningCapture::RunningCapture(AdminClient client, const std::string& device, std::uint32_t qpn)
    : client_(std::move(client)) {
  start({{"cmd", "capture"},
         {"points", {"before", "after", "dropped"}},
         {"device", device},
         {"qpn", qpn},
         {"sample", true}});
}

void RunningCapture::start(const nlohmann::json& request) {
  interfaces_ = interfaces_in(client_.ask(request));
  std::vector<memory::Descriptor> descriptors = client_.take_descriptors();
  if (descriptors.size() != 2) throw Failure("the device process did not hand over its capture ring");
  reader_ = std::make_unique<capture::CaptureReader>(std::move(descriptors[0]), std::move(descriptors[1]),
                                                     interfaces_.size());
}

}  // namespace urnic::cli
