// The receive queue of a QP on a tag-matching SRQ: a message gets a tagged buffer or an ordinary receive by
// its first bytes. So a receive is taken with the first packet at hand, and `next` never gives one. The host
// matches tags, for all QPs of the SRQ together.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "device_model/transport/work_request.hpp"

namespace urnic::transport {

class TaggedReceives : public ReceiveQueue {
 public:
  struct Taken {
    std::span<const std::byte> data;  // what is to be placed of the first packet
    bool announce = false;            // the match is to be reported before the rest of the message is here
  };

  bool next(ReceiveRequest&) final { return false; }

  // Fills `request` for the message whose first packet has this payload; `whole`: there is no other packet.
  // `reads`: the QP may read what a rendezvous offers. Empty: the message finds no room, nothing was done.
  virtual std::optional<Taken> take(std::span<const std::byte> payload, bool whole, bool reads,
                                    ReceiveRequest& request) = 0;
  // An ordinary receive, for requests other than SEND. False: there is none.
  virtual bool take_untagged(ReceiveRequest& request) = 0;

 protected:
  ~TaggedReceives() = default;
};

}  // namespace urnic::transport
