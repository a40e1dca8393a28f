// Any bytes as a datagram on a socket of NETLINK_RDMA: each message is answered or refused, what is answered
// is netlink messages with right lengths, and a dump ends.
//
// The device has a program with objects of each kind, so that dumps have something to tell.
#include <spdlog/spdlog.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/control/netlink/answers.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/control/direct_program.hpp"
#include "tests/unit/control/netlink_conversation.hpp"

namespace {

namespace control = urnic::control;
namespace netlink = urnic::control::netlink;
using urnic::fuzz::require;

constexpr int kQueuePairs = 100;  // more than a datagram holds

struct Populated {
  Populated() {
    for (int i = 0; i < kQueuePairs; ++i) program.create_qp(program.pd, program.cq);
    nodes.add({"uverbs", "uverbs0", "urnic0", 231 << 8 | 192, 1});
    nodes.add({"rdma_cm", "rdma_cm", "", 10 << 8 | 60, 4});
  }
  control::test::Machine machine;
  control::test::OpenProgram program{machine};
  netlink::CharacterNodes nodes;
  netlink::Subjects subjects{machine.fabric, machine.contexts, nodes};
};

// Throws if a length is wrong.
void read(const netlink::DatagramWriter& datagram) {
  for (const auto& message : control::test::read_messages(datagram.bytes())) message.attributes();
}

void check_dump(netlink::Dump& dump) {
  netlink::DatagramWriter datagram;
  int portions = 0;
  while (dump.write(datagram)) {
    require(datagram.fits(), "a message of a dump is cut");
    require(++portions < 10 * kQueuePairs, "a dump does not end");
    read(datagram);
    datagram.cut_back(0);
  }
  require(datagram.fits(), "the last message of a dump is cut");
  read(datagram);
  const auto result = dump.result();
  require(!result || *result == 0 || datagram.empty(), "a search that has failed with an answer");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spdlog::set_level(spdlog::level::off);
  static Populated populated;
  auto rest = std::as_bytes(std::span(data, size));
  while (const auto message = netlink::take_message(rest)) {
    netlink::DatagramWriter datagram;
    const netlink::Answered answered = netlink::answer(populated.subjects, *message, datagram);
    require(answered.error >= 0 && answered.error < 4096, "no errno");
    require(datagram.fits(), "an answer is cut");
    require(answered.error == 0 || (datagram.empty() && answered.dump == nullptr), "an error with an answer");
    read(datagram);
    if (answered.dump != nullptr) check_dump(*answered.dump);
    require(datagram.put_error(message->header, -answered.error) || !datagram.empty(),
            "no room for a result");
  }
  return 0;
}
