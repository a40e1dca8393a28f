// Why a command of `urnic run` may have failed, as far as urnic can see: a program says only that it did.
#pragma once

#include <cstdint>
#include <string>

#include "tools/urnic/admin_client.hpp"

namespace urnic::cli {

// What has been seen of programs so far.
struct SeenSoFar {
  std::uint64_t contexts_opened = 0;
  std::uint64_t lookups = 0;       // of devices, by libibverbs
  std::uint64_t refusals = 0;      // of what went beyond a program's share
  std::string last_refused;        // a resource, as in docs/configuration.md
  std::uint64_t memory_kills = 0;  // of this control group's processes, when its memory was full
};

// Takes the lease on the device process, or keeps it. Throws Failure.
SeenSoFar take_lease(AdminClient& client);

// One sentence without its subject, such as "had opened no RDMA device"; empty if urnic knows nothing.
// `status` is waitpid's.
std::string why_it_failed(const std::string& command, int status, const SeenSoFar& before,
                          const SeenSoFar& after);

}  // namespace urnic::cli
