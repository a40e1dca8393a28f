// A pipe of fixed-size event records to a program: a completion channel (8-byte records) or the asynchronous
// events of a context (16-byte records). The writer never blocks: what does not fit is kept and tried again.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::engine {

// The hook is for the data path's list of pipes that have a backlog.
class EventPipe
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  // `record` is 8 or 16. The write end is opened anew, so that its flags are our own and a program cannot
  // make it block; the descriptors given are closed. Throws std::system_error, also when they are not the two
  // ends of one pipe.
  EventPipe(memory::Descriptor read_end, memory::Descriptor write_end, std::size_t record);

  // Engine thread only. An 8-byte record is `element` alone; a 16-byte one is followed by `type` and a zero.
  void push(std::uint64_t element, std::uint32_t type = 0);
  // Tries to write what did not fit. True if nothing is left over.
  bool flush();
  bool has_backlog() const { return !backlog_.empty(); }
  // Takes out all unread records of `element`, in the pipe and not; returns how many. The others stay in
  // order.
  std::uint32_t purge(std::uint64_t element);
  // The pipe's inode number, its name in the control protocol.
  std::uint64_t inode() const { return inode_; }
  // No program has the read end open any more.
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
