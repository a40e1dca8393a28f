#include "device_model/memory/waiting_memory.hpp"

#include "device_model/memory/transfer_groups.hpp"

namespace urnic::memory {

void WaitingMemory::read(std::span<Transfer> batch) { fail_all(batch); }

void WaitingMemory::write(std::span<Transfer> batch) { fail_all(batch); }

}  // namespace urnic::memory
