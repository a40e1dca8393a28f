// The reference behaviour of a receiver that keeps what is out of order and reports every arrival behind a
// hole: a trace of an IRN simulation (Mittal et al., SIGCOMM 2018), one line per data packet. The trace is
// not part of this project: the test looks for it in $URNIC_GOLDEN_DIR, else where the build was told
// (-DURNIC_GOLDEN_DIR), and says so if it is not there.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "tests/unit/responder/keeping_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

namespace {

std::filesystem::path trace_path() {
  const char* const told = std::getenv("URNIC_GOLDEN_DIR");
  return std::filesystem::path(told != nullptr ? told : URNIC_GOLDEN_DIR) / "irn-receiver-trace.txt.xz";
}

boost::test_tools::assertion_result trace_is_there(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result there(std::filesystem::exists(trace_path()));
  there.message() << trace_path() << " is not there; set URNIC_GOLDEN_DIR to the folder that has it";
  return there;
}

struct CloseStream {
  void operator()(std::FILE* stream) const { pclose(stream); }
};

// One line: the packet that arrives, and what the receiver does.
struct Event {
  unsigned queue_pair = 0;
  unsigned opcode = 0;
  std::uint32_t psn = 0;
  unsigned nack = 0;
  std::uint32_t expected = 0;
  std::uint32_t sacked = 0;
  std::uint32_t msn = 0;
  std::uint32_t completions = 0;
};

class Trace {
 public:
  Trace() : stream_(popen(("xz -dc '" + trace_path().string() + "'").c_str(), "r")) {}

  bool next(Event& event) {
    return stream_ &&
           std::fscanf(stream_.get(), "%u %u %" SCNu32 " %u %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32,
                       &event.queue_pair, &event.opcode, &event.psn, &event.nack, &event.expected,
                       &event.sacked, &event.msn, &event.completions) == 8;
  }

 private:
  std::unique_ptr<std::FILE, CloseStream> stream_;
};

// A responder in the middle of a long SEND, of which PSN 0 is the next packet.
struct Receiver : ReportingBench {
  explicit Receiver(ReorderPool& slots) : ReportingBench(0, &slots) {
    keys.remove(kKey);
    keys.add(kKey, kPd, large);
    shared.parameters.receive_psn = wire::Psn(wire::Psn::kMask);
    responder.start();
    receives.post({Sge{kBase, 1u << 30, Lkey{kKey}}});
    ask(rc_packet(Operation::send_first, wire::Psn::kMask, pattern(kMtu)));
    sent().clear();
  }

  // Asks for an acknowledgement with every packet, so that every answer can be seen.
  void arrive(std::uint32_t psn) {
    ask(ack_requested(rc_packet(Operation::send_middle, psn, pattern(kMtu))));
  }

  BenchMemory large{kBase, 8u << 20};
};

// True if the one packet that answers `event` is the reference's.
bool answers(const SentPacket& packet, const Event& event) {
  if (packet.headers.aeth.msn != wire::Msn{event.msn}) return false;
  const wire::Psn expected(event.expected);
  if (event.nack == 0) return is_ack(packet, expected - 1);
  return is_nak(packet, expected, wire::NakCode::psn_sequence_error) &&
         packet.headers.bth.opcode == wire::kSelectiveAcknowledge &&
         packet.headers.selective_ack_eth.latest == wire::Psn(event.sacked);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_trace)

BOOST_AUTO_TEST_CASE(every_event_is_answered_as_the_reference_does,
                     *boost::unit_test::precondition(trace_is_there)) {
  ReorderPool pool(4096);
  std::map<unsigned, std::unique_ptr<Receiver>> receivers;
  Trace trace;
  std::uint32_t events = 0;
  std::uint32_t wrong = 0;
  for (Event event; trace.next(event);) {
    ++events;
    auto& receiver = receivers[event.queue_pair];
    if (!receiver) receiver = std::make_unique<Receiver>(pool);
    BOOST_REQUIRE_EQUAL(event.opcode, static_cast<unsigned>(Operation::send_middle));
    receiver->arrive(event.psn);
    const bool right = receiver->sent().size() == 1 && answers(receiver->sent()[0], event) &&
                       receiver->host.completions.size() == event.completions;
    if (!right && ++wrong <= 10) {
      BOOST_ERROR("event " << events << ": queue pair " << event.queue_pair << ", PSN " << event.psn);
    }
    receiver->sent().clear();
  }
  BOOST_CHECK_EQUAL(wrong, 0u);
  BOOST_CHECK_EQUAL(events, 70176u);
  BOOST_CHECK_EQUAL(receivers.size(), 25u);
}

BOOST_AUTO_TEST_SUITE_END()
