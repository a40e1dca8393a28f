#include "device_model/transport/request_check.hpp"

namespace urnic::transport {

using wire::Operation;

RequestKind request_kind(Operation operation) {
  switch (operation) {
    case Operation::read_request:
      return RequestKind::read;
    case Operation::compare_swap:
    case Operation::fetch_add:
      return RequestKind::atomic;
    case Operation::atomic_write:
      return RequestKind::atomic_write;
    case Operation::write_first:
    case Operation::write_middle:
    case Operation::write_last:
    case Operation::write_last_immediate:
    case Operation::write_only:
    case Operation::write_only_immediate:
      return RequestKind::write;
    case Operation::send_first:
    case Operation::send_middle:
    case Operation::send_last:
    case Operation::send_last_immediate:
    case Operation::send_only:
    case Operation::send_only_immediate:
    case Operation::send_last_invalidate:
    case Operation::send_only_invalidate:
      return RequestKind::send;
    default:
      return RequestKind::unsupported;
  }
}

bool is_write_with_immediate(Operation operation) {
  return operation == Operation::write_last_immediate || operation == Operation::write_only_immediate;
}

bool follows(MessageUnderWay message, Operation operation) {
  switch (operation) {
    case Operation::send_middle:
    case Operation::send_last:
    case Operation::send_last_immediate:
    case Operation::send_last_invalidate:
      return message == MessageUnderWay::send;
    case Operation::write_middle:
    case Operation::write_last:
    case Operation::write_last_immediate:
      return message == MessageUnderWay::write;
    default:
      return message == MessageUnderWay::none;
  }
}

bool is_enabled(const QpAccess& access, RequestKind kind) {
  switch (kind) {
    case RequestKind::send:
      return true;
    case RequestKind::write:
    case RequestKind::atomic_write:
      return access.remote_write;
    case RequestKind::read:
      return access.remote_read;
    case RequestKind::atomic:
      return access.remote_atomic;
    case RequestKind::unsupported:
      return false;
  }
  return false;
}

bool payload_fits(Operation operation, std::size_t payload, std::uint32_t path_mtu) {
  const wire::OpcodeTraits& traits = wire::traits(wire::Opcode(wire::Service::rc, operation));
  if (!traits.carries_payload) return payload == 0;
  if (!traits.last) return payload == path_mtu;
  if (!traits.first && payload == 0) return false;
  return payload <= path_mtu;
}

std::uint32_t response_packets(std::uint32_t length, std::uint32_t path_mtu) {
  if (length == 0) return 1;
  return (length - 1) / path_mtu + 1;
}

}  // namespace urnic::transport
