#include "device_model/engine/steering/rss_table.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace urnic::engine {
namespace {

// The longest input: two IPv6 addresses and two ports. The key is 32 bits longer.
constexpr std::size_t kMaxInput = 36;
static_assert(kMaxInput + 4 == kToeplitzKeyBytes);

class Input {
 public:
  template <std::size_t count>
  void add(const std::array<std::uint8_t, count>& field) {
    std::copy(field.begin(), field.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(length_));
    length_ += count;
  }
  std::span<const std::uint8_t> bytes() const { return std::span(bytes_).first(length_); }

 private:
  std::array<std::uint8_t, kMaxInput> bytes_{};
  std::size_t length_ = 0;
};

Input input_of(std::uint64_t fields, const FrameHeaders& frame) {
  const FrameFields& from = frame.fields;
  Input input;
  const auto add = [&](std::uint8_t layer, HashField field, const auto& bytes) {
    if ((frame.layers & layer) != 0 && (fields & field) != 0) input.add(bytes);
  };
  add(layer_ipv4, hash_source_ipv4, from.ipv4_source);
  add(layer_ipv4, hash_destination_ipv4, from.ipv4_destination);
  add(layer_ipv6, hash_source_ipv6, from.ipv6_source);
  add(layer_ipv6, hash_destination_ipv6, from.ipv6_destination);
  add(layer_tcp, hash_source_port_tcp, from.source_port);
  add(layer_tcp, hash_destination_port_tcp, from.destination_port);
  add(layer_udp, hash_source_port_udp, from.source_port);
  add(layer_udp, hash_destination_port_udp, from.destination_port);
  return input;
}

}  // namespace

// XORs, for each set bit of the input, the 32 bits of the key that begin at the bit's position.
std::uint32_t toeplitz_hash(const ToeplitzKey& key, std::uint64_t fields, const FrameHeaders& frame) {
  const Input input = input_of(fields, frame);
  std::uint64_t window = 0;  // its lowest 40 bits: the key from the current byte on
  for (std::size_t i = 0; i < 4; ++i) window = window << 8 | key[i];
  std::uint32_t hash = 0;
  std::size_t at = 4;
  for (const std::uint8_t byte : input.bytes()) {
    window = window << 8 | key[at++];
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((byte & (0x80u >> bit)) != 0) hash ^= static_cast<std::uint32_t>(window >> (8 - bit));
    }
  }
  return hash;
}

RssTable::RssTable(const ToeplitzKey& key, std::uint64_t fields, std::vector<QueuePairContext*> queues)
    : key_(key), fields_(fields), queues_(std::move(queues)) {}

}  // namespace urnic::engine
