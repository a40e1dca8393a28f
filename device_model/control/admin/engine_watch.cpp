#include "device_model/control/admin/engine_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/loop/peer.hpp"
#include "device_model/control/objects/process.hpp"
#include "device_model/engine/engine.hpp"
#include "json/json.hpp"
#include "trust/peer.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// How long an accepted admin connection may take to send its request.
constexpr int kRequestPatience = 200;  // ms

std::string name_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return printable_name(name.c_str(), name.size());
}

json to_json(const StuckEngine& engine) {
  return {{"engine", engine.number}, {"devices", engine.devices}, {"seconds", engine.since.count()},
          {"pid", engine.pid},       {"program", engine.program}, {"what", sentence_about(engine)}};
}

}  // namespace

std::string sentence_about(const StuckEngine& engine) {
  std::string devices;
  for (const std::string& device : engine.devices) devices += (devices.empty() ? "" : ", ") + device;
  const std::string what =
      engine.pid != 0
          ? fmt::format(
                "it copies from or to the memory of {} (pid {}), which does not answer: end that program",
                engine.program.empty() ? "a program" : engine.program, engine.pid)
          : std::string("it does not copy from or to a program's memory: please report this");
  return fmt::format("the engine of {} has not moved for {} s: {}", devices, engine.since.count(), what);
}

EngineWatch::EngineWatch(const Fabric& fabric, DescriptorDisposal& disposal, const Options& options)
    : fabric_(fabric), disposal_(disposal), options_(options), looks_(fabric.units().size()), thread_([this] {
        run();
      }) {}

EngineWatch::~EngineWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void EngineWatch::stand_in(int admin_socket, int signals) {
  const std::lock_guard lock(mutex_);
  admin_socket_ = admin_socket;
  signals_ = signals;
}

void EngineWatch::expect_end() {
  const std::lock_guard lock(mutex_);
  if (!end_begun_) end_begun_ = Clock::now();
}

std::vector<StuckEngine> EngineWatch::stuck() const {
  const std::lock_guard lock(mutex_);
  return stuck_;
}

std::optional<json> EngineWatch::answer(const json& request) const {
  const std::vector<StuckEngine> engines = stuck();
  if (engines.empty()) return std::nullopt;
  const auto cmd = request.find("cmd");
  if (cmd != request.end() && *cmd == "down") return std::nullopt;
  if (cmd == request.end() || *cmd != "status") return json{{"error", sentence_about(engines.front())}};
  json stuck = json::array();
  for (const StuckEngine& engine : engines) stuck.push_back(to_json(engine));
  return json{{"version", URNIC_VERSION},
              {"pid", getpid()},
              {"engine", {{"threads", fabric_.engines()}, {"stuck", stuck}}},
              {"devices", json::array()},
              {"contexts", json::array()}};
}

void EngineWatch::run() {
  pthread_setname_np(pthread_self(), "urnic-watch");
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, options_.period, [this] { return stopping_; })) {
    lock.unlock();
    look_at_engines();
    look_at_signals();
    look_at_end();
    serve_admins();
    lock.lock();
  }
}

void EngineWatch::look_at_engines() {
  std::vector<StuckEngine> found;
  // An ending engine may also be stuck; it asks for no work any more then.
  const bool ending = [this] {
    const std::lock_guard lock(mutex_);
    return end_begun_.has_value();
  }();
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    const EngineUnit& unit = *fabric_.units()[i];
    Look& look = looks_[i];
    const std::uint64_t heartbeat = unit.engine.heartbeat();
    if (heartbeat != look.heartbeat || !(ending || unit.engine.has_to_move())) {
      if (look.reported) log::warn("engine {} moves again", unit.number);
      look = {heartbeat, 0, false, Clock::now()};
      continue;
    }
    if (++look.unchanged < options_.looks) continue;
    StuckEngine stuck{.number = unit.number,
                      .devices = {},
                      .since = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - look.since),
                      .pid = unit.engine.copying_with(),
                      .program = {}};
    for (const ServedDevice* device : unit.devices) stuck.devices.push_back(device->settings.name);
    if (stuck.pid != 0) stuck.program = name_of(stuck.pid);
    if (!look.reported) log::critical("{}", sentence_about(stuck));
    look.reported = true;
    found.push_back(std::move(stuck));
  }
  const std::lock_guard lock(mutex_);
  stuck_ = std::move(found);
}

// The control thread reads signals at once, unless it is stuck itself.
void EngineWatch::look_at_signals() {
  int signals = -1;
  {
    const std::lock_guard lock(mutex_);
    if (end_begun_) return;
    signals = signals_;
  }
  pollfd entry{signals, POLLIN, 0};
  const bool unread = signals >= 0 && poll(&entry, 1, 0) == 1;
  unread_signals_ = unread ? unread_signals_ + 1 : 0;
  if (unread_signals_ >= options_.looks) expect_end();
}

void EngineWatch::look_at_end() {
  {
    const std::lock_guard lock(mutex_);
    if (!end_begun_) return;
    const auto allowed = stuck_.empty() ? options_.longest_end : options_.stuck_end;
    if (Clock::now() - *end_begun_ < allowed) return;
  }
  const std::vector<StuckEngine> engines = stuck();
  if (options_.end_at_once)
    options_.end_at_once(engines.empty() ? "the control thread does not move"
                                         : sentence_about(engines.front()));
}

void EngineWatch::serve_admins() {
  int socket = -1;
  {
    const std::lock_guard lock(mutex_);
    if (stuck_.empty()) return;
    socket = admin_socket_;
  }
  if (socket < 0) return;
  for (int served = 0; served < 16; ++served) {
    memory::Descriptor connection(accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) return;
    serve(connection.get());
    disposal_.close(std::move(connection), 0);
  }
}

void EngineWatch::serve(int connection) {
  if (!trust::peer_is_own_user(connection)) return;
  std::array<char, 4096> bytes;
  pollfd entry{connection, POLLIN, 0};
  if (poll(&entry, 1, kRequestPatience) != 1) return;
  std::vector<memory::Descriptor> descriptors;
  int flags = 0;
  const ssize_t size =
      receive_bytes(connection, std::as_writable_bytes(std::span(bytes)), descriptors, flags);
  disposal_.close(descriptors, peer_number(connection));
  if (size <= 0) return;
  const json request = parse_json({bytes.data(), static_cast<std::size_t>(size)});
  const bool down = request.is_object() && request.contains("cmd") && request["cmd"] == "down";
  const json reply = down ? json{{"ok", true}}
                          : answer(request.is_object() ? request : json::object())
                                .value_or(json{{"error", "the engine was stuck: ask again"}});
  const std::string line = json_text(reply) + "\n";
  send(connection, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (down && options_.end_at_once) options_.end_at_once("'urnic down' while an engine is stuck");
}

}  // namespace urnic::control
