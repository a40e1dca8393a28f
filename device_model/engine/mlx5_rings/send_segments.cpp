#include "device_model/engine/mlx5_rings/send_segments.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "device_model/engine/mlx5_rings/key_change.hpp"
#include "device_model/engine/mlx5_rings/segment_reader.hpp"
#include "device_model/transport/segmentation.hpp"

namespace urnic::engine::mlx5 {
namespace {

using abi::mlx5::ControlSegment;
using abi::mlx5::DataSegment;
using transport::is_atomic;
using transport::QpService;
using transport::SendRequest;
using transport::Sge;
using transport::WorkOpcode;

constexpr std::uint32_t kNumberMask = 0xFFFFFF;  // of QPNs and SRQ numbers

// A data segment becomes an Sge where it lies.
static_assert(sizeof(Sge) == sizeof(DataSegment) && alignof(Sge) <= abi::mlx5::kUnitBytes);

std::uint32_t number_of(const std::uint8_t (&bytes)[4]) {
  abi::mlx5::Big32 number;
  std::memcpy(&number, bytes, sizeof number);
  return number.value();
}

bool has_remote_address(WorkOpcode opcode) {
  return opcode == WorkOpcode::rdma_write || opcode == WorkOpcode::rdma_write_with_immediate ||
         opcode == WorkOpcode::rdma_read || is_atomic(opcode);
}

// False: an opcode that the device does not have, or one that changes keys.
bool find_opcode(abi::mlx5::SendOpcode posted, WorkOpcode& opcode) {
  switch (posted) {
    case abi::mlx5::SendOpcode::nop:  // is idle
      opcode = WorkOpcode::bind_memory_window;
      return true;
    case abi::mlx5::SendOpcode::send:
      opcode = WorkOpcode::send;
      return true;
    case abi::mlx5::SendOpcode::send_immediate:
      opcode = WorkOpcode::send_with_immediate;
      return true;
    case abi::mlx5::SendOpcode::send_invalidate:
      opcode = WorkOpcode::send_with_invalidate;
      return true;
    case abi::mlx5::SendOpcode::rdma_write:
      opcode = WorkOpcode::rdma_write;
      return true;
    case abi::mlx5::SendOpcode::rdma_write_immediate:
      opcode = WorkOpcode::rdma_write_with_immediate;
      return true;
    case abi::mlx5::SendOpcode::rdma_read:
      opcode = WorkOpcode::rdma_read;
      return true;
    case abi::mlx5::SendOpcode::compare_swap:
      opcode = WorkOpcode::atomic_compare_swap;
      return true;
    case abi::mlx5::SendOpcode::fetch_add:
      opcode = WorkOpcode::atomic_fetch_add;
      return true;
    case abi::mlx5::SendOpcode::local_invalidate:
      opcode = WorkOpcode::local_invalidate;
      return true;
    default:
      return false;
  }
}

bool take_datagram(SegmentReader& reader, SendRequest& request) {
  abi::mlx5::DatagramSegment segment;
  if (!reader.take(segment) || (segment.qpn.value() & abi::mlx5::kLongAddress) == 0) return false;
  constexpr std::size_t prefix = sizeof abi::mlx5::kAddressHandlePrefix;
  if (std::memcmp(segment.destination_mac, abi::mlx5::kAddressHandlePrefix, prefix) != 0) return false;
  abi::mlx5::Big32 handle;
  std::memcpy(&handle, segment.destination_mac + prefix, sizeof handle);
  request.address_handle = handle.value();
  request.remote_qpn = wire::Qpn{segment.qpn.value() & kNumberMask};
  request.remote_qkey = segment.qkey.value();
  return true;
}

// Puts `bytes` of the same WQE behind the inline data so far, which lies before them.
void append(std::span<std::byte> bytes, SendRequest& request) {
  request.length += bytes.size();
  if (request.inline_data.empty()) {
    request.inline_data = bytes;
    return;
  }
  std::byte* const end = const_cast<std::byte*>(request.inline_data.data()) + request.inline_data.size();
  std::memmove(end, bytes.data(), bytes.size());
  request.inline_data = {request.inline_data.data(), request.inline_data.size() + bytes.size()};
}

// The first bytes of the frame lie in the segment.
bool take_ethernet(SegmentReader& reader, SendRequest& request) {
  abi::mlx5::EthernetSegment segment;
  if (!reader.read(segment)) return false;
  constexpr std::size_t begin = offsetof(abi::mlx5::EthernetSegment, begin);
  const std::size_t length = segment.begin_length.value();
  request.checksums = {.network = (segment.checksum_flags & abi::mlx5::kMakeNetworkChecksum) != 0,
                       .transport = (segment.checksum_flags & abi::mlx5::kMakeTransportChecksum) != 0};
  const std::size_t whole = in_units(begin + length);
  if (reader.rest().size() < whole) return false;
  if (length != 0) append(reader.rest().subspan(begin, length), request);
  return reader.skip(whole);
}

bool take_remote(SegmentReader& reader, SendRequest& request) {
  abi::mlx5::RemoteAddressSegment remote;
  if (!reader.take(remote)) return false;
  request.remote_address = remote.address.value();
  request.rkey = wire::Rkey{remote.rkey.value()};
  if (!is_atomic(request.opcode)) return true;
  abi::mlx5::AtomicSegment operands;
  if (!reader.take(operands)) return false;
  const bool swaps = request.opcode == WorkOpcode::atomic_compare_swap;
  request.swap = operands.swap_or_add.value();
  request.compare_add = swaps ? operands.compare.value() : operands.swap_or_add.value();
  return true;
}

bool take_inline(SegmentReader& reader, std::size_t length, SendRequest& request) {
  constexpr std::size_t head = sizeof(abi::mlx5::Big32);
  // Inline data in front of segments, as the request has it. No library posts another order.
  if (!request.sges.empty() || length > reader.rest().size() - head) return false;
  if (length != 0) append(reader.rest().subspan(head, length), request);
  return reader.skip(std::min(in_units(head + length), reader.rest().size()));
}

// A length of 0 means what it says. libmlx5 posts no such segment of a send.
bool take_segment(SegmentReader& reader, SendRequest& request) {
  std::byte* const place = reader.rest().data();
  DataSegment segment;
  if (!reader.take(segment)) return false;
  Sge* const sge =
      std::construct_at(reinterpret_cast<Sge*>(place), Sge{.address = segment.address.value(),
                                                           .length = segment.length.value(),
                                                           .lkey = transport::Lkey{segment.lkey.value()}});
  request.sges = {request.sges.empty() ? sge : request.sges.data(), request.sges.size() + 1};
  request.length += sge->length;
  return true;
}

bool take_data(SegmentReader& reader, SendRequest& request) {
  while (!reader.empty()) {
    abi::mlx5::Big32 first;
    if (!reader.read(first)) return false;
    const bool taken = (first.value() & abi::mlx5::kInline) != 0
                           ? take_inline(reader, first.value() & ~abi::mlx5::kInline, request)
                           : take_segment(reader, request);
    if (!taken) return false;
  }
  request.is_inline = !request.inline_data.empty();
  // A READ or an atomic brings data here.
  return !request.is_inline || !(request.opcode == WorkOpcode::rdma_read || is_atomic(request.opcode));
}

bool take_segments(SegmentReader reader, const ControlSegment& control, QpService service,
                   SendRequest& request) {
  if (control.modifier() != 0) return false;
  if (control.opcode() == abi::mlx5::SendOpcode::change_key) {
    return decode_key_change(reader, request.invalidate, request);
  }
  if (!find_opcode(control.opcode(), request.opcode)) return false;
  if (transport::is_local(request.opcode)) return true;
  if (service == QpService::xrc_initiator) {
    abi::mlx5::XrcSegment xrc;
    if (!reader.take(xrc)) return false;
    request.remote_srq = xrc.srq.value() & kNumberMask;
  }
  if (service == QpService::ud && !take_datagram(reader, request)) return false;
  if (service == QpService::raw_packet && !take_ethernet(reader, request)) return false;
  if (has_remote_address(request.opcode) && !take_remote(reader, request)) return false;
  return take_data(reader, request);
}

}  // namespace

// Keys are changed before any later request begins, whatever the fence says; so only the others count here.
// The one that waits for all earlier requests waits for READs and atomics, as the fence of the verbs.
void decode_control(const ControlSegment& control, SendRequest& request) {
  request.malformed = false;
  request.fence = abi::mlx5::fence_mode(control.flags) > abi::mlx5::kFenceOfKeys;
  request.signaled = (control.flags & abi::mlx5::kSignaled) != 0;
  request.solicited = (control.flags & abi::mlx5::kSolicited) != 0;
  request.is_inline = false;
  request.is_idle = control.opcode() == abi::mlx5::SendOpcode::nop;
  std::memcpy(request.immediate.bytes.data(), control.immediate, sizeof control.immediate);
  request.invalidate = wire::Rkey{number_of(control.immediate)};
  request.sges = {};
  request.inline_data = {};
  request.length = 0;
}

void decode_send(std::span<std::byte> wqe, std::uint16_t block, QpService service, SendRequest& request) {
  SegmentReader reader(wqe);
  ControlSegment control;
  const bool whole = reader.take(control);
  if (!whole) control = {};
  decode_control(control, request);
  // Of a WQE that is malformed, only this is of use: what its completion says.
  request.opcode = WorkOpcode::send;
  if (whole && control.block() == block && take_segments(reader, control, service, request)) return;
  request.malformed = true;
  request.is_inline = false;
  request.sges = {};
  request.inline_data = {};
  request.length = 0;
}

}  // namespace urnic::engine::mlx5
