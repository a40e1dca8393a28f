#include "provider/plugin/connection/death_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "provider/freestanding/file_status.hpp"
#include "provider/old_symbol_versions.hpp"
#include "provider/plugin/connection/device_death.hpp"
#include "provider/shared_pages/other_threads.hpp"

namespace urnic::provider {
namespace {

// `lock` guards all members. A watching thread ends when `generation` is no longer its own.
struct Watch {
  Mutex lock;
  ObjectList<Context> contexts;
  std::uint64_t generation = 0;
  bool running = false;
  int wake_reader = -1;
  int wake_writer = -1;
  ino_t wake_inode = 0;
};
Watch watch;

// The descriptors that the thread polls. Used by that thread only.
struct PollSet {
  pollfd* entries = nullptr;
  std::size_t count = 0;
  std::size_t capacity = 0;

  bool add(int descriptor, short events) {
    if (count == capacity) {
      const std::size_t wanted = capacity == 0 ? 8 : 2 * capacity;
      auto* grown = static_cast<pollfd*>(std::realloc(entries, wanted * sizeof(pollfd)));
      if (grown == nullptr) return false;
      entries = grown;
      capacity = wanted;
    }
    entries[count++] = {descriptor, events, 0};
    return true;
  }
};

// The program may have closed all descriptors; the number may then be that of another file.
bool wake_pipe_is_ours() {
  struct stat status {};
  return watch.wake_writer >= 0 && file_status(watch.wake_writer, status) == 0 && S_ISFIFO(status.st_mode) &&
         status.st_ino == watch.wake_inode;
}

void close_wake_pipe() {
  if (wake_pipe_is_ours()) {
    close(watch.wake_reader);
    close(watch.wake_writer);
  }
  watch.wake_reader = watch.wake_writer = -1;
}

bool open_wake_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  struct stat status {};
  file_status(ends[1], status);
  watch.wake_reader = ends[0];
  watch.wake_writer = ends[1];
  watch.wake_inode = status.st_ino;
  return true;
}

// Under the lock. False: there is nothing to watch, and the thread ends.
bool collect(PollSet& set) {
  set.count = 0;
  if (!set.add(watch.wake_reader, POLLIN)) return false;
  bool any = false;
  for (Context* context = watch.contexts.first(); context != nullptr; context = context->next) {
    if (is_dead(*context)) continue;
    // With no events requested, poll reports hang-ups, but not a reply that another thread waits for.
    any = set.add(context->control.socket(), 0) || any;
  }
  return any;
}

// Under the lock, so that no context is freed meanwhile. A closed descriptor counts as death: without the
// connection the device has destroyed the context's objects.
void declare_the_dead() {
  for (Context* context = watch.contexts.first(); context != nullptr; context = context->next) {
    if (is_dead(*context)) continue;
    pollfd entry{context->control.socket(), 0, 0};
    if (poll(&entry, 1, 0) > 0 && (entry.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
      declare_dead(*context);
    }
  }
}

void drain_wake_pipe() {
  char bytes[64];
  while (read(watch.wake_reader, bytes, sizeof bytes) > 0) {
  }
}

void* run(void* argument) {
  const auto generation = reinterpret_cast<std::uintptr_t>(argument);
  PollSet set;
  for (;;) {
    {
      Lock lock(watch.lock);
      if (watch.generation != generation) break;
      if (!collect(set)) {
        watch.running = false;
        close_wake_pipe();
        break;
      }
    }
    poll(set.entries, set.count, -1);
    Lock lock(watch.lock);
    if (watch.generation != generation) break;
    if (set.entries[0].revents != 0) drain_wake_pipe();
    declare_the_dead();
  }
  std::free(set.entries);
  return nullptr;
}

// Blocks all signals in the new thread: the application's threads handle the application's signals.
bool create_thread(std::uint64_t generation) {
  constexpr std::size_t kStackSize = 128 * 1024;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackSize);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run, reinterpret_cast<void*>(generation));
  if (error == 0) pthread_setname_np(thread, "urnic-watch");
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error == 0;
}

// Under the lock. Makes the thread read the list again; starts a thread if there is none or its pipe is gone.
void wake_or_start() {
  if (watch.running && wake_pipe_is_ours()) {
    const char byte = 0;
    [[maybe_unused]] ssize_t written = write(watch.wake_writer, &byte, 1);  // fails if full: awake already
    return;
  }
  close_wake_pipe();
  if (!open_wake_pipe()) return;
  watch.running = create_thread(++watch.generation);
}

void before_fork() { watch.lock.lock(); }
void after_fork_in_parent() { watch.lock.unlock(); }

// The child has neither the watching thread nor the threads that may hold the contexts' locks.
void after_fork_in_child() {
  for (Context* context = watch.contexts.first(); context != nullptr;) {
    Context* following = context->next;
    watch.contexts.remove(*context);
    context->watched = false;
    context->control_lock.renew();
    context->objects_lock.renew();
    context = following;
  }
  close_wake_pipe();
  watch.running = false;
  ++watch.generation;
  watch.lock.renew();
}

bool watch_runs() {
  Lock lock(watch.lock);
  return watch.running;
}

void prepare() {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  tell_of_own_thread(&watch_runs);
}

}  // namespace

void watch_for_death(Context& context) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
  Lock lock(watch.lock);
  watch.contexts.add(context);
  context.watched = true;
  wake_or_start();
}

void stop_watching(Context& context) {
  Lock lock(watch.lock);
  if (!context.watched) return;
  watch.contexts.remove(context);
  context.watched = false;
  if (watch.running) wake_or_start();
}

}  // namespace urnic::provider
