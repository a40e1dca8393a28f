#include "device_model/control/uverbs/region_memory.hpp"

#include <infiniband/verbs.h>

#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "device_model/control/log/log.hpp"
#include "device_model/control/objects/shared_file.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/memory/mapped_memory.hpp"

namespace urnic::control {
namespace {

constexpr std::uint64_t kWholeAddressSpace = std::numeric_limits<std::uint64_t>::max();

// As the kernel's uverbs layer: any right to write needs writable pages.
bool needs_writable(std::uint32_t access) {
  return (access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
                    IBV_ACCESS_MW_BIND)) != 0;
}

// Memory that may not answer is accessed by a copier process only, never left to the program, and never read
// by another process. Without any copiers it is accessed like other memory.
int choose_waiting_memory(const Session& session, Process& process, memory::RegionSpec& spec) {
  if (session.copiers == nullptr) return 0;
  const bool is_new = !process.has_copier();
  memory::CopierMemory* const waiting = process.waiting_memory(*session.copiers);
  if (waiting == nullptr) {
    log::error("{} (pid {}) registers memory of a file, and no copier is free", process.program(),
               process.pid());
    return ENOMEM;
  }
  spec.memory = waiting;
  spec.access |= memory::access_placed_by_device;
  engine::Engine& engine = session.fabric.engine(session.device);
  if (is_new) engine.execute([&] { engine.expect_waiting_memory(waiting->answer_descriptor()); });
  return 0;
}

// An identifier is given again only after tens of thousands of others, so it is still the one of the segment
// that the program has attached.
void map_shared_file(const Session& session, const Process& process, const memory::RegionSpec& spec,
                     const AddressMap::FilePlace& place, RegionMemory& memory) {
  if (!session.fabric.maps_shared_memory()) return;
  const bool writable = needs_writable(spec.access);
  const memory::MappedRange range{place.offset, spec.address, spec.length};
  if (place.is_segment()) {
    if (shares_segment_identifiers(process.pid()))
      memory.own = memory::MappedMemory::map(place.segment(), range, writable, *process.memory());
    return;
  }
  const memory::Descriptor file = open_shared_file(process.pid(), place.file, writable);
  if (file) memory.own = memory::MappedMemory::map(file.get(), range, writable, *process.memory());
}

void map_pages(std::shared_ptr<SharedPages> pages, const Process& process, const memory::RegionSpec& spec,
               RegionMemory& memory) {
  memory.own = pages->map(spec.address, spec.length, *process.memory());
  if (memory.own != nullptr) memory.pages = std::move(pages);
}

// The region lies in one shared mapping. Not mapped here, if this process cannot do it.
void map_shared_memory(const Session& session, Process& process, const memory::RegionSpec& spec,
                       const AddressMap::FilePlace& place, RegionMemory& memory) {
  auto pages = process.sharing().find_pages(place);
  if (pages == nullptr) return map_shared_file(session, process, spec, place, memory);
  const bool is_in_its_place = place.offset == spec.address - pages->address();
  if (is_in_its_place) map_pages(std::move(pages), process, spec, memory);
}

bool may_share(Session& session) {
  switch (session.fabric.private_memory()) {
    case PrivateMemory::shared:
      return true;
    case PrivateMemory::shared_when_it_pays:
      return session.process->sharing().rule().shares(SharingRule::Clock::now());
    case PrivateMemory::copied:
      break;
  }
  return false;
}

void count(SharingCounters& counters, abi::Sharing outcome) {
  switch (outcome) {
    case abi::Sharing::shared:
      ++counters.shared;
      break;
    case abi::Sharing::refused_for_threads:
      ++counters.refused_for_threads;
      break;
    case abi::Sharing::refused_for_memory:
      ++counters.refused_for_memory;
      break;
    default:
      ++counters.refused_by_kernel;
      break;
  }
}

}  // namespace

bool is_on_demand(std::uint32_t access) { return (access & IBV_ACCESS_ON_DEMAND) != 0; }

