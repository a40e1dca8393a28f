// The receive WQEs of a responder: taken in order, filled by a SEND, completed once each (IBTA 9.7.4.1.7,
// 10.8.3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "device_model/transport/host.hpp"
#include "device_model/transport/shared_state.hpp"
#include "device_model/transport/tagged_receives.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::transport {

class ReceivePlacement {
 public:
  explicit ReceivePlacement(SharedState& shared) : shared_(shared) {}

  // Forgets all; the next WQE has index 0 (QP to reset).
  void reset();

  // Takes the next receive WQE, or keeps the one under way; false if none is posted.
  bool take();
  // On a tag-matching SRQ `take` never gives one (tag_matched_sends.cpp): the receive for a SEND whose first
  // packet has this payload, and what of it to place; or an ordinary one. Empty or false: there is none.
  std::optional<TaggedReceives::Taken> take_tagged(std::span<const std::byte> payload, bool whole);
  bool take_untagged();
  // Reports that the message under way was matched. It is completed later all the same.
  void announce_match();
  bool under_way() const { return under_way_; }
  bool malformed() const { return current_.malformed; }

  // Scatters the next `data` of a SEND. Anything but success is the status that the WQE has to complete with:
  // local_qp_operation_error, local_length_error or local_protection_error. `end`: last bytes of the message.
  WorkStatus place(std::span<const std::byte> data, bool end, wire::Psn psn);

  // Puts a SEND of one packet into its completion instead of memory, if the host has room there and it makes
  // no difference: every byte passes the checks of `place`, and peers have no right to any of them, so no
  // later READ, WRITE or atomic can miss them. False: nothing done, `place` it.
  bool leave_to_completion(std::span<const std::byte> data);

  // Bytes that `place` or `leave_to_completion` took for this WQE.
  std::uint64_t placed() const { return placed_; }

  // Bytes that the WQE under way has room for, those placed included.
  std::uint64_t length() const { return current_.length; }
  // The message under way was dropped: the next one fills the same WQE from its beginning.
  void rewind();

  // The queue of the WQE under way is gone, and the WQE with it: it never completes, and takes no data.
  void lose();

  // Completes the WQE under way; index, QPNs and receive are filled in here. The message came from `source`;
  // without one, from the peer of the connection.
  void complete(Completion completion);
  void complete(Completion completion, wire::Qpn source);
  // The same for an RDMA WRITE of `length` bytes whose last packet had these headers.
  void complete_write(std::uint32_t length, const wire::TransportHeaders& headers);
  void complete_in_error(WorkStatus status);

  // Completes the WQE under way and all posted ones with `flushed`. With an SRQ, completes only the WQE under
  // way, and raises last_wqe_reached once until the next reset; an XRC target raises no such event.
  void flush();

  // The host has discarded every completion from the WQE `first` on: makes them again, the first with
  // `status`, the others flushed.
  void complete_discarded(std::uint32_t first, WorkStatus status);

  // The first WQE that is not complete: for AccessTag::wqe_index.
  std::uint32_t first_incomplete() const { return under_way_ ? current_.index : next_index_; }

 private:
  void began();
  void emit_error(std::uint32_t index, WorkStatus status);
  void report_last();

  SharedState& shared_;
  ReceiveRequest current_;
  bool under_way_ = false;
  bool last_reported_ = false;
  std::uint32_t sge_ = 0;         // the SGE that the next byte goes to
  std::uint32_t sge_offset_ = 0;  // and where in it
  std::uint64_t placed_ = 0;
  std::span<const std::byte> in_completion_;  // what was left to the completion
  std::uint32_t next_index_ = 0;              // of the WQE that `take` gives next
};

}  // namespace urnic::transport
