#include "device_model/control/log/logging.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace urnic::control {
namespace {

// A program that makes only errors must not fill the disk with log lines.
constexpr std::size_t kLargestLog = 8 << 20;
constexpr std::size_t kOlderLogs = 1;

std::atomic<bool> problem_logged{false};

class ProblemWatch final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (message.level >= spdlog::level::warn) problem_logged = true;
  }
  void flush_() override {}
};

}  // namespace

void start_logging(const std::filesystem::path& file, const std::string& level, bool foreground) {
  std::vector<spdlog::sink_ptr> sinks{
      std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(), kLargestLog, kOlderLogs),
      std::make_shared<ProblemWatch>(),
  };
  if (foreground) sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  auto logger = std::make_shared<spdlog::logger>("urnicd", sinks.begin(), sinks.end());
  logger->set_level(spdlog::level::from_str(level));
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v");
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

bool has_logged_a_problem() { return problem_logged; }

}  // namespace urnic::control
