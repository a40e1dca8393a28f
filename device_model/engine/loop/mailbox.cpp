#include "device_model/engine/loop/mailbox.hpp"

#include <utility>

namespace urnic::engine {

void Mailbox::post(Letter& letter) {
  const std::lock_guard lock(mutex_);
  letters_.push_back(&letter);
  // Sequentially consistent: ordered with the engine's going to sleep, like a doorbell.
  has_tasks_.store(true);
}

void Mailbox::wait(Letter& letter) {
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [&] { return letter.done_; });
  if (letter.exception_) std::rethrow_exception(letter.exception_);
}

std::vector<Mailbox::Letter*> Mailbox::take() {
  const std::lock_guard lock(mutex_);
  has_tasks_.store(false);
  return std::exchange(letters_, {});
}

void Mailbox::answer(Letter& letter) {
  {
    const std::lock_guard lock(mutex_);
    letter.done_ = true;
  }
  // Unlocked: the waiting thread takes the mutex as soon as it wakes.
  answered_.notify_all();
}

}  // namespace urnic::engine
