// Verbs objects with owners.
#pragma once

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace urnic::apps {

// Destroying must succeed: a test that leaves an object in use, and a device that loses count of its uses,
// are both errors, and the end of the process is the one report that cannot be overlooked.
template <auto Destroy>
struct Destroyer {
  template <typename Object>
  void operator()(Object* object) const {
    const int error = Destroy(object);
    if (error == 0) return;
    fmt::print(stderr, "an object could not be destroyed: {}\n", std::strerror(error));
    std::abort();
  }
};

using ContextOwner = std::unique_ptr<ibv_context, Destroyer<ibv_close_device>>;
using PdOwner = std::unique_ptr<ibv_pd, Destroyer<ibv_dealloc_pd>>;
using MrOwner = std::unique_ptr<ibv_mr, Destroyer<ibv_dereg_mr>>;
using MwOwner = std::unique_ptr<ibv_mw, Destroyer<ibv_dealloc_mw>>;
using ChannelOwner = std::unique_ptr<ibv_comp_channel, Destroyer<ibv_destroy_comp_channel>>;
using CqOwner = std::unique_ptr<ibv_cq, Destroyer<ibv_destroy_cq>>;
using QpOwner = std::unique_ptr<ibv_qp, Destroyer<ibv_destroy_qp>>;

}  // namespace urnic::apps
