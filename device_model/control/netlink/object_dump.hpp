// Dumps of all objects of one kind that a device has, and searches for one of them, in portions: objects come
// and go between them, and a portion looks at few.
#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "device_model/control/netlink/request.hpp"
#include "device_model/control/objects/program_context.hpp"

namespace urnic::control::netlink {

// The attributes of a table of objects, and of an entry.
struct TableTypes {
  std::uint16_t table = 0;
  std::uint16_t entry = 0;
};

// The process that has made the context; a PID namespace may hide it.
inline void put_process(DatagramWriter& datagram, const Process* process) {
  if (process != nullptr && process->pid() > 0)
    datagram.put(RDMA_NLDEV_ATTR_RES_PID, static_cast<std::uint32_t>(process->pid()));
}
inline void put_process(DatagramWriter& datagram, const Context& context) {
  const auto processes = context.processes();
  put_process(datagram, processes.empty() ? nullptr : processes.front().get());
}

// `Kind` has
//   using Object;
//   static constexpr TableTypes kTypes;
//   static constexpr std::uint16_t kNumber;  the attribute that holds an object's number
//   static const HandleTable<Object>& table(const Context&);
//   static std::uint32_t number(const Object&);
//   void look(Fabric&, const Context&, std::span<const std::uint32_t> handles);
//     Called with each page before its objects are put.
//   bool put(DatagramWriter&, const Context&, const Object&, std::size_t place);
//     Puts the attributes of the object at that place in the page. False: the object is not to be listed.

// The handles of all objects of one kind that a device has, in pages, each of one context.
template <class Kind>
class ObjectWalk {
 public:
  ObjectWalk(const ContextRegistry& contexts, const ServedDevice& device) {
    for (const auto& context : contexts.in_service(device)) contexts_.push_back(context);
  }

  // Appends the next page, which may be empty, to `handles`, which is empty. A bounded amount of work.
  void next_page(std::vector<std::uint32_t>& handles) {
    for (std::size_t step = 0; step < kSteps && handles.size() < kPage; ++step) {
      const auto context = context_.lock();
      if (context != nullptr && !walk_.at_end()) {
        Kind::table(*context).step(walk_, handles);
      } else if (!handles.empty() || !go_to_next_context()) {
        return;
      }
    }
  }
  // Of the page; null: it has ended meanwhile, with its objects.
  std::shared_ptr<Context> context() const { return context_.lock(); }
  bool at_end() const { return at_end_; }
  // Handles come again.
  bool began_again() const { return walk_.began_again(); }

 private:
  using Table = HandleTable<typename Kind::Object>;
  static constexpr std::size_t kPage = 64;     // objects
  static constexpr std::size_t kSteps = 1024;  // buckets and contexts in a page

  // Contexts that share a table (ibv_import_device) count once.
  bool go_to_next_context() {
    at_end_ = contexts_.empty();
    if (at_end_) return false;
    const auto context = contexts_.back().lock();
    contexts_.pop_back();
    const bool is_new = context != nullptr && seen_.insert(&Kind::table(*context)).second;
    context_ = is_new ? context : nullptr;
    walk_ = {};
    return true;
  }

  std::vector<std::weak_ptr<Context>> contexts_;  // still to come
  std::unordered_set<const Table*> seen_;
  std::weak_ptr<Context> context_;
  typename Table::Walk walk_;
  bool at_end_ = false;
};

template <class Kind>
class ObjectDump final : public Dump {
 public:
  ObjectDump(const Subjects& subjects, const ServedDevice& device, const Request& request, Kind kind = {})
      : fabric_(subjects.fabric),
        device_(device),
        type_(request.type),
        question_(request.question),
        kind_(std::move(kind)),
        walk_(subjects.contexts, device) {}

  bool write(DatagramWriter& datagram) override {
    if (page_.empty()) walk_.next_page(page_);
    if (const auto context = walk_.context())
      put_page(datagram, *context);
    else
      page_.clear();
    return !page_.empty() || !walk_.at_end();
  }

 private:
  // As many entries as fit; those that do not stay for the next portion.
  void put_page(DatagramWriter& datagram, const Context& context) {
    if (page_.empty()) return;
    kind_.look(fabric_, context, page_);
    const auto flags = static_cast<std::uint16_t>(NLM_F_MULTI | (walk_.began_again() ? NLM_F_DUMP_INTR : 0));
    const auto message = datagram.begin_message(question_, type_, flags);
    put_device_name(datagram, device_);
    const auto table = datagram.begin_table(Kind::kTypes.table);
    const auto first = datagram.place();
    std::size_t done = 0;
    while (done < page_.size() && put_entry(datagram, context, done)) ++done;
    page_.erase(page_.begin(), page_.begin() + static_cast<std::ptrdiff_t>(done));
    if (datagram.place() == first) return datagram.cut_back(message);
    datagram.end_table(table);
    datagram.end_message(message);
  }

  // False: there is no room.
  bool put_entry(DatagramWriter& datagram, const Context& context, std::size_t place) {
    const auto* const object = Kind::table(context).find(page_[place]);
    if (object == nullptr) return true;
    const auto entry = datagram.begin_table(Kind::kTypes.entry);
    const bool is_listed = kind_.put(datagram, context, *object, place);
    const bool has_room = datagram.fits();
    if (is_listed && has_room)
      datagram.end_table(entry);
    else
      datagram.cut_back(entry);
    return has_room;
  }

  Fabric& fabric_;
  const ServedDevice& device_;
  const std::uint16_t type_;
  const Question question_;
  Kind kind_;
  ObjectWalk<Kind> walk_;
  std::vector<std::uint32_t> page_;  // handles
};

// One object by its number, in a message of its own.
template <class Kind>
class ObjectSearch final : public Dump {
 public:
  ObjectSearch(const Subjects& subjects, const ServedDevice& device, const Request& request,
               std::uint32_t number, Kind kind = {})
      : fabric_(subjects.fabric),
        device_(device),
        type_(request.type),
        question_(request.question),
        number_(number),
        kind_(std::move(kind)),
        walk_(subjects.contexts, device) {}

  bool write(DatagramWriter& datagram) override {
    std::vector<std::uint32_t> page;
    walk_.next_page(page);
    if (const auto context = walk_.context()) {
      for (const std::uint32_t handle : page) {
        const auto* const object = Kind::table(*context).find(handle);
        if (object == nullptr || Kind::number(*object) != number_) continue;
        put(datagram, *context, *object, handle);
        return false;
      }
    }
    return !walk_.at_end();
  }
  std::optional<int> result() const override { return found_ ? 0 : ENOENT; }

 private:
  void put(DatagramWriter& datagram, const Context& context, const typename Kind::Object& object,
           std::uint32_t handle) {
    kind_.look(fabric_, context, std::span(&handle, 1));
    const auto message = datagram.begin_message(question_, type_, 0);
    put_device_name(datagram, device_);
    found_ = kind_.put(datagram, context, object, 0);
    if (found_)
      datagram.end_message(message);
    else
      datagram.cut_back(message);
  }

  Fabric& fabric_;
  const ServedDevice& device_;
  const std::uint16_t type_;
  const Question question_;
  const std::uint32_t number_;
  Kind kind_;
  ObjectWalk<Kind> walk_;
  bool found_ = false;
};

}  // namespace urnic::control::netlink
