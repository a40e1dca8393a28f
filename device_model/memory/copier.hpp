// A copier's work: it copies from and to the memory of one program for the device process, and blocks in its
// place (waiting_memory.hpp).
#pragma once

#include "device_model/memory/copier_memory.hpp"
#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

// Carries out one job of `page`.
void copy(CopierPage& page, ApplicationMemory& memory);

// Carries out jobs until this process is killed or an eventfd of `descriptors` fails. Throws
// std::system_error if the page cannot be mapped.
void run_copier(const CopierDescriptors& descriptors, ApplicationMemory& memory);

}  // namespace urnic::memory
