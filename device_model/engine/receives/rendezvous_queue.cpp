#include "device_model/engine/receives/rendezvous_queue.hpp"

namespace urnic::engine {

std::uint32_t RendezvousQueue::begin(const Rendezvous& rendezvous) {
  while (stages_[next_free_ % kMost] != Stage::none) ++next_free_;
  const std::uint32_t number = next_free_++ % kMost;
  --free_count_;
  rendezvous_[number] = rendezvous;
  append({.number = number, .is_read = true});
  return number;
}

void RendezvousQueue::append(const Item& item) {
  stages_[item.number] = item.is_read ? Stage::reading : Stage::finishing;
  items_[produced_++ % kSlots] = item;
}

void RendezvousQueue::release(std::uint32_t number) {
  stages_[number] = Stage::none;
  ++free_count_;
}

bool RendezvousQueue::next(transport::SendRequest& request) {
  if (!pending()) return false;
  const Item& item = items_[taken_ % kSlots];
  const Rendezvous& rendezvous = rendezvous_[item.number];
  request.index = taken_++;
  request.malformed = false;
  request.fence = false;
  request.solicited = false;
  request.signaled = item.is_read;
  request.is_inline = !item.is_read;
  if (item.is_read) {
    request.opcode = transport::WorkOpcode::rdma_read;
    request.remote_address = rendezvous.offer.address;
    request.rkey = rendezvous.offer.rkey;
    request.sges = rendezvous.sges;
    request.inline_data = {};
    request.length = rendezvous.offer.length;
  } else {
    request.opcode = transport::WorkOpcode::send;
    request.sges = {};
    request.inline_data = rendezvous.finish;
    request.length = rendezvous.finish.size();
  }
  return true;
}

void RendezvousQueue::retire(std::uint32_t index) {
  Item& item = items_[index % kSlots];
  if (item.done) return;
  item.done = true;
  if (!item.is_read) release(item.number);
}

}  // namespace urnic::engine
