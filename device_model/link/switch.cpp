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
  explicit SwitchPort(Switch& fabric) : fabric_(fabric) {}
  void transmit(const wire::Frame& frame) override { fabric_.forward(frame); }
  bool up() const override { return true; }

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

FrameReceiver* Switch::receiver_of(std::uint64_t address) const {
  const std::size_t mask = routes_.size() - 1;
  for (std::size_t i = first_place(address, routes_.size());; i = (i + 1) & mask) {
    if (routes_[i].address == address) return routes_[i].receiver;
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

Port& Switch::attach(const wire::MacAddress& address, FrameReceiver& receiver) {
  const std::uint64_t packed = pack(std::span<const std::uint8_t, kAddressBytes>(address.bytes));
  if (receiver_of(packed) != nullptr)
    throw std::invalid_argument("two devices on one switch have the same MAC address");
  if ((ports_.size() + 1) * 2 > routes_.size()) grow();
  insert(routes_, {packed, &receiver});
  ports_.push_back(std::make_unique<SwitchPort>(*this));
  return *ports_.back();
}

void Switch::add_observer(FrameObserver& observer) { observers_.push_back(&observer); }

void Switch::remove_observer(FrameObserver& observer) { std::erase(observers_, &observer); }

void Switch::forward(const wire::Frame& frame) {
  for (FrameObserver* observer : observers_) observer->observe(frame);
  FrameReceiver* receiver = nullptr;
  if (frame.headers.size() >= kAddressBytes)
    receiver = receiver_of(pack(frame.headers.first<kAddressBytes>()));
  if (receiver == nullptr) {
    ++unknown_destination_;
    return;
  }
  // The bytes are in the sending engine's staging, which it keeps until its batch ends.
  receiver->arrive(frame, true);
}

}  // namespace urnic::link
