// A mutex for objects that an application's threads share, and its guard.
#pragma once

#include <pthread.h>

namespace urnic::provider {

class Mutex {
 public:
  void lock() {
    if (shared_) pthread_mutex_lock(&mutex_);
  }
  void unlock() {
    if (shared_) pthread_mutex_unlock(&mutex_);
  }

  // Makes lock() and unlock() do nothing: the program has promised that one thread at a time uses the guarded
  // object. Call before the first lock().
  void leave_out() { shared_ = false; }

  // Unlocks the mutex. Only for a child after fork, where the thread that held it does not exist.
  void renew() { mutex_ = PTHREAD_MUTEX_INITIALIZER; }

 private:
  bool shared_ = true;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace urnic::provider
