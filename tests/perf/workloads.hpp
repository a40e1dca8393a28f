// Fixed amounts of work for two devices and an engine without a thread, under virtual time: the same
// instructions in every run.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tests/unit/engine/program.hpp"

namespace urnic::perf {

// Messages come in batches. A batch is posted and then worked off; the working off is measured.
class Workload {
 public:
  virtual ~Workload() = default;

  virtual void post() = 0;
  // Takes the completions of what was posted; false if one is missing or reports an error.
  virtual bool take_completions() = 0;
  // At the end: true if every byte has arrived.
  virtual bool arrived() const = 0;

  // Messages of a batch, and the number of counted batches. One more batch runs before, so that pages are
  // touched and lists have grown.
  std::uint32_t messages = 0;
  std::uint32_t batches = 0;
  engine::test::Fabric fabric;
};

// Null if no workload has this name.
std::unique_ptr<Workload> make_workload(std::string_view name);

}  // namespace urnic::perf
