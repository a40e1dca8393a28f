#include "wire/tag_matching_headers.hpp"

#include <algorithm>

#include "wire/byte_order.hpp"

namespace urnic::wire {
namespace {

TagHeader parse_header(const std::byte* from) {
  return {.user_data = load_be32(from + 4), .tag = load_be64(from + 8)};
}

RendezvousHeader parse_rendezvous(const std::byte* from) {
  return {.address = load_be64(from), .rkey = Rkey{load_be32(from + 8)}, .length = load_be32(from + 12)};
}

bool is_rendezvous_request(std::size_t bytes, bool whole) {
  return whole && bytes >= kTagHeaderBytes + kRendezvousHeaderBytes && bytes <= kMaxRendezvousRequestBytes;
}

}  // namespace

TaggedMessage parse_tagged_message(std::span<const std::byte> payload, bool whole) {
  TaggedMessage message;
  if (payload.empty()) return message;
  switch (static_cast<TagOpcode>(payload[0])) {
    case TagOpcode::no_tag:
      message.kind = TaggedMessageKind::without_tag;
      break;
    case TagOpcode::finish:
      if (payload.size() >= kTagHeaderBytes) message.kind = TaggedMessageKind::without_tag;
      break;
    case TagOpcode::eager:
      if (payload.size() < kTagHeaderBytes) break;
      message.kind = TaggedMessageKind::eager;
      message.header = parse_header(payload.data());
      break;
    case TagOpcode::rendezvous:
      if (!is_rendezvous_request(payload.size(), whole)) break;
      message.kind = TaggedMessageKind::rendezvous;
      message.header = parse_header(payload.data());
      message.rendezvous = parse_rendezvous(payload.data() + kTagHeaderBytes);
      break;
  }
  return message;
}

RendezvousFinish make_rendezvous_finish(std::span<const std::byte> request) {
  RendezvousFinish finish;
  std::copy_n(request.begin(), finish.size(), finish.begin());
  finish[0] = static_cast<std::byte>(TagOpcode::finish);
  return finish;
}

}  // namespace urnic::wire
