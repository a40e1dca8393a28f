// Fixed amounts of work for two devices and an engine without a thread, under virtual time: the same
// instructions at every run.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tests/unit/engine/program.hpp"

namespace urnic::perf {

// Messages come in batches: a batch is posted and then worked off, which is what is measured.
class Workload {
 public:
  virtual ~Workload() = default;

  virtual void post() = 0;
  // Takes the completions of what was posted; false if one is missing or tells of an error.
  virtual bool take_completions() = 0;
  // Once everything is done: every byte has arrived.
  virtual bool arrived() const = 0;

  // Messages of a batch, and how many batches count. One more runs before, so that pages are touched and
  // lists have grown.
  std::uint32_t messages = 0;
  std::uint32_t batches = 0;
  engine::test::Fabric fabric;
};

// Null if no workload has this name.
std::unique_ptr<Workload> make_workload(std::string_view name);

}  // namespace urnic::perf
