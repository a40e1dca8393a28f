#include "device_model/link/switch.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <stdexcept>

namespace urnic::link {

namespace {

constexpr std::size_t kAddressBytes = 6;
constexpr std::uint64_t kUsed = std::uint64_t{1} << 48;

template <class Byte>
std::uint64_t pack(std::span<const Byte, kAddressBytes> address) {
  std::uint64_t packed = kUsed;
  for (std::size_t i = 0; i < kAddressBytes; ++i)
    packed |= static_cast<std::uint64_t>(address[i]) << (8 * (kAddressBytes - 1 - i));
  return packed;
}

}  // namespace

class Switch::SwitchPort final : public Port {
 public:
  SwitchPort(Switch& fabric, FrameReceiver& to, std::string_view name)
      : receiver(to), device(name), fabric_(fabric) {}
  void transmit(const wire::Frame& frame) override { fabric_.forward(*this, frame); }
  bool up() const override { return true; }

  FrameReceiver& receiver;
  const std::string device;

 private:
  Switch& fabric_;
};

Switch::Switch() : routes_(8) {}
Switch::~Switch() = default;

// Multiplicative hashing: addresses that count up spread over the table.
std::size_t Switch::first_place(std::uint64_t address, std::size_t places) {
  const std::uint64_t mixed = address * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(mixed >> 32) & (places - 1);
}

Switch::SwitchPort* Switch::port_of(std::uint64_t address) const {
  const std::size_t mask = routes_.size() - 1;
  for (std::size_t i = first_place(address, routes_.size());; i = (i + 1) & mask) {
    if (routes_[i].address == address) return routes_[i].port;
    if (routes_[i].address == 0) return nullptr;
  }
}

void Switch::insert(std::vector<Route>& routes, const Route& route) {
  std::size_t i = first_place(route.address, routes.size());
  while (routes[i].address != 0) i = (i + 1) & (routes.size() - 1);
  routes[i] = route;
}

void Switch::grow() {
  std::vector<Route> larger(routes_.size() * 2);
  for (const Route& route : routes_)
    if (route.address != 0) insert(larger, route);
  routes_.swap(larger);
}

Port& Switch::attach(const wire::MacAddress& address, FrameReceiver& receiver, std::string_view device) {
  const std::uint64_t packed = pack(std::span<const std::uint8_t, kAddressBytes>(address.bytes));
  if (port_of(packed) != nullptr)
    throw std::invalid_argument("two devices on one switch have the same MAC address");
  if ((ports_.size() + 1) * 2 > routes_.size()) grow();
  ports_.push_back(std::make_unique<SwitchPort>(*this, receiver, device));
  insert(routes_, {packed, ports_.back().get()});
  return *ports_.back();
}

void Switch::add_observer(FrameObserver& observer) { observers_.push_back(&observer); }

void Switch::remove_observer(FrameObserver& observer) { std::erase(observers_, &observer); }

void Switch::observe(const Observation& observation) const {
  for (FrameObserver* observer : observers_) observer->observe(observation);
}

void Switch::forward(const SwitchPort& from, const wire::Frame& frame) {
  if (!observers_.empty()) observe({frame, CapturePoint::before_link, from.device, Direction::transmit, {}});
  SwitchPort* to = nullptr;
  if (frame.headers.size() >= kAddressBytes) to = port_of(pack(frame.headers.first<kAddressBytes>()));
  if (to == nullptr) {
    ++unknown_destination_;
    if (!observers_.empty())
      observe({frame, CapturePoint::dropped, from.device, Direction::transmit,
               "switch: no port has the destination address"});
    return;
  }
  if (!observers_.empty()) observe({frame, CapturePoint::after_link, to->device, Direction::receive, {}});
  // The bytes are in the sending engine's staging, which it keeps until its batch ends.
  to->receiver.arrive(frame, true);
}

}  // namespace urnic::link
