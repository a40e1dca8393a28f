// Two QPs of a program on one tag-matching SRQ, their peers, and what is sent and reported between them.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <vector>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/engine/test_tags.hpp"
#include "wire/byte_order.hpp"

namespace urnic::engine::test {

using transport::QpState;

// Values of ibv_wc_opcode, ibv_wc_status and ibv_event_type.
inline constexpr std::uint8_t kReceive = 128;
inline constexpr std::uint8_t kReceiveRdmaWithImmediate = 129;
inline constexpr std::uint8_t kTagAdd = 130;
inline constexpr std::uint8_t kTagRemove = 131;
inline constexpr std::uint8_t kTagSync = 132;
inline constexpr std::uint8_t kTagged = 133;
inline constexpr std::uint8_t kWithoutTag = 134;
inline constexpr std::uint8_t kLengthError = 1;
inline constexpr std::uint8_t kProtectionError = 4;
inline constexpr std::uint8_t kFlushed = 5;
inline constexpr std::uint8_t kRemoteAccessError = 10;
inline constexpr std::uint8_t kTagError = 22;
inline constexpr std::uint8_t kIncomplete = 23;
inline constexpr std::uint32_t kEventQpFatal = 1;
inline constexpr std::uint32_t kEventSrqError = 14;

inline constexpr std::uint8_t kSignaled = abi::tag_operation_signaled;
inline constexpr std::uint8_t kWhole =
    abi::tag_matched | abi::tag_data_valid | abi::tag_in_entry | abi::tag_entry_done;
inline constexpr std::uint8_t kMatchOnly = abi::tag_matched | abi::tag_in_entry;
inline constexpr std::uint8_t kDataOnly = abi::tag_data_valid | abi::tag_in_entry | abi::tag_entry_done;
inline constexpr std::uint8_t kEndOnly = abi::tag_in_entry | abi::tag_entry_done;

inline constexpr std::uint8_t kNoTag = 0;
inline constexpr std::uint8_t kRendezvous = 1;
inline constexpr std::uint8_t kFinish = 2;
inline constexpr std::uint8_t kEager = 3;

inline constexpr std::uint32_t kUserData = 0xC0FFEE;
inline constexpr std::uint32_t kHeader = 16;
inline constexpr std::size_t kSource = 512 * 1024;  // of messages, in program 0
inline constexpr std::size_t kOffer = 256 * 1024;   // of what a rendezvous offers, in program 0
inline constexpr std::size_t kBuffers =
    512 * 1024;  // tagged, in program 1; ordinary receives are at its beginning
inline constexpr std::size_t kBufferBytes = 8192;
inline constexpr std::uint8_t kSeed = 9;
inline constexpr std::uint64_t kEveryBit = TestTags::kEveryBit;

// Two QPs of program 1 on one tag-matching SRQ, each with a peer.
struct Tagged : Fabric {
  TestSrq srq{program1, 16};
  TestTags tags{program1, srq, 9, 64};
  TestQp peer0{program0, 0, {}};
  TestQp peer1{program0, 1, {}};
  std::unique_ptr<TestQp> qp0 = make_qp(2);
  std::unique_ptr<TestQp> qp1 = make_qp(3);
  Tagged() {
    connect(peer0, *qp0);
    connect(peer1, *qp1);
    program0.fill(kSource, 8192, kSeed);
    program0.fill(kOffer, 64 * 1024, kSeed);
    events();
  }

  std::unique_ptr<TestQp> make_qp(std::uint32_t doorbell) {
    return std::make_unique<TestQp>(
        program1, doorbell,
        QpLayout{
            .send_slots = 0, .receive_slots = 0, .srq = srq.device_end.get(), .tags = tags.device_end.get()});
  }
  std::vector<std::uint32_t> events() {
    std::vector<std::uint32_t> types;
    while (const auto event = program1.async_events.read()) types.push_back(event->type);
    return types;
  }

  static std::size_t buffer(std::uint32_t entry) { return kBuffers + entry * kBufferBytes; }
  void add(std::uint32_t entry, std::uint64_t tag, std::uint64_t mask = kEveryBit,
           std::uint32_t length = kBufferBytes, std::uint8_t flags = 0) {
    const abi::ScatterGather to[] = {program1.sge(buffer(entry), length)};
    tags.add(entry, tag, mask, to, flags);
    run();
  }
  void add_without_running(std::uint32_t entry, std::uint64_t tag) {
    const abi::ScatterGather to[] = {program1.sge(buffer(entry), kBufferBytes)};
    tags.add(entry, tag, kEveryBit, to);
    program1.doorbell_set.collect();
  }
  // So far that the first packets of what program 0 has posted have arrived.
  void run_sends_of_program0() {
    program0.doorbell_set.collect();
    engine.data_path().round();
    engine.data_path().round();
  }
  void post_receive(std::uint32_t slot, std::uint32_t length = 8192) {
    const abi::ScatterGather to[] = {program1.sge(slot * 8192, length)};
    srq.post(slot, to);
  }

  void write_header(std::uint8_t opcode, std::uint64_t tag) {
    std::byte* const to = &program0.bytes[kSource];
    std::memset(to, 0, kHeader);
    to[0] = static_cast<std::byte>(opcode);
    wire::store_be32(to + 4, kUserData);
    wire::store_be64(to + 8, tag);
  }
  void post_message(TestQp& from, std::uint32_t length) {
    const abi::ScatterGather sges[] = {program0.sge(kSource, length)};
    from.post_send(wqe(abi::SendOpcode::send), sges);
  }
  // A message of `length` bytes, header included.
  void send(TestQp& from, std::uint8_t opcode, std::uint64_t tag, std::uint32_t length) {
    write_header(opcode, tag);
    post_message(from, length);
    run();
  }
  void write_offer(std::uint64_t tag, std::uint32_t length, std::uint32_t rkey) {
    write_header(kRendezvous, tag);
    std::byte* const to = &program0.bytes[kSource + kHeader];
    wire::store_be64(to, program0.address(kOffer));
    wire::store_be32(to + 8, rkey);
    wire::store_be32(to + 12, length);
  }
  void offer(TestQp& from, std::uint64_t tag, std::uint32_t length) {
    write_offer(tag, length, program0.key.value);
    post_message(from, 48);
    run();
  }

  Polled next() {
    const auto polled = tags.cq.poll();
    BOOST_REQUIRE(polled);
    BOOST_TEST((polled->flags & abi::cqe_shared_receive) != 0);
    return *polled;
  }
  static abi::TagInfo info(const Polled& polled) {
    abi::TagInfo info;
    std::memcpy(&info, polled.inline_data.data() + abi::kTagInfoOffset, sizeof info);
    return info;
  }
  Polled expect(std::uint8_t opcode, std::uint32_t number, std::uint8_t flags, std::uint8_t status = 0) {
    const Polled polled = next();
    BOOST_TEST(polled.opcode == opcode);
    BOOST_TEST(polled.wqe_index == number);
    BOOST_TEST(polled.tag_flags == flags);
    BOOST_TEST(polled.status == status);
    return polled;
  }
  // Of a message for which there was no tag, in ordinary receive `slot`.
  void expect_unexpected(std::uint32_t slot, std::uint8_t flags = 0) { expect(kTagged, slot, flags); }
  bool nothing_more() { return !tags.cq.poll(); }

  std::uint32_t state_of(TestQp& qp) { return static_cast<std::uint32_t>(qp.device_end().state()); }
  static constexpr auto kError = static_cast<std::uint32_t>(QpState::error);
};

}  // namespace urnic::engine::test
