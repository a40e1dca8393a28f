#include "device_model/in_process/context_end.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

namespace urnic::in_process {
namespace {

memory::Descriptor make_eventfd() {
  memory::Descriptor made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made) throw std::system_error(errno, std::generic_category(), "eventfd");
  return made;
}

}  // namespace

ContextEnd::ContextEnd(engine::Device& on)
    : device(on),
      wake(make_eventfd()),
      doorbells(std::make_unique<abi::Doorbells>()),
      doorbell_set(*doorbells, wake.get()) {}

}  // namespace urnic::in_process
