#include "device_model/control/mlx5/method_attributes.hpp"

#include <algorithm>

namespace urnic::control::mlx5 {
namespace {

constexpr std::size_t padded(std::size_t length) { return (length + 7) / 8 * 8; }

}  // namespace

MethodAttributes::MethodAttributes(Command& command) : command_(command) {
  wrong_ = !read(command.core_input);
}

bool MethodAttributes::read(std::span<const std::byte> records) {
  while (!records.empty()) {
    Attribute next{};
    if (count_ == kMost || records.size() < sizeof next.head) return false;
    std::memcpy(&next.head, records.data(), sizeof next.head);
    records = records.subspan(sizeof next.head);
    if (records.size() < padded(next.head.length) || find(next.head.id) != nullptr) return false;
    next.data = records.first(next.head.length);
    records = records.subspan(padded(next.head.length));
    attributes_[count_++] = next;
  }
  return true;
}

const MethodAttributes::Attribute* MethodAttributes::find(std::uint16_t id) const {
  const auto end = attributes_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto found =
      std::find_if(attributes_.begin(), end, [id](const Attribute& each) { return each.head.id == id; });
  return found == end ? nullptr : &*found;
}

std::optional<std::size_t> MethodAttributes::room(std::uint16_t id) const {
  const Attribute* const found = find(id);
  if (found == nullptr) return std::nullopt;
  return found->head.room;
}

void MethodAttributes::answer(std::uint16_t id, std::span<const std::byte> value) {
  const auto has_room = room(id);
  if (!has_room) return;
  const auto part = value.first(std::min(value.size(), *has_room));
  const abi::UverbsAttribute head{id, static_cast<std::uint16_t>(part.size()), 0, 0};
  command_.core.append(std::as_bytes(std::span(&head, 1)), sizeof head);
  command_.core.append(part, padded(part.size()));
}

}  // namespace urnic::control::mlx5
