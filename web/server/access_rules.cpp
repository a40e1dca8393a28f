#include "web/server/access_rules.hpp"

#include <algorithm>

#include "trust/access_token.hpp"

namespace urnic::web {

AccessRules::AccessRules(std::string token, std::vector<std::string> hosts)
    : token_(std::move(token)), hosts_(std::move(hosts)) {}

bool AccessRules::is_ours(std::string_view host) const {
  return std::find(hosts_.begin(), hosts_.end(), host) != hosts_.end();
}

std::optional<AccessRefusal> AccessRules::refuses(const RequestHead& head) const {
  if (!is_ours(head.host)) {
    return AccessRefusal{
        421,
        "This server does not answer to the name in the address. Use the address that 'urnic web' has "
        "printed, or name the host with --host."};
  }
  constexpr std::string_view kScheme = "http://";
  const std::string_view origin = head.origin;
  const bool own = origin.substr(0, kScheme.size()) == kScheme && is_ours(origin.substr(kScheme.size()));
  if (!origin.empty() && !own) return AccessRefusal{403, "Pages of other sites may not use this server."};
  return {};
}

std::optional<AccessRefusal> AccessRules::refuses_without_token(const RequestHead& head) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given = head.authorization;
  if (given.substr(0, kBearer.size()) == kBearer && trust::same_token(given.substr(kBearer.size()), token_))
    return {};
  return AccessRefusal{401, "The token is missing or wrong: open the address that 'urnic web' has printed."};
}

}  // namespace urnic::web
