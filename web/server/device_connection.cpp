#include "web/server/device_connection.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace urnic::web {

cli::AdminClient DeviceConnection::connect() const {
  std::optional<cli::AdminClient> client = cli::AdminClient::connect(run_directory_);
  if (!client) throw NoDeviceProcess(fmt::format("no device process runs in {}", run_directory_.string()));
  return std::move(*client);
}

// A connection that failed in between is not used again: an answer that comes late would be taken for the
// next one's.
nlohmann::json DeviceConnection::ask(const nlohmann::json& request) {
  const std::lock_guard lock(one_at_a_time_);
  const bool had_one = client_.has_value();
  if (!had_one) client_.emplace(connect());
  try {
    return client_->ask(request);
  } catch (const cli::RequestRefused&) {
    throw;
  } catch (const cli::Failure&) {
    client_.reset();
    if (!had_one) throw;
  }
  client_.emplace(connect());
  try {
    return client_->ask(request);
  } catch (const cli::RequestRefused&) {
    throw;
  } catch (const cli::Failure&) {
    client_.reset();
    throw;
  }
}

}  // namespace urnic::web
