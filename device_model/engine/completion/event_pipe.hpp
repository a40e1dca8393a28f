// A pipe of fixed-size event records to a program: a completion channel (8-byte records) or the asynchronous
// events of a context (16-byte records). Writing never blocks: records that do not fit are kept and retried.
//
// libibverbs lays down the records (ib_uverbs_comp_event_desc, ib_uverbs_async_event_desc). They name an
// object by its address in the program, which two processes that share a context after a fork may both use.
// So the device remembers the source of each record that it has written.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device_model/engine/completion/event_source.hpp"
#include "device_model/engine/completion/unread_sources.hpp"
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

  // Engine thread only. An 8-byte record is `element`; a 16-byte record is `element` and `type`.
  void push(std::uint32_t source, std::uint64_t element, std::uint32_t type = 0);
  // Retries the backlog. True if nothing is left.
  bool flush();
  bool has_backlog() const { return !backlog_.empty(); }
  // Removes the source's unread records from pipe and backlog; the others keep their order. Returns how many
  // of those told the program has read. If any were told, it reads and writes all that is in the pipe.
  std::uint32_t take_back(const EventsTold& told);
  // The pipe's inode number, which names it in the control protocol.
  std::uint64_t inode() const { return inode_; }
  // No program has the read end open.
  bool closed() const;

 private:
  struct Record {
    std::array<std::byte, 16> bytes;
    std::uint32_t source;
  };
  bool write_record(const Record& record);
  std::vector<Record> drain();
  std::size_t unread() const;

  memory::Descriptor write_end_;
  std::size_t record_size_;
  std::uint64_t inode_ = 0;
  UnreadSources written_;
  std::vector<Record> backlog_;
};

using EventPipeList = boost::intrusive::list<EventPipe, boost::intrusive::constant_time_size<false>>;

}  // namespace urnic::engine
