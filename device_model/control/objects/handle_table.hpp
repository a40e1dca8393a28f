// A context's objects of one kind by handle. Handles are not reused soon, so that the handle of a destroyed
// object names nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace urnic::control {

template <class T>
class HandleTable {
 public:
  // Takes the object and returns its handle.
  std::uint32_t add(std::unique_ptr<T> object) {
    const std::uint32_t handle = new_handle();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  // A handle for an object to come.
  std::uint32_t new_handle() {
    while (next_ == 0 || objects_.contains(next_)) ++next_;
    return next_++;
  }
  // False: 2^32 objects later, the handle is another object's.
  bool add(std::uint32_t handle, std::unique_ptr<T> object) {
    return objects_.try_emplace(handle, std::move(object)).second;
  }

  // Null if no object has this handle.
  T* find(std::uint32_t handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second.get();
  }

  std::unique_ptr<T> take(std::uint32_t handle) {
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::unique_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  // Any objects, at most `most`.
  std::vector<std::unique_ptr<T>> take_some(std::size_t most) {
    std::vector<std::unique_ptr<T>> taken;
    taken.reserve(std::min(most, objects_.size()));
    while (taken.size() < most && !objects_.empty()) taken.push_back(take(objects_.begin()->first));
    return taken;
  }

  // Walks through the table in steps, each bounded, between which objects come and go.
  class Walk {
   public:
    bool at_end() const { return at_end_; }
    // The table has grown meanwhile and is walked through once more: handles come again.
    bool began_again() const { return began_again_; }

   private:
    friend HandleTable;
    std::size_t next_ = 0;
    std::size_t buckets_ = 0;
    bool at_end_ = false;
    bool began_again_ = false;
  };

  // Appends the handles in the next bucket. An object that is there all the time is found at least once.
  void step(Walk& walk, std::vector<std::uint32_t>& handles) const {
    if (walk.buckets_ != objects_.bucket_count()) {
      walk.began_again_ = walk.began_again_ || walk.next_ != 0;
      walk.next_ = 0;
      walk.buckets_ = objects_.bucket_count();
    }
    walk.at_end_ = walk.next_ == walk.buckets_;
    if (walk.at_end_) return;
    for (auto each = objects_.begin(walk.next_); each != objects_.end(walk.next_); ++each)
      handles.push_back(each->first);
    walk.at_end_ = ++walk.next_ == walk.buckets_;
  }

  std::size_t size() const { return objects_.size(); }
  bool empty() const { return objects_.empty(); }
  auto begin() const { return objects_.begin(); }
  auto end() const { return objects_.end(); }

 private:
  std::unordered_map<std::uint32_t, std::unique_ptr<T>> objects_;
  std::uint32_t next_ = 1;
};

// An object that joins a table, but is removed and destroyed again unless `keep` is called: its installation
// in the engine, which may throw, comes in between. After that nothing can fail that leaves it half
// installed.
template <class T>
class Joining {
 public:
  Joining(HandleTable<T>& table, std::unique_ptr<T> object)
      : table_(table), object_(object.get()), handle_(table.add(std::move(object))) {}
  ~Joining() {
    if (!kept_) table_.take(handle_);
  }
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  // Returns the object's handle.
  std::uint32_t keep() {
    kept_ = true;
    return handle_;
  }

 private:
  HandleTable<T>& table_;
  T* object_;
  std::uint32_t handle_;
  bool kept_ = false;
};

}  // namespace urnic::control
