#include "tests/unit/requester/requester_bench.hpp"

#include <deque>

namespace urnic::transport::requester_test {
namespace {

constexpr PdId kPd{3};

QpParameters parameters_of(const Setup& setup) {
  QpParameters parameters;
  parameters.pkey = wire::Pkey{0xFFFF};
  parameters.path_mtu = setup.path_mtu;
  parameters.destination = wire::Qpn{0x22};
  parameters.send_psn = wire::Psn(setup.first_psn);
  parameters.max_reads = setup.max_reads;
  parameters.timeout = setup.timeout;
  parameters.retry_count = setup.retry_count;
  parameters.rnr_retry = setup.rnr_retry;
  return parameters;
}

QpConfig config_of(const Setup& setup, RequesterBench& bench) {
  QpConfig config;
  config.qpn = wire::Qpn{0x11};
  config.pd = kPd;
  config.send_slots = setup.send_slots;
  config.max_message_size = setup.max_message_size;
  config.window_packets = setup.window_packets;
  config.congestion_window_packets = setup.congestion_window_packets;
  config.recovery = setup.recovery;
  config.host = &bench.host;
  config.keys = &bench.keys;
  config.send_queue = &bench.queue;
  config.counters = &bench.counters;
  return config;
}

}  // namespace

RequesterBench::RequesterBench(const Setup& setup)
    : shared{.config = config_of(setup, *this), .parameters = {}},
      requester(shared),
      first_psn_(setup.first_psn) {
  keys.add(kKey, kPd, memory);
  memory.fill_pattern(kBase, memory.size());
  shared.parameters = parameters_of(setup);
  shared.state = QpState::rts;
  requester.start(now);
  if (setup.credits) return;
  // An acknowledgement of the packet before the first: its only news is "no credit check".
  requester.receive(ack(setup.first_psn - 1).inbound(), now);
  counters = {};
}

SendRequest RequesterBench::request(WorkOpcode opcode, std::uint32_t length, std::uint64_t offset) {
  static std::deque<Sge> lists;  // requests refer to their list, and outlive this call
  const Sge& sge = lists.emplace_back(Sge{kBase + offset, length, Lkey{kKey}});
  SendRequest made;
  made.opcode = opcode;
  made.signaled = true;
  made.remote_address = kRemote;
  made.rkey = wire::Rkey{kRkey};
  made.immediate = wire::Immediate{{0xDE, 0xAD, 0xBE, 0xEF}};
  made.invalidate = wire::Rkey{0x1234};
  made.compare_add = 0x1111;
  made.swap = 0x2222;
  made.sges = {&sge, 1};
  return made;
}

std::uint32_t RequesterBench::post(SendRequest request) {
  const std::uint32_t index = queue.post(request);
  run();
  return index;
}

SentPacket RequesterBench::expect(Operation operation, std::uint32_t packet) {
  BOOST_REQUIRE_MESSAGE(!host.sent.empty(), "expected "
                                                << wire::name(wire::Opcode(wire::Service::rc, operation))
                                                << " " << packet << ", but nothing was sent");
  SentPacket sent = host.sent.front();
  host.sent.pop_front();
  const wire::Bth& bth = sent.headers.bth;
  const bool as_expected =
      bth.opcode == wire::Opcode(wire::Service::rc, operation) && bth.psn == wire::Psn(first_psn_) + packet;
  BOOST_REQUIRE_MESSAGE(as_expected, "expected " << wire::name(wire::Opcode(wire::Service::rc, operation))
                                                 << " " << packet << ", but saw "
                                                 << describe(sent, first_psn_));
  BOOST_TEST(bth.destination.value == 0x22u);
  BOOST_TEST(bth.pkey.value == 0xFFFFu);
  return sent;
}

void RequesterBench::expect_packets(Operation operation, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t packet = first; packet <= last; ++packet) expect(operation, packet);
}

void RequesterBench::expect_silence() {
  BOOST_REQUIRE_MESSAGE(host.sent.empty(),
                        "expected silence, but saw " << describe(host.sent.front(), first_psn_));
}

void RequesterBench::inject(Packet packet) {
  packet.headers.bth.psn = wire::Psn(first_psn_) + packet.headers.bth.psn.value();
  requester.receive(packet.inbound(), now);
  // The payload must live until the batch ends, and a held batch does not end here.
  BOOST_REQUIRE_MESSAGE(!held_ || packet.payload.empty(), "hold and payload do not go together");
  run();
}

Completion RequesterBench::expect_completion(std::uint32_t index, WorkStatus status) {
  BOOST_REQUIRE_MESSAGE(!host.completions.empty(), "expected a completion of " << index << ", saw none");
  const Completion completion = host.completions.front();
  host.completions.pop_front();
  BOOST_TEST(completion.wqe_index == index);
  BOOST_TEST(static_cast<int>(completion.status) == static_cast<int>(status));
  BOOST_TEST(completion.qpn.value == 0x11u);
  BOOST_TEST(!completion.receive);
  return completion;
}

void RequesterBench::expect_no_completion() {
  BOOST_REQUIRE_MESSAGE(host.completions.empty(),
                        "expected no completion, but saw one of " << host.completions.front().wqe_index);
}

void RequesterBench::advance_to(Time time) {
  for (auto deadline = requester.deadline(); deadline && *deadline <= time; deadline = requester.deadline()) {
    BOOST_REQUIRE_MESSAGE(*deadline >= now, "a deadline in the past");
    now = *deadline;
    requester.on_timer(now);
    run();
  }
  now = time;
}

void RequesterBench::release() {
  held_ = false;
  run();
}

void RequesterBench::set_state(QpState state) {
  shared.state = state;
  requester.parameters_changed(now);
  run();
}

void RequesterBench::run() {
  settle();
  if (held_) {
    while (requester.wants_pump()) requester.pump(now, 64);
    settle();
    return;
  }
  while (requester.wants_pump() || !host.empty()) {
    while (requester.wants_pump()) {
      requester.pump(now, 3);
      settle();
    }
    const std::vector<AccessTag> failures = host.flush();
    failures.empty() ? queue.forget_retired() : queue.keep_retired();
    for (const AccessTag& tag : failures) requester.memory_failed(tag);
    settle();
  }
  BOOST_TEST(requester.pump(now, 1) == 0u);
}

void RequesterBench::settle() {
  if (!shared.failed) return;
  shared.failed = false;
  shared.state = QpState::error;
  requester.flush();
}

std::string describe(const SentPacket& packet, std::uint32_t first_psn) {
  const wire::Bth& bth = packet.headers.bth;
  return std::string(wire::name(bth.opcode)) + " " +
         std::to_string((bth.psn.value() - first_psn) & wire::Psn::kMask) + " with " +
         std::to_string(packet.payload.size()) + " bytes";
}

}  // namespace urnic::transport::requester_test
