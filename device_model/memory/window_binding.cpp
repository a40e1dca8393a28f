// Binding and invalidation of memory windows (IBTA 10.6.7, ibv_bind_mw(3)).
#include "device_model/memory/memory_table.hpp"

namespace urnic::memory {

using transport::KeyCheck;
using transport::PdId;
using transport::WindowBinding;
using wire::Qpn;
using wire::Rkey;

namespace {

constexpr std::uint32_t kWindowRights =
    access_remote_write | access_remote_read | access_remote_atomic | access_zero_based;

// A right that lets a peer change memory needs a region that may be written (IBTA C10-74).
bool region_grants(std::uint32_t region_access, std::uint32_t window_access) {
  if ((region_access & access_window_bind) == 0) return false;  // C10-73
  const bool writes = (window_access & (access_remote_write | access_remote_atomic)) != 0;
  return !writes || (region_access & access_local_write) != 0;
}

bool within(std::uint64_t address, std::uint64_t length, std::uint64_t start, std::uint64_t whole) {
  return address >= start && address - start <= whole && length <= whole - (address - start);
}

}  // namespace

// The R_Key that the bind gives the window: only its consumer-owned low 8 bits may differ from the current
// one (IBTA 10.6.7). 0 if `next` is not such a key.
std::uint32_t MemoryTable::key_after_bind(const Entry& window, Rkey next) {
  if (next.value == 0 && window.kind == Kind::window_type_1) return window.key;
  return (next.value ^ window.key) <= 0xFF ? next.value : 0;
}

KeyCheck MemoryTable::check_window(const Entry* window, const WindowBinding& binding, PdId pd) {
  if (window == nullptr) return KeyCheck::unknown_key;
  if (window->pd != pd) return KeyCheck::wrong_pd;
  if (key_after_bind(*window, binding.next) == 0) return KeyCheck::unknown_key;
  if ((binding.access & ~kWindowRights) != 0) return KeyCheck::no_right;
  if (window->kind == Kind::window_type_1)
    return (binding.access & access_zero_based) != 0 ? KeyCheck::no_right : KeyCheck::ok;  // o10-36.2.2
  // A type 2 window is bound only while it is free, and never unbound by a bind (o10-37.2.30, o10-37.2.40).
  if (window->memory != nullptr) return KeyCheck::in_use;
  return binding.length == 0 ? KeyCheck::out_of_bounds : KeyCheck::ok;
}

KeyCheck MemoryTable::bind(const WindowBinding& binding, PdId pd, Qpn queue_pair) {
  Entry* window = find_window(binding.current);
  if (const KeyCheck check = check_window(window, binding, pd); check != KeyCheck::ok) return check;
  const std::uint32_t key = key_after_bind(*window, binding.next);
  if (binding.length == 0) {
    unbind(*window);
    window->key = key;
    return KeyCheck::ok;
  }
  Entry* region = find_region(binding.region);
  if (region == nullptr) return KeyCheck::unknown_key;
  if (region->pd != pd) return KeyCheck::wrong_pd;  // C10-72
  if (!region_grants(region->access, binding.access)) return KeyCheck::no_right;
  // C10-75
  if (!within(binding.address, binding.length, region->start, region->length)) return KeyCheck::out_of_bounds;
  unbind(*window);
  window->key = key;
  attach(*window, *region, binding, queue_pair);
  return KeyCheck::ok;
}

void MemoryTable::attach(Entry& window, Entry& region, const WindowBinding& binding, Qpn queue_pair) {
  const bool zero_based = (binding.access & access_zero_based) != 0;
  window.memory = region.memory;
  window.start = zero_based ? 0 : binding.address;
  window.length = binding.length;
  window.address = region.address + (binding.address - region.start);
  window.access = binding.access;
  window.link = place_of(region.key);
  ++region.link;
  if (window.kind == Kind::window_type_2) {
    window.queue_pair = queue_pair;
    enlist(window);
  }
}

// Only type 2 windows are invalidated here: a type 1 window is unbound by a bind of length 0 (o10-37.2.26),
// and a region that ibv_reg_mr made ends by ibv_dereg_mr alone.
KeyCheck MemoryTable::invalidate(Rkey key, PdId pd, Qpn queue_pair) {
  Entry* window = find(key.value);
  if (window == nullptr) return KeyCheck::unknown_key;
  if (window->pd != pd) return KeyCheck::wrong_pd;
  if (window->kind != Kind::window_type_2) return KeyCheck::no_right;
  if (window->memory == nullptr) return KeyCheck::unknown_key;
  if (window->queue_pair != queue_pair) return KeyCheck::wrong_queue_pair;
  unbind(*window);
  return KeyCheck::ok;
}

}  // namespace urnic::memory
