#include "tests/apps/programs/transfer.hpp"

#include <arpa/inet.h>

#include <boost/test/unit_test.hpp>

namespace urnic::apps {
namespace {

constexpr std::size_t kGuard = 256;
constexpr std::size_t kMaxOffset = 64;
constexpr unsigned kMaxParts = 8;
constexpr std::size_t kPartGap = 37;  // between segments; odd, so that segments begin anywhere
constexpr std::uint64_t kBackground = 0xBAC6;

constexpr std::size_t area_size(std::size_t max_length) {
  return max_length + 2 * kGuard + kMaxOffset + kMaxParts * kPartGap;
}

std::uint64_t request_id(const Transfer& transfer) { return 0x5E4D000000000000 + transfer.seed; }
std::uint64_t receive_id(const Transfer& transfer) { return 0x4EC0000000000000 + transfer.seed; }
std::uint32_t immediate(const Transfer& transfer) {
  return htonl(0xABCD0000 + static_cast<std::uint32_t>(transfer.seed % 0xFFFF));
}

// Positions of `bytes` within the area decide its pattern, so that a byte of the area that moved is wrong.
std::optional<std::string> background_difference(const Memory& memory, std::size_t begin, std::size_t end) {
  return difference(memory.bytes(begin, end - begin), kBackground, begin);
}

}  // namespace

std::string to_string(Operation operation) {
  switch (operation) {
    case Operation::send:
      return "send";
    case Operation::send_with_immediate:
      return "send with immediate";
    case Operation::write:
      return "write";
    case Operation::write_with_immediate:
      return "write with immediate";
    case Operation::read:
      return "read";
  }
  return "unknown";
}

ibv_wr_opcode request_opcode(Operation operation) {
  switch (operation) {
    case Operation::send:
      return IBV_WR_SEND;
    case Operation::send_with_immediate:
      return IBV_WR_SEND_WITH_IMM;
    case Operation::write:
      return IBV_WR_RDMA_WRITE;
    case Operation::write_with_immediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Operation::read:
      break;
  }
  return IBV_WR_RDMA_READ;
}

ibv_wc_opcode completion_opcode(Operation operation) {
  if (operation == Operation::read) return IBV_WC_RDMA_READ;
  const bool is_send = operation == Operation::send || operation == Operation::send_with_immediate;
  return is_send ? IBV_WC_SEND : IBV_WC_RDMA_WRITE;
}

std::string to_string(const Transfer& transfer) {
  return fmt::format("{} of {} bytes from offset {} in {} parts to offset {} in {} parts{}",
                     to_string(transfer.operation), transfer.length, transfer.source_offset,
                     transfer.source_parts, transfer.target_offset, transfer.target_parts,
                     transfer.is_inline ? ", inline" : "");
}

TransferBench::TransferBench(Pair& pair, std::size_t max_length)
    : pair_(pair),
      left_(pair.left_device.pd(), area_size(max_length)),
      right_(pair.right_device.pd(), area_size(max_length)) {}

TransferBench::Layout TransferBench::lay_out(const Memory& memory, std::size_t offset, std::size_t length,
                                             unsigned parts) const {
  Layout layout{{}, 0, 0};
  std::size_t place = kGuard + offset;
  std::size_t left = length;
  for (unsigned part = 0; part < parts; ++part) {
    // Odd lengths that differ from part to part; the last takes the rest.
    const std::size_t share = part + 1 == parts ? left : std::min(left, (length / parts + 2 * part) | 1);
    layout.segments.push_back(memory.segment(place, share));
    place += share + kPartGap;
    left -= share;
  }
  layout.end = place + kGuard - kPartGap;
  return layout;
}

void TransferBench::fill_source(const Layout& layout, const Memory& memory, std::uint64_t seed) {
  std::size_t position = 0;
  for (const ibv_sge& segment : layout.segments) {
    fill(memory.bytes(segment.addr - memory.address(), segment.length), seed, position);
    position += segment.length;
  }
}

void TransferBench::check_target(const Layout& layout, const Memory& memory, const Transfer& transfer) const {
  std::size_t position = 0, place = layout.begin;
  for (const ibv_sge& segment : layout.segments) {
    const std::size_t begin = segment.addr - memory.address();
    const auto before = background_difference(memory, place, begin);
    BOOST_TEST(!before, "bytes beside the target: " << before.value_or(""));
    const auto inside = difference(memory.bytes(begin, segment.length), transfer.seed, position);
    BOOST_TEST(!inside, "data: " << inside.value_or(""));
    position += segment.length;
    place = begin + segment.length;
  }
  const auto behind = background_difference(memory, place, layout.end);
  BOOST_TEST(!behind, "bytes behind the target: " << behind.value_or(""));
}

void TransferBench::check_completions(const Transfer& transfer) {
  const ibv_wc sent = pair_.left.wait_send();
  BOOST_TEST(sent.status == IBV_WC_SUCCESS, ibv_wc_status_str(sent.status));
  BOOST_TEST(sent.wr_id == request_id(transfer));
  BOOST_TEST(sent.opcode == completion_opcode(transfer.operation));
  BOOST_TEST(sent.qp_num == pair_.left.qp()->qp_num);
  if (transfer.operation == Operation::read) BOOST_TEST(sent.byte_len == transfer.length);
  if (!takes_receive(transfer.operation)) return;

  const ibv_wc received = pair_.right.wait_receive();
  const bool is_send = completion_opcode(transfer.operation) == IBV_WC_SEND;
  BOOST_TEST(received.status == IBV_WC_SUCCESS, ibv_wc_status_str(received.status));
  BOOST_TEST(received.wr_id == receive_id(transfer));
  BOOST_TEST(received.opcode == (is_send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM));
  BOOST_TEST(received.byte_len == transfer.length);
  BOOST_TEST(received.qp_num == pair_.right.qp()->qp_num);
  BOOST_TEST(((received.wc_flags & IBV_WC_WITH_IMM) != 0) == has_immediate(transfer.operation));
  if (has_immediate(transfer.operation)) BOOST_TEST(received.imm_data == immediate(transfer));
}

void TransferBench::run(const Transfer& transfer) {
  BOOST_TEST_CONTEXT(to_string(transfer) << ", MTU " << (128 << pair_.left.options().mtu)) {
    const bool is_read = transfer.operation == Operation::read;
    const bool is_send = completion_opcode(transfer.operation) == IBV_WC_SEND;
    const Memory& source = is_read ? right_ : left_;
    const Memory& target = is_read ? left_ : right_;
    const Layout from =
        lay_out(source, transfer.source_offset, transfer.length, is_read ? 1 : transfer.source_parts);
    const Layout to = lay_out(target, transfer.target_offset, transfer.length,
                              is_read || is_send ? transfer.target_parts : 1);
    fill(target.bytes(to.begin, to.end - to.begin), kBackground, to.begin);
    fill_source(from, source, transfer.seed);

    // A write with immediate takes a receive and leaves its memory alone.
    if (is_send) pair_.right.post_receive(receive_id(transfer), to.segments);
    if (transfer.operation == Operation::write_with_immediate) {
      pair_.right.post_receive(receive_id(transfer), {});
    }
    ibv_send_wr request{};
    std::vector<ibv_sge> segments = is_read ? to.segments : from.segments;
    request.wr_id = request_id(transfer);
    request.sg_list = segments.data();
    request.num_sge = static_cast<int>(segments.size());
    request.opcode = request_opcode(transfer.operation);
    request.send_flags = IBV_SEND_SIGNALED;
    if (transfer.is_inline) request.send_flags |= IBV_SEND_INLINE;
    if (has_immediate(transfer.operation)) request.imm_data = immediate(transfer);
    if (!is_send) {
      request.wr.rdma.remote_addr = (is_read ? from : to).segments[0].addr;
      request.wr.rdma.rkey = right_.rkey();
    }
    pair_.left.post(request);
    // Inline data has left the program's memory when posting returns (ibv_post_send(3)).
    if (transfer.is_inline) fill_source(from, source, ~transfer.seed);
    check_completions(transfer);
    check_target(to, target, transfer);
  }
}

}  // namespace urnic::apps
