// announce_exec
#include <cerrno>

#include "device_model/control/uverbs/commands.hpp"
#include "device_model/engine/engine.hpp"

namespace urnic::control {

// Answers only when no copy that uses the process's PID is under way.
int announce_exec(Session& session, const abi::AnnounceExecRequest& request, abi::Empty&,
                  DescriptorExchange&) {
  if (request.begins > 1 || session.peer <= 0) return EINVAL;
  const bool begins = request.begins != 0;
  for (const auto& context : session.contexts.all()) {
    for (const auto& process : context->processes()) {
      if (process->pid() != session.peer || process->memory() == nullptr) continue;
      if (begins) process->end_copier();
      context->fabric.engine(context->device).execute([&] {
        process->memory()->keep_to_address_space(begins);
      });
    }
  }
  return 0;
}

}  // namespace urnic::control
