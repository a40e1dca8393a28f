#include "device_model/transport/segmentation.hpp"

#include <algorithm>

namespace urnic::transport {
namespace {

using wire::Operation;

// The four places of a packet in its message.
struct Place {
  bool first;
  bool last;
};

Operation pick(Place place, Operation first, Operation middle, Operation last, Operation only) {
  if (place.first) return place.last ? only : first;
  return place.last ? last : middle;
}

Operation operation_of(WorkOpcode opcode, Place place) {
  switch (opcode) {
    case WorkOpcode::send:
      return pick(place, Operation::send_first, Operation::send_middle, Operation::send_last,
                  Operation::send_only);
    case WorkOpcode::send_with_immediate:
      return pick(place, Operation::send_first, Operation::send_middle, Operation::send_last_immediate,
                  Operation::send_only_immediate);
    case WorkOpcode::send_with_invalidate:
      return pick(place, Operation::send_first, Operation::send_middle, Operation::send_last_invalidate,
                  Operation::send_only_invalidate);
    case WorkOpcode::rdma_write:
      return pick(place, Operation::write_first, Operation::write_middle, Operation::write_last,
                  Operation::write_only);
    case WorkOpcode::rdma_write_with_immediate:
      return pick(place, Operation::write_first, Operation::write_middle, Operation::write_last_immediate,
                  Operation::write_only_immediate);
    case WorkOpcode::rdma_read:
      return Operation::read_request;
    case WorkOpcode::atomic_write:
      return Operation::atomic_write;
    case WorkOpcode::atomic_compare_swap:
      return Operation::compare_swap;
    case WorkOpcode::atomic_fetch_add:
    case WorkOpcode::local_invalidate:
    case WorkOpcode::bind_memory_window:
      break;
  }
  return Operation::fetch_add;
}

Segment build_read(const SendRequest& request, std::uint32_t at, std::uint32_t count, std::uint32_t wanted,
                   std::uint32_t path_mtu, wire::TransportHeaders& headers) {
  const std::uint64_t offset = std::uint64_t{at} * path_mtu;
  const std::uint32_t packets = std::min(wanted, count - at);
  const std::uint64_t length = std::min(request.length - offset, std::uint64_t{packets} * path_mtu);
  headers.reth = {request.remote_address + offset, request.rkey, static_cast<std::uint32_t>(length)};
  return Segment{offset, 0, packets};
}

Segment build_atomic(const SendRequest& request, wire::TransportHeaders& headers) {
  // FetchAdd has its operand where CmpSwap has the swap value (IBTA 9.3.4).
  const bool swap = request.opcode == WorkOpcode::atomic_compare_swap;
  headers.atomic_eth = {request.remote_address, request.rkey, swap ? request.swap : request.compare_add,
                        swap ? request.compare_add : 0};
  return Segment{};
}

// SEND and RDMA WRITE. Inline, because it is for each packet and two services have it.
[[gnu::always_inline]] inline Segment build_message(const SendRequest& request, std::uint32_t at, Place place,
                                                    std::uint32_t path_mtu, wire::TransportHeaders& headers) {
  const std::uint64_t offset = std::uint64_t{at} * path_mtu;
  const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(request.length - offset, path_mtu));
  headers.bth.pad = static_cast<std::uint8_t>(-length & 3);
  if (place.first) {
    headers.reth = {request.remote_address, request.rkey, static_cast<std::uint32_t>(request.length)};
  }
  if (place.last) {
    // Only a request that ends in a receive completion can ask for an event (IBTA 9.2.3).
    headers.bth.solicited = request.solicited && consumes_receive(request.opcode);
    headers.immediate = request.immediate;
    headers.invalidate = request.invalidate;
  }
  return Segment{offset, length, 1};
}

}  // namespace

std::uint32_t packet_count(const SendRequest& request, std::uint32_t path_mtu) {
  if (is_local(request.opcode)) return 0;
  if (is_atomic(request.opcode) || request.length == 0) return 1;
  return static_cast<std::uint32_t>((request.length + path_mtu - 1) / path_mtu);
}

Segment build_request(const SendRequest& request, std::uint32_t at, std::uint32_t count, std::uint32_t wanted,
                      std::uint32_t path_mtu, wire::TransportHeaders& headers, wire::Service service) {
  const Place place{at == 0, at + 1 == count};
  headers.bth.opcode = wire::Opcode(service, operation_of(request.opcode, place));
  headers.xrceth.srq_number = request.remote_srq;
  if (request.opcode == WorkOpcode::rdma_read) {
    return build_read(request, at, count, wanted, path_mtu, headers);
  }
  if (is_atomic(request.opcode)) return build_atomic(request, headers);
  return build_message(request, at, place, path_mtu, headers);
}

Segment build_unreliable_request(const SendRequest& request, std::uint32_t at, std::uint32_t count,
                                 std::uint32_t path_mtu, wire::TransportHeaders& headers) {
  const Place place{at == 0, at + 1 == count};
  headers.bth.opcode = wire::Opcode(wire::Service::uc, operation_of(request.opcode, place));
  return build_message(request, at, place, path_mtu, headers);
}

}  // namespace urnic::transport
