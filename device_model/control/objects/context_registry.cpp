#include "device_model/control/objects/context_registry.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "device_model/control/objects/program_context.hpp"

namespace urnic::control {
namespace {

// In constant time, which does not reveal how many bytes match.
bool same(const abi::ContextToken& a, const abi::ContextToken& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < sizeof a.bytes; ++i) difference |= a.bytes[i] ^ b.bytes[i];
  return difference == 0;
}

}  // namespace

void ContextRegistry::add(const std::shared_ptr<Context>& context) {
  std::erase_if(contexts_, [](const auto& known) { return known.expired(); });
  contexts_.push_back(context);
}

std::shared_ptr<Context> ContextRegistry::find(const abi::ContextToken& token) const {
  for (const auto& known : contexts_) {
    auto context = known.lock();
    if (context != nullptr && !context->ending && same(context->token, token)) return context;
  }
  return nullptr;
}

std::vector<std::shared_ptr<Context>> ContextRegistry::all() const {
  std::vector<std::shared_ptr<Context>> alive;
  for (const auto& known : contexts_) {
    if (auto context = known.lock()) alive.push_back(std::move(context));
  }
  return alive;
}

std::vector<std::shared_ptr<Context>> ContextRegistry::in_service(const ServedDevice& device) const {
  auto contexts = all();
  std::erase_if(contexts,
                [&](const auto& context) { return &context->device != &device || context->ending; });
  return contexts;
}

bool ContextRegistry::empty() const {
  return std::all_of(contexts_.begin(), contexts_.end(), [](const auto& known) { return known.expired(); });
}

abi::ContextToken make_token() {
  abi::ContextToken token;
  if (getrandom(token.bytes, sizeof token.bytes, 0) != sizeof token.bytes) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return token;
}

}  // namespace urnic::control
