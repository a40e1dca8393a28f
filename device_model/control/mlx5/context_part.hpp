// What the mlx5 face keeps with a context, beside the objects that all faces have.
#pragma once

#include "device_model/control/mlx5/uar_pages.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "device_model/control/objects/queue_pages.hpp"

namespace urnic::control::mlx5 {

struct ContextPart : FacePart {
  ContextPart(Context& context, UarPages pages) : uars(std::move(pages)), queue_pages(context.arenas) {}

  UarPages uars;
  QueuePages queue_pages;
};

// Null: the context was opened by way of another face.
inline ContextPart* part_of(const Context& context) { return dynamic_cast<ContextPart*>(context.face.get()); }

}  // namespace urnic::control::mlx5
