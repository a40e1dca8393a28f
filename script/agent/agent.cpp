#include "script/agent/agent.hpp"

#include <cerrno>
#include <exception>
#include <stdexcept>

#include "script/language/vocabulary.hpp"

namespace urnic::script {

// Queue pairs go before what they use.
Agent::~Agent() {
  queue_pairs_.clear();
  windows_.clear();
  shared_receives_.clear();
}

Answer Agent::call(const Call& call) {
  try {
    return carry_out(call);
  } catch (const std::out_of_range&) {
    return {.refusal = "ENOENT: the agent has no such object"};
  } catch (const std::exception& error) {
    return {.refusal = error.what()};
  }
}

bool Agent::is_known(const std::string& name) const {
  return regions_.contains(name) || windows_.contains(name) || address_handles_.contains(name) ||
         shared_receives_.contains(name) || queue_pairs_.contains(name);
}

Answer Agent::carry_out(const Call& call) {
  if (spec(call.verb).makes != ObjectKind::none && is_known(call.object)) refuse(EEXIST, call.object);
  switch (call.verb) {
    case Keyword::mr:
      return make_region(call);
    case Keyword::mw:
      return make_window(call);
    case Keyword::srq:
      return make_shared_receives(call);
    case Keyword::ah:
      return make_address_handle(call);
    case Keyword::qp:
      return make_queue_pair(call);
    case Keyword::modify:
      return modify(call);
    case Keyword::destroy:
      return destroy(call);
    case Keyword::post_send:
      return post_send(call);
    case Keyword::post_recv:
      return post_receive(call);
    case Keyword::send_completion:
    case Keyword::recv_completion:
      return poll_of(call);
    case Keyword::event:
      return next_event();
    case Keyword::arm:
      return arm(call);
    case Keyword::notified:
      return notified(call);
    case Keyword::fill:
      return write_memory(call);
    case Keyword::memory:
      return read_memory(call);
    default:
      return {.refusal = "EINVAL: this is no call"};
  }
}

}  // namespace urnic::script
