#include "device_model/control/loop/descriptor_disposal.hpp"

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

namespace urnic::control {
namespace {

using Clock = std::chrono::steady_clock;

// How long an idle thread waits for more work before it ends.
constexpr std::chrono::seconds kIdle{1};

}  // namespace

struct DescriptorDisposal::State {
  struct Sender {
    std::deque<memory::Descriptor> waiting;
    std::size_t closing = 0;
    Clock::time_point closed = Clock::now();  // the last close, or the first arrival

    std::size_t open() const { return waiting.size() + closing; }
  };
  using Senders = std::map<pid_t, Sender>;

  // The next sender, in turn, with something to close and a free thread of its share.
  Senders::iterator next() {
    auto sender = senders.upper_bound(last);
    for (std::size_t looked = 0; looked < senders.size(); ++looked, ++sender) {
      if (sender == senders.end()) sender = senders.begin();
      if (!sender->second.waiting.empty() && sender->second.closing < kThreadsPerSender) return sender;
    }
    return senders.end();
  }

  // Releases the lock during the close.
  void close_one(Senders::iterator sender, std::unique_lock<std::mutex>& lock) {
    last = sender->first;
    memory::Descriptor descriptor = std::move(sender->second.waiting.front());
    sender->second.waiting.pop_front();
    ++sender->second.closing;
    lock.unlock();
    descriptor.reset();
    lock.lock();
    --sender->second.closing;
    sender->second.closed = Clock::now();
    if (sender->second.open() == 0) senders.erase(sender);
  }

  void run() {
    pthread_setname_np(pthread_self(), "urnic-disposal");
    std::unique_lock lock(mutex);
    for (;;) {
      if (const auto sender = next(); sender != senders.end()) {
        close_one(sender, lock);
        continue;
      }
      if (ending) break;
      ++idle;
      const bool called = work.wait_for(lock, kIdle) == std::cv_status::no_timeout;
      --idle;
      if (!called && next() == senders.end()) break;
    }
    --threads;
  }

  mutable std::mutex mutex;
  std::condition_variable work;
  Senders senders;
  pid_t last = 0;  // the sender whose descriptor was closed last
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool ending = false;
};

DescriptorDisposal::DescriptorDisposal() : state_(std::make_shared<State>()) {}

DescriptorDisposal::~DescriptorDisposal() {
  const std::lock_guard lock(state_->mutex);
  state_->ending = true;
  state_->work.notify_all();
}

void DescriptorDisposal::close(memory::Descriptor descriptor, pid_t sender) {
  if (!descriptor) return;
  const std::lock_guard lock(state_->mutex);
  state_->senders[sender].waiting.push_back(std::move(descriptor));
  if (state_->idle > 0) return state_->work.notify_one();
  if (state_->threads == kThreads) return;
  try {
    std::thread([state = state_] { state->run(); }).detach();
    ++state_->threads;
  } catch (const std::system_error&) {
    // No new thread is possible: a running one, or one for a later descriptor, closes this.
  }
}

void DescriptorDisposal::close(std::vector<memory::Descriptor>& descriptors, pid_t sender) {
  for (memory::Descriptor& descriptor : descriptors) close(std::move(descriptor), sender);
  descriptors.clear();
}

bool DescriptorDisposal::refuses(pid_t sender) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->senders.find(sender);
  if (found == state_->senders.end()) return false;
  const State::Sender& state = found->second;
  return state.open() >= kMost || (state.open() >= kMany && Clock::now() - state.closed > kPatience);
}

std::size_t DescriptorDisposal::open() const {
  const std::lock_guard lock(state_->mutex);
  std::size_t count = 0;
  for (const auto& [pid, sender] : state_->senders) count += sender.open();
  return count;
}

}  // namespace urnic::control
