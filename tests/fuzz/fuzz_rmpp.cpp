// Any sequence of datagrams with RMPP headers, of messages that a program writes, and of time that passes:
// what is handed over has a possible length, what leaves is RMPP, and in the end nothing is left.
//
// An input is a sequence of records. First byte: 0, time passes (a byte, in 0.1 s); 1, the program writes a
// message (method, transaction, timeout and length, a byte each); else a datagram arrives (method,
// transaction, sender, a byte each, and the 12 bytes of its RMPP header).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_model/control/umad/rmpp_exchanges.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace urnic;
using control::RmppExchanges;
using fuzz::require;
using wire::mad::Mad;
using wire::mad::MadHeader;
using wire::mad::ManagementClass;
using wire::mad::Method;

constexpr std::uint32_t kAgent = 0;
constexpr std::uint32_t kRetries = 2;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of each direction
constexpr std::chrono::seconds kLongest{60};              // a message, its memory, and all repetitions

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool is_over() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

struct Machine {
  RmppExchanges::Clock::time_point now = RmppExchanges::Clock::time_point{} + std::chrono::hours(1);
  RmppExchanges exchanges{
      {.transmit =
           [](const control::GsiAddress&, const Mad& mad) {
             wire::mad::RmppHeader header;
             decode(mad, header);
             require(header.active && header.version == wire::mad::kRmppVersion, "what leaves is no RMPP");
           },
       .arrived =
           [](std::uint32_t, const control::GsiAddress&, std::vector<std::byte> message) {
             require(message.size() >= wire::mad::kMadHeaderBytes + wire::mad::kRmppHeaderBytes,
                     "a message is too short");
             require(message.size() <= RmppExchanges::kLongestMessage, "a message is too long");
           },
       .ended = [](const control::RmppMessage&) {},
       .may_send = [](std::size_t bytes) { return bytes <= kMostBytes; },
       .may_receive = [](std::size_t bytes) { return bytes <= kMostBytes; }}};

  void settle() {
    for (int turn = 0; exchanges.next_due() && *exchanges.next_due() <= now; ++turn) {
      require(turn < 10'000, "there is always more to send");
      exchanges.expire(now);
    }
  }
  void pass(std::chrono::milliseconds time) {
    now += time;
    settle();
  }
};

Mad datagram(Input& input) {
  static constexpr std::uint8_t kMethods[] = {0x12, 0x92, 0x14, 0x94};
  static constexpr std::uint8_t kClasses[] = {0x03, 0x06, 0x30};
  const std::uint8_t kind = input.byte();
  Mad mad{};
  encode(MadHeader{.management_class = ManagementClass{kClasses[kind / 4 % 3]},
                   .class_version = 2,
                   .method = Method{kMethods[kind % 4]},
                   .transaction = {input.byte()}},
         mad);
  return mad;
}

void write(Machine& machine, Input& input) {
  control::UmadPacket packet;
  packet.mad = datagram(input);
  packet.header.timeout_ms = input.byte() * 20U;
  packet.header.retries = kRetries;
  std::vector<std::byte> message(packet.mad.begin(), packet.mad.begin() + 36);
  message.resize(36 + input.byte() * std::size_t{100});
  if (machine.exchanges.check(packet, message.size(), {}) == 0)
    machine.exchanges.send(packet, std::move(message), {}, machine.now);
}

void arrive(Machine& machine, Input& input) {
  Mad mad = datagram(input);
  control::GsiAddress from;
  from.lid = input.byte() % 4;
  for (std::size_t i = 0; i < wire::mad::kRmppHeaderBytes; ++i)
    mad[wire::mad::kMadHeaderBytes + i] = static_cast<std::byte>(input.byte());
  MadHeader header;
  decode(mad, header);
  machine.exchanges.take(kAgent, from, header, mad, machine.now);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Machine machine;
  Input input(std::span(data, size));
  while (!input.is_over()) {
    const std::uint8_t what = input.byte();
    if (what == 0) {
      machine.pass(std::chrono::milliseconds(100) * input.byte());
    } else if (what == 1) {
      write(machine, input);
    } else {
      arrive(machine, input);
    }
    machine.settle();
  }
  for (int i = 0; i < 3; ++i) machine.pass(kLongest);
  require(!machine.exchanges.next_due(), "a message never ends");
  return 0;
}
