// A participant of rounds (a queue pair): its places in the round's lists.
#pragma once

#include <boost/intrusive/list.hpp>

#include "device_model/transport/time.hpp"

namespace urnic::engine {

// Unlinks itself when the participant is destroyed.
using ParticipantHook =
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

struct Participant {
  ParticipantHook ready_hook;
  transport::Time ready_since{};  // the time of the round in which it became ready
  bool aside_for_pace = false;    // out of the turns until its rate limit allows requests; responses go on
  ParticipantHook urgent_hook;
  ParticipantHook touched_hook;
};

template <ParticipantHook Participant::*hook>
using ParticipantList =
    boost::intrusive::list<Participant, boost::intrusive::member_hook<Participant, ParticipantHook, hook>,
                           boost::intrusive::constant_time_size<false>>;
using ReadyList = ParticipantList<&Participant::ready_hook>;
using UrgentList = ParticipantList<&Participant::urgent_hook>;
using TouchedList = ParticipantList<&Participant::touched_hook>;

}  // namespace urnic::engine
