// A pipe of fixed-size event records to a program: a completion channel (8-byte records) or the asynchronous
// events of a context (16-byte records). Writing never blocks: records that do not fit are kept and retried.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::engine {

// The hook is for the data path's list of pipes with a backlog.
class EventPipe
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  // `record` is 8 or 16. Opens the write end anew, so that its flags are the device's own and a program
  // cannot make it block; closes the given descriptors. Throws std::system_error, also if the descriptors are
  // not the two ends of one pipe.
  EventPipe(memory::Descriptor read_end, memory::Descriptor write_end, std::size_t record);

  // Engine thread only. An 8-byte record is `element`; a 16-byte record is `element`, `type`, and the number
  // of the source where libibverbs looks at nothing (ib_uverbs_async_event_desc.reserved).
  void push(std::uint64_t element, std::uint32_t type = 0, std::uint32_t source = 0);
  // Retries the backlog. True if nothing is left.
  bool flush();
  bool has_backlog() const { return !backlog_.empty(); }
  // Removes unread records of `element`, and of the source where they say it, from pipe and backlog: `most`
  // at most. Keeps the order of the others. Returns how many.
  std::uint32_t purge(std::uint64_t element, std::uint32_t source, std::uint32_t most);
  // The pipe's inode number, which names it in the control protocol.
  std::uint64_t inode() const { return inode_; }
  // No program has the read end open.
  bool closed() const;

 private:
  using Record = std::array<std::byte, 16>;
  bool write_record(const Record& record);
  std::vector<Record> drain() const;

  memory::Descriptor write_end_;
  std::size_t record_size_;
  std::uint64_t inode_ = 0;
  std::vector<Record> backlog_;
};

using EventPipeList = boost::intrusive::list<EventPipe, boost::intrusive::constant_time_size<false>>;

}  // namespace urnic::engine
