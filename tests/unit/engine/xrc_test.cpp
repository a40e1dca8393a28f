// Extended reliable connections (IBTA annex A14): target QPs, the SRQs of their domain, and what goes while a
// message comes.
#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/engine/test_srq.hpp"

namespace urnic::engine::test {

namespace xrc {

constexpr std::uint8_t kRemoteAccessError = 10;
constexpr std::uint8_t kRemoteOperationError = 11;
constexpr std::uint32_t kEventAccessError = 3;
constexpr std::uint32_t kEventSrqError = 14;
constexpr std::size_t kSource = 512 * 1024;
constexpr std::uint8_t kSeed = 9;
constexpr transport::PdId kOtherPd{8};

// An SRQ with a CQ of its own.
struct DomainSrq {
  DomainSrq(Program& program, XrcDomain* domain, transport::PdId pd, std::uint32_t count = 8)
      : cq(64, nullptr, &program.async_events.device_end(), 9000),
        srq(std::make_unique<TestSrq>(program, count, pd, domain, cq.device_end.get())) {}

  std::uint32_t number() const { return srq->device_end->number(); }
  TestCq cq;
  std::unique_ptr<TestSrq> srq;
};

// Program 0 has an initiator, program 1 the target, two SRQs of its domain, and one of another domain.
struct Xrc : Fabric {
  XrcDomain domain{device1.shared_receive_queues()};
  XrcDomain other_domain{device1.shared_receive_queues()};
  TestQp initiator{program0, 0, {.receive_slots = 0, .service = transport::QpService::xrc_initiator}};
  TestQp target{program1,
                0,
                {.send_slots = 0,
                 .receive_slots = 0,
                 .service = transport::QpService::xrc_target,
                 .xrc_domain = &domain}};
  DomainSrq one{program1, &domain, program1.pd};
  DomainSrq two{program1, &domain, program1.pd};
  DomainSrq elsewhere{program1, &other_domain, program1.pd};

  Xrc() {
    connect(initiator, target);
    program0.fill(kSource, 64 * 1024, kSeed);
    events();
  }

