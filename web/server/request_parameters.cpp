#include "web/server/request_parameters.hpp"

#include <charconv>
#include <string>

#include "web/server/actions.hpp"

namespace urnic::web {

std::uint64_t number_in(const WebRequest& request, const char* parameter) {
  const std::string text = request.parameter(parameter);
  std::uint64_t number = 0;
  const auto [behind, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || behind != text.data() + text.size())
    throw WrongAction(std::string(parameter) + " must be a number");
  return number;
}

QueuePairName queue_pair_in(const WebRequest& request) {
  const auto name = parse_queue_pair_name(request.parameter("queue_pair"));
  if (!name) throw WrongAction("queue_pair must be a queue pair such as urnic0/17");
  return *name;
}

}  // namespace urnic::web
