#include "device_model/control/subnet_manager/subnet_manager.hpp"

#include <sys/epoll.h>

#include <chrono>

#include "device_model/control/log/log.hpp"
#include "device_model/subnet/manager/sweep.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

using Clock = std::chrono::steady_clock;

// A program that changes the fabric without end has sweeps follow each other. Between two are so many times
// the time of one.
constexpr int kPauses = 9;

ManagerChoice resolved(ManagerChoice choice, const ProgramParent* program) {
  if (choice == ManagerChoice::none) return choice;
  return program != nullptr ? ManagerChoice::opensm : ManagerChoice::built_in;
}

}  // namespace

SubnetManager::SubnetManager(EventLoop& loop, Fabric& fabric, ManagerChoice choice, ProgramParent* program)
    : loop_(loop),
      fabric_(fabric),
      choice_(resolved(choice, program)),
      program_(program),
      soon_(loop, [this] { sweep(); }) {
  fabric_.on_subnet_change([this] { look(); });
}

SubnetManager::~SubnetManager() { fabric_.on_subnet_change({}); }

void SubnetManager::start() {
  if (fabric_.subnet().nodes().empty() || choice_ == ManagerChoice::none) return;
  state_ = State::starting;
  if (program_ == nullptr) {
    state_ = State::running;
    log::info(
        "the built-in subnet manager gives out LIDs, writes routes and makes ports active; nobody answers "
        "queries of subnet administration (no path records, no multicast joins)");
    return sweep();
  }
  reports_ = ScopedWatch(loop_, program_->descriptor(), EPOLLIN | EPOLLRDHUP,
                         [this](std::uint32_t) { take_reports(); });
  program_->start();
}

void SubnetManager::take_reports() {
  using Kind = ProgramParent::Report::Kind;
  while (const auto report = program_->next_report()) {
    if (report->kind != Kind::running) return end(report->words);
    state_ = State::running;
    pid_ = report->pid;
    log::info("opensm (pid {}) manages the InfiniBand fabric; its log is in the folder opensm here", pid_);
  }
}

void SubnetManager::end(const std::string& why) {
  reports_.reset();
  state_ = State::ended;
  pid_ = 0;
  problem_ = why;
  log::error("opensm has ended ({}): ports stay as they are, and nobody acts on changes of the fabric", why);
}

void SubnetManager::look() {
  has_brought_up_ = has_brought_up_ || subnet::all_adapters_are_active(fabric_.subnet());
  if (choice_ != ManagerChoice::built_in || state_ != State::running || soon_.is_set()) return;
  const bool program_manages = fabric_.subnet().has_managing_program();
  if (!program_manages && (program_managed_ || fabric_has_changed())) soon_.set(kPauses * sweep_time_);
  program_managed_ = program_manages;
}

// What it writes changes the fabric, too, of which `look` is told once more.
void SubnetManager::sweep() {
  if (fabric_.subnet().has_managing_program()) return;
  const Clock::time_point begin = Clock::now();
  const subnet::SweepReport report = subnet::sweep(fabric_.subnet());
  sweep_time_ = Clock::now() - begin;
  remember_fabric();
  if (report.refused != refused_ && !report.refused.empty())
    log::error("the built-in subnet manager cannot write to {}: the fabric is not up there", report.refused);
  refused_ = report.refused;
  fabric_.subnet_changed();
}

bool SubnetManager::has_administration() const {
  return choice_ != ManagerChoice::built_in || fabric_.subnet().has_managing_program();
}

bool SubnetManager::fabric_has_changed() const {
  const subnet::Nodes& nodes = fabric_.subnet().nodes();
  if (nodes.size() != swept_.size()) return true;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].revision != swept_[i]) return true;
  return false;
}

void SubnetManager::remember_fabric() {
  swept_.clear();
  for (const subnet::Node& node : fabric_.subnet().nodes()) swept_.push_back(node.revision);
}

}  // namespace urnic::control
