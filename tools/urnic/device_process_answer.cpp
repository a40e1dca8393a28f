#include "tools/urnic/device_process_answer.hpp"

#include "json/json.hpp"
#include "tools/urnic/admin_client.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/progress.hpp"

namespace urnic::cli {

nlohmann::json answer_of_device_process(const std::string& name, const nlohmann::json& request) {
  const Progress progress("waiting for the device process");
  return connect_or_fail(named_run_directory(name)).ask(request);
}

}  // namespace urnic::cli