bool is_implicit(const memory::RegionSpec& spec) {
  return is_on_demand(spec.access) && spec.address == 0 && spec.length == kWholeAddressSpace;
}

// On-demand memory is checked at each access, which works only if an access fails when the process itself
// could not make it.
int choose_memory(Session& session, Process& process, memory::RegionSpec& spec, RegionMemory& memory) {
  if (process.memory() == nullptr) {
    log::error("{} (pid {}) cannot register memory: {}", process.program(), process.pid(),
               process.memory_problem());
    return EPERM;
  }
  spec.memory = process.memory();
  const bool on_demand = is_on_demand(spec.access);
  if (on_demand && !process.memory()->heeds_page_protection()) return EOPNOTSUPP;
  std::optional<Process::Mapped> mapped = Process::Mapped{};
  if (!is_implicit(spec))
    mapped = process.look_at(spec.address, spec.length, needs_writable(spec.access), session.looking);
  if (!mapped) return kNotYet;
  if (!mapped->all && !on_demand) return EFAULT;
  memory.registered = MemorySharing::Registered(process.sharing(), spec.address, spec.length);
  if (!mapped->all || mapped->may_wait) return choose_waiting_memory(session, process, spec);
  if (on_demand) return 0;
  if (mapped->shared_file) map_shared_memory(session, process, spec, *mapped->shared_file, memory);
  if (memory.own != nullptr) spec.memory = memory.own.get();
  memory.may_be_shared = mapped->is_private_memory;
  return 0;
}

// The program gets no region yet: nothing reaches these pages while it exchanges them.
abi::PageRange offer_pages(Session& session, const memory::RegionSpec& spec, RegionMemory& memory,
                           DescriptorExchange& descriptors) {
  session.offer = {};
  memory.registered = {};
  if (!memory.may_be_shared || session.account == nullptr) return {};
  MemorySharing& sharing = session.process->sharing();
  const auto range = sharing.exchangeable(spec.address, spec.length);
  if (!range || !may_share(session)) return {};
  auto pages = sharing.make_pages(*range, *session.account);
  if (pages == nullptr) return {};
  descriptors.sent.push_back(pages->descriptor());
  session.offer = {pages, SharingRule::Clock::now()};
  return {pages->address(), pages->length()};
}

// A program that says so without having exchanged its pages loses its own data only.
abi::PageRange take_up_offer(Session& session, abi::Sharing outcome, memory::RegionSpec& spec,
                             RegionMemory& memory) {
  const PagesOffer offer = std::exchange(session.offer, {});
  if (offer.pages == nullptr) return {};
  session.process->sharing().rule().has_cost(SharingRule::Clock::now() - offer.made);
  count(session.fabric.sharing_counters(), outcome);
  if (outcome != abi::Sharing::shared) return {};
  if (memory.own == nullptr) map_pages(offer.pages, *session.process, spec, memory);
  if (memory.own == nullptr) return {offer.pages->address(), offer.pages->length()};
  spec.memory = memory.own.get();
  return {};
}

void install(RegionMemory memory, MemoryRegion& region) {
  region.buffer = std::move(memory.own);
  region.registered = std::move(memory.registered);
  region.pages = std::move(memory.pages);
}

abi::PageRange give_up_pages(Session& session, MemoryRegion& region, DescriptorExchange& descriptors) {
  const std::shared_ptr<SharedPages> pages = std::exchange(region.pages, nullptr);
  if (pages == nullptr) return {};
  const auto& mapped = static_cast<const memory::MappedMemory&>(*region.buffer);
  region.process->sharing().rule().ended(pages->length(), mapped.moved());
  region.buffer.reset();
  const bool is_last = pages.use_count() == 1;
  if (!is_last || region.process != session.process) return {};
  descriptors.sent.push_back(pages->descriptor());
  session.unneeded = pages;
  return {pages->address(), pages->length()};
}

}  // namespace urnic::control