  void post(DomainSrq& to, std::uint32_t slot, std::uint32_t length = 8192) {
    const abi::ScatterGather sges[] = {program1.sge(slot * 8192, length)};
    to.srq->post(slot, sges);
  }
  void post_send(std::uint32_t number, std::uint32_t length, abi::SendOpcode opcode = abi::SendOpcode::send) {
    abi::SendWqe head = wqe(opcode);
    head.remote_srq = number;
    head.rkey = program1.key.value;
    head.remote_address = program1.address(256 * 1024);
    head.compare_add = 1;
    const abi::ScatterGather sges[] = {program0.sge(kSource, length)};
    initiator.post_send(head, sges);
  }
  void send(std::uint32_t number, std::uint32_t length, abi::SendOpcode opcode = abi::SendOpcode::send) {
    post_send(number, length, opcode);
    run();
  }
  std::uint8_t status() {
    const auto entry = initiator.send_cq.poll();
    BOOST_REQUIRE(entry);
    return entry->status;
  }
  bool target_is_in_error() { return target.device_end().state() == transport::QpState::error; }
  void check_received(DomainSrq& by, std::uint32_t slot) {
    const auto entry = by.cq.poll();
    BOOST_REQUIRE(entry);
    BOOST_TEST(entry->status == 0);
    BOOST_TEST(entry->qpn == target.qpn().value);
    BOOST_TEST(entry->wqe_index == slot);
    BOOST_TEST((entry->flags & abi::cqe_shared_receive) != 0);
    const abi::Cqe& written = by.cq.ring[(by.cq.consumer - 1) & (by.cq.slots - 1)];
    BOOST_TEST(abi::shared_receive_queue_of(written) == by.number());
  }
  // The first packet of a message that goes on.
  void begin_message(std::uint32_t number) {
    const std::vector<std::byte> half(1024);
    wire::TransportHeaders headers;
    headers.bth.opcode = wire::Opcode(wire::Service::xrc, wire::Operation::send_first);
    headers.bth.destination = target.qpn();
    headers.bth.psn = target.device_end().parameters().receive_psn;
    headers.xrceth.srq_number = number;
    engine.execute([&] { target.device_end().receive({.headers = headers, .payload = half}); });
    run();
  }
  std::vector<std::uint32_t> events() {
    std::vector<std::uint32_t> types;
    while (const auto event = program1.async_events.read()) types.push_back(event->type);
    return types;
  }
};

}  // namespace xrc

BOOST_FIXTURE_TEST_SUITE(xrc, Xrc)

BOOST_AUTO_TEST_CASE(a_message_goes_to_the_srq_that_it_names_and_completes_on_its_cq) {
  post(one, 5);
  post(two, 3);
  send(two.number(), 4000);
  check_received(two, 3);
  BOOST_TEST(!one.cq.poll());
  BOOST_TEST(program1.holds(3 * 8192, 4000, kSeed));
  send(one.number(), 3000);
  check_received(one, 5);
  BOOST_TEST(program1.holds(5 * 8192, 3000, kSeed));
  BOOST_TEST(status() == 0);
  BOOST_TEST(status() == 0);
}

BOOST_AUTO_TEST_CASE(many_messages_to_and_fro_between_srqs) {
  for (std::uint32_t i = 0; i < 5000; ++i) {
    DomainSrq& to = i % 3 == 0 ? one : two;
    post(to, i % 8);
    send(to.number(), 100 + i % 3000);
    check_received(to, i % 8);
    BOOST_TEST(status() == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_write_with_immediate_data_takes_a_receive_and_other_requests_none) {
  using abi::SendOpcode;
  post(one, 0);
  for (const SendOpcode opcode :
       {SendOpcode::rdma_write, SendOpcode::rdma_read, SendOpcode::atomic_fetch_add}) {
    send(one.number(), 8, opcode);
    BOOST_TEST(status() == 0);
    BOOST_TEST(!one.cq.poll());
  }
  send(one.number(), 8, SendOpcode::rdma_write_with_immediate);
  check_received(one, 0);
}

BOOST_AUTO_TEST_CASE(small_messages_travel_in_the_cqe_if_the_srqs_program_is_one_process) {
  const abi::ScatterGather to[] = {program1.private_sge(0, 64)};
  one.srq->post(4, to);
  send(one.number(), 16);
  BOOST_TEST((one.cq.poll().value().flags & abi::cqe_inline) != 0);
  program1.several_processes = true;
  one.srq->post(4, to);
  send(one.number(), 16);
  BOOST_TEST((one.cq.poll().value().flags & abi::cqe_inline) == 0);
}

BOOST_AUTO_TEST_CASE(a_number_of_nobody_another_domain_or_no_xrc_srq_is_refused) {
  TestSrq basic(program1, 8);
  for (const std::uint32_t number : {0u, 0xFFFFFFu, elsewhere.number(), basic.device_end->number()}) {
    TestQp to(program1, 1, target.layout);
    TestQp from(program0, 1, initiator.layout);
    connect(from, to);
    events();
    post(elsewhere, 0);
    abi::SendWqe head = wqe(abi::SendOpcode::send);
    head.remote_srq = number;
    const abi::ScatterGather sges[] = {program0.sge(kSource, 100)};
    from.post_send(head, sges);
    run();
    BOOST_TEST(from.send_cq.poll().value().status == kRemoteAccessError);
    BOOST_TEST((to.device_end().state() == transport::QpState::error));
    BOOST_TEST(events() == std::vector<std::uint32_t>{kEventAccessError}, boost::test_tools::per_element());
    BOOST_TEST(!elsewhere.cq.poll());
  }
}

// Program 0's SRQ has the number that program 1's would have next: numbers are a device's own.
BOOST_AUTO_TEST_CASE(an_srq_of_another_device_is_nobody) {
  XrcDomain there(device0.shared_receive_queues());
  std::vector<std::unique_ptr<DomainSrq>> on_device0;
  do {
    on_device0.push_back(std::make_unique<DomainSrq>(program0, &there, program0.pd, 1));
  } while (on_device0.back()->number() <= elsewhere.number());
  send(on_device0.back()->number(), 100);
  BOOST_TEST(status() == kRemoteAccessError);
  BOOST_TEST(!on_device0.back()->cq.poll());
}

BOOST_AUTO_TEST_CASE(keys_are_checked_against_the_protection_domain_of_the_srq) {
  DomainSrq foreign(program1, &domain, kOtherPd);
  send(one.number(), 100, abi::SendOpcode::rdma_write);
  BOOST_TEST(status() == 0);
  send(foreign.number(), 100, abi::SendOpcode::rdma_write);
  BOOST_TEST(status() == kRemoteAccessError);
}

BOOST_AUTO_TEST_CASE(an_srq_that_is_destroyed_within_a_message_harms_nobody) {
  post(one, 0);
  post(two, 1);
  begin_message(one.number());
  one.srq.reset();
  program1.fill(0, 4 * 8192, 77);
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::xrc, wire::Operation::send_last);
  headers.bth.destination = target.qpn();
  headers.bth.psn = target.device_end().parameters().receive_psn + 1;
  for (const std::uint32_t number : {two.number()}) {
    headers.xrceth.srq_number = number;
    const std::vector<std::byte> rest(1000);
    engine.execute([&] { target.device_end().receive({.headers = headers, .payload = rest}); });
    run();
  }
  BOOST_TEST(target_is_in_error());
  BOOST_TEST(program1.holds(0, 4 * 8192, 77));
  BOOST_TEST(!one.cq.poll());
  BOOST_TEST(!two.cq.poll());
}

BOOST_AUTO_TEST_CASE(an_srq_that_is_destroyed_between_messages_is_nobody_from_then_on) {
  post(one, 0);
  send(one.number(), 100);
  const std::uint32_t number = one.number();
  one.srq.reset();
  send(number, 100);
  BOOST_TEST(status() == 0);
  BOOST_TEST(status() == kRemoteAccessError);
}

BOOST_AUTO_TEST_CASE(what_a_reset_target_held_is_taken_next) {
  post(one, 0);
  post(one, 1);
  begin_message(one.number());
  engine.execute([&] { target.device_end().modify(transport::QpState::reset, {}, std::nullopt); });
  TestQp again(program1, 1, target.layout);
  connect(initiator, again);
  abi::SendWqe head = wqe(abi::SendOpcode::send);
  head.remote_srq = one.number();
  const abi::ScatterGather sges[] = {program0.sge(kSource, 100)};
  initiator.post_send(head, sges);
  run();
  BOOST_TEST(one.cq.poll().value().wqe_index == 0u);
}

BOOST_AUTO_TEST_CASE(a_full_cq_takes_the_target_to_error_and_tells_the_cqs_program) {
  TestCq small(1, nullptr, &program1.async_events.device_end(), 9100);
  TestSrq srq(program1, 8, program1.pd, &domain, small.device_end.get());
  const abi::ScatterGather to[] = {program1.sge(0, 4096)};
  srq.post(0, to);
  srq.post(1, to);
  send(srq.device_end->number(), 100);
  BOOST_TEST(!target_is_in_error());
  send(srq.device_end->number(), 100);
  BOOST_TEST(target_is_in_error());
  BOOST_TEST(events().size() == 1u);  // IBV_EVENT_CQ_ERR
}

BOOST_AUTO_TEST_CASE(a_broken_srq_is_nobody_and_the_others_go_on) {
  one.srq->publish(4711);
  send(one.number(), 100);
  BOOST_TEST(events() == std::vector<std::uint32_t>{kEventSrqError}, boost::test_tools::per_element());
  advance(transport::Nanoseconds(1'000'000'000));
  BOOST_TEST(status() == kRemoteAccessError);
  TestQp to(program1, 1, target.layout);
  TestQp from(program0, 1, initiator.layout);
  connect(from, to);
  post(two, 0);
  abi::SendWqe head = wqe(abi::SendOpcode::send);
  head.remote_srq = two.number();
  const abi::ScatterGather sges[] = {program0.sge(kSource, 100)};
  from.post_send(head, sges);
  run();
  BOOST_TEST(two.cq.poll().value().status == 0);
}

// Others have the target open: it must not fall silent with one of them.
BOOST_AUTO_TEST_CASE(the_death_of_one_program_is_answered_and_told) {
  post(one, 0);
  program1.memory.end_owner();
  send(one.number(), 4000);
  BOOST_TEST(status() == kRemoteOperationError);
  BOOST_TEST(target_is_in_error());
  BOOST_TEST(events() == std::vector<std::uint32_t>{kEventAccessError}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(everybody_who_has_opened_the_target_hears_of_its_events) {
  TestPipe second(16);
  const EventSource opener;
  engine.execute([&] { target.device_end().listeners().add(second.device_end(), 42, opener.number()); });
  send(0, 100);
  BOOST_TEST(events() == std::vector<std::uint32_t>{kEventAccessError}, boost::test_tools::per_element());
  const auto heard = second.read();
  BOOST_REQUIRE(heard);
  BOOST_TEST(heard->element == 42u);
  BOOST_TEST(heard->type == kEventAccessError);
  engine.execute([&] {
    BOOST_TEST(target.device_end().listeners().remove(opener.number()) == 1u);
    BOOST_TEST(target.device_end().listeners().remove(opener.number()) == 0u);
  });
}

BOOST_AUTO_TEST_CASE(any_number_and_any_garbage_is_survived) {
  std::mt19937 chance(4711);
  const auto random = [&] { return static_cast<std::uint32_t>(chance()); };
  for (int i = 0; i < 200; ++i) {
    TestQp to(program1, 1, target.layout);
    TestQp from(program0, 1, initiator.layout);
    connect(from, to);
    auto garbage = std::make_unique<DomainSrq>(program1, &domain, program1.pd);
    for (auto& byte : garbage->srq->slots) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    for (auto& number : garbage->srq->posted) number = random() % 9;
    garbage->srq->indices.producer.store(random() % 10);
    const std::uint32_t number = garbage->number();
    for (int sends = 0; sends < 6; ++sends) {
      abi::SendWqe head = wqe(static_cast<abi::SendOpcode>(random() % 10));
      head.remote_srq = random() % 4 == 0 ? random() : random() % 2 == 0 ? number : two.number();
      head.rkey = program1.key.value;
      head.remote_address = program1.address(random() % 4096);
      const abi::ScatterGather sges[] = {program0.sge(kSource, random() % 5000)};
      from.post_send(head, sges);
      if (sends == 3) garbage.reset();
      run();
    }
  }
  events();
  post(one, 0);
  send(one.number(), 100);
  check_received(one, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
