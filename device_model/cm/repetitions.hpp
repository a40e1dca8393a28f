// Messages that want an answer: sent again when it does not come in time (IBTA 12.9.8.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "device_model/cm/counters.hpp"
#include "device_model/cm/path.hpp"
#include "device_model/cm/sender.hpp"
#include "device_model/cm/timers.hpp"
#include "device_model/transport/time.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::cm {

// A message under way for a connection or SIDR request.
struct Outstanding {
  DeviceIndex device;
  GsiAddress to;
  Message kind{};
  wire::mad::Mad mad{};
  Nanoseconds wait{};  // for the answer, each time
  std::uint8_t repeats_left = 0;
};

class Repetitions {
 public:
  Repetitions(Sender& sender, Timers& timers) : sender_(sender), timers_(timers) {}

  // Sends the message now, and again after each `wait` without an answer. Replaces the id's message before.
  void begin(wire::mad::CommunicationId id, const Outstanding& message, Time now);
  // The answer will take longer: waits so long from now on, and after each later repetition.
  void postpone(wire::mad::CommunicationId id, Nanoseconds wait, Time now);
  // The answer has come, or nobody wants it any more.
  void end(wire::mad::CommunicationId id);

  enum class Due : std::uint8_t { none_under_way, sent_again, spent };
  // The id's timer has run out. `spent`: the last repetition has no answer, the message is forgotten.
  Due expire(wire::mad::CommunicationId id, Time now);

  std::size_t size() const { return messages_.size(); }

 private:
  Sender& sender_;
  Timers& timers_;
  std::map<wire::mad::CommunicationId, Outstanding> messages_;
};

}  // namespace urnic::cm
