// An opened device: its control connection, shared memory, objects and doorbells.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/abi/doorbells.hpp"
#include "provider/freestanding/lock.hpp"
#include "provider/freestanding/number_table.hpp"
#include "provider/freestanding/object_list.hpp"
#include "provider/plugin/connection/arena_table.hpp"
#include "provider/plugin/connection/channel_writers.hpp"
#include "provider/plugin/connection/control_connection.hpp"
#include "provider/plugin/connection/owner_mark.hpp"
#include "provider/plugin/library/library.hpp"
#include "provider/private_abi.hpp"

namespace urnic::provider {

struct Cq;

struct Context {
  const Library* library = nullptr;

  // Control. `control_lock` also keeps lookups in `arenas` in the order of the replies.
  Mutex control_lock;
  ControlConnection control;
  Descriptor own_socket;        // a forked child's connection; the first process uses the command descriptor
  pid_t connected_process = 0;  // the process that `control` belongs to
  std::uint32_t reserved_pd = 0;  // for allocate_reserved_pd on `control`; 0: none
  OwnerMark owner;
  abi::ContextToken token{};
  ArenaTable arenas;

  // Doorbells, mapped for the context's life.
  abi::Doorbells* doorbells = nullptr;
  const abi::EngineStatus* engine_status = nullptr;
  Descriptor engine_wakeup;  // an eventfd

  // Set once, when the device process has died: see device_death.hpp.
  std::atomic<bool> dead{false};
  Descriptor async_events_writer;

  // The context's objects. `objects_lock` is never held during a control request.
  Mutex objects_lock;
  ObjectList<Qp> qps;
  ObjectList<Cq> cqs;
  QpTable qps_by_number;
  SrqTable srqs_by_number;
  ChannelWriters channels;

  // Links of the death watch's list.
  bool watched = false;
  Context* next = nullptr;
  Context* previous = nullptr;
};

// libibverbs allocates this struct. Its verbs_context ends where `verbs` ends, and begins where its release
// has it begin: in `room`.
struct VerbsContext {
  std::byte room[512];
  ibv_context verbs;
  Context* context;
};

inline VerbsContext& verbs_context_of(ibv_context* context) {
  return *reinterpret_cast<VerbsContext*>(reinterpret_cast<std::byte*>(context) -
                                          offsetof(VerbsContext, verbs));
}

inline Context& context_of(ibv_context* context) { return *verbs_context_of(context).context; }

inline bool is_dead(const Context& context) { return context.dead.load(std::memory_order_acquire); }

// Tells the engine that the queue with the number `doorbell` has work, and wakes the engine if it sleeps.
// Call after the store to the producer index.
void ring_doorbell(Context& context, std::uint32_t doorbell);

}  // namespace urnic::provider
