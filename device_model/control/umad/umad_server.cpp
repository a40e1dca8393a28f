#include "device_model/control/umad/umad_server.hpp"

#include <sys/socket.h>

namespace urnic::control {

UmadServer::UmadServer(EventLoop& loop, Fabric& fabric, Gsi& gsi, DescriptorDisposal& disposal)
    : ports_(loop, fabric, gsi,
             [this](ServedDevice& device, const GsiAddress& from, MadBytes mad) {
               return take(device, from, mad);
             }),
      surroundings_{loop, fabric, gsi, disposal, agents_, ports_} {
  gsi.on_other(
      [this](ServedDevice& device, const GsiAddress& from, MadBytes mad) { return take(device, from, mad); });
}

UmadServer::~UmadServer() { surroundings_.gsi.on_other({}); }

void UmadServer::serve(ServedDevice& device, const std::filesystem::path& node) {
  nodes_.push_back(std::make_unique<ListeningSocket>(
      surroundings_.loop, surroundings_.disposal, node, SOCK_SEQPACKET,
      [this, &device](memory::Descriptor socket) { open(device, std::move(socket)); }));
}

void UmadServer::serve_manager(ServedDevice& device, const std::filesystem::path& node) {
  ManagerSeat& seat = seats_.emplace_back(ports_, device);
  nodes_.push_back(std::make_unique<ListeningSocket>(
      surroundings_.loop, surroundings_.disposal, node, SOCK_SEQPACKET,
      [this, &seat](memory::Descriptor socket) {
        const std::uint64_t number = next_file_++;
        managers_.emplace(number, std::make_unique<ManagerFile>(
                                      surroundings_.loop, surroundings_.fabric, surroundings_.disposal, seat,
                                      std::move(socket), [this, number] { managers_.erase(number); }));
      }));
}

void UmadServer::open(ServedDevice& device, memory::Descriptor socket) {
  const std::uint64_t number = next_file_++;
  files_.emplace(number, std::make_unique<UmadFile>(surroundings_, device, std::move(socket),
                                                    [this, number] { files_.erase(number); }));
}

bool UmadServer::take(const ServedDevice& device, const GsiAddress& from, MadBytes mad) {
  wire::mad::MadHeader header;
  if (wire::mad::decode(mad, header) != wire::mad::MadError::none) return false;
  if (is_response(header.method) || header.method == wire::mad::Method::trap_repress) {
    const UmadAgent* const agent = agents_.find_requester(device.index, header.transaction);
    return agent != nullptr && agent->file->take_response(*agent, from, mad, header);
  }
  const UmadAgent* const agent = agents_.find_taker(device.index, header, mad);
  if (agent != nullptr) agent->file->take_request(*agent, from, mad, header);
  return agent != nullptr;
}

}  // namespace urnic::control
