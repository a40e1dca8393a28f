// The subnet management agent of every node (IBTA 14.2.4, 14.2.5): answers Get and Set of the attributes that
// the hardware has.
#pragma once

#include <chrono>
#include <optional>

#include "device_model/subnet/links.hpp"
#include "device_model/subnet/node.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::subnet {

enum class Verdict : std::uint8_t {
  answered,  // the SMP is the answer now
  not_mine,  // a program may take it: SMInfo, notices, answers
  refused,   // its M_Key is wrong: it gets no answer
  taken,     // a manager has taken note of a trap: it gets no answer
};

// `place` is where the SMP has come in, and `now` when, since any fixed time. A Set may change other nodes:
// the ends of a link change together.
Verdict answer(Nodes& nodes, PortPlace place, wire::mad::Smp& smp, std::chrono::nanoseconds now);

}  // namespace urnic::subnet
