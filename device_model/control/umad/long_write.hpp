// A message of several datagrams that a program writes, while its rest is read from the file in memory
// (packet_rest.hpp): in portions, as the control thread serves others, too.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "device_model/control/gsi/gsi.hpp"
#include "device_model/control/umad/pending_requests.hpp"

namespace urnic::control {

class LongWrite {
 public:
  // Begins with `beginning`; the other `rest_bytes` are in the file `rest`, which is the caller's.
  LongWrite(const UmadPacket& packet, const GsiAddress& to, std::span<const std::byte> beginning, int rest,
            std::size_t rest_bytes);

  enum class State : std::uint8_t {
    under_way,
    whole,
    cut_off,  // the file has become shorter
  };
  // Reads at most so many bytes.
  State read(std::size_t most);

  const UmadPacket& packet() const { return packet_; }
  const GsiAddress& to() const { return to_; }
  // Once whole.
  std::vector<std::byte> take_message() { return std::move(message_); }

 private:
  UmadPacket packet_;
  GsiAddress to_;
  int rest_;
  std::size_t begin_;  // of the rest
  std::size_t size_;
  std::vector<std::byte> message_;
};

}  // namespace urnic::control
