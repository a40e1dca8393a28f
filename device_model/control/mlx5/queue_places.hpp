// Where queues lie that libmlx5 has made: memory of the program, as the commands that make the queues name
// it.
#pragma once

#include <memory>
#include <vector>

#include "device_model/control/objects/queue_pages.hpp"
#include "device_model/control/objects/queue_place.hpp"
#include "device_model/engine/doorbells/uar_pages.hpp"
#include "device_model/engine/mlx5_rings/queue_pair_rings.hpp"

namespace urnic::control::mlx5 {

// Of a CQ or an SRQ.
struct ProgramPlace final : QueuePlace {
  std::vector<HeldPages> pages;
};

struct QueuePairPlace final : QueuePlace {
  std::vector<HeldPages> pages;
  std::shared_ptr<engine::mlx5::QueuePairRings> rings;
  // Of the send queue; none without one. With a page of its own the program chooses a register there itself.
  std::vector<engine::UarRegister> doorbells;
};

}  // namespace urnic::control::mlx5
