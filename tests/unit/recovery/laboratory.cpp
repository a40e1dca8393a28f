#include "tests/unit/recovery/laboratory.hpp"

#include <algorithm>

namespace urnic::transport::lab {

Laboratory::Laboratory(const LaboratorySettings& settings)
    : TwoEnds(Link(settings.links[0], settings.seed, 0), Link(settings.links[1], settings.seed, 1)),
      settings_(settings) {
  for (std::size_t side = 0; side < 2; ++side) {
    ends_[side] = std::make_unique<LaboratoryEnd>(settings_, side, links_[side], observer_);
  }
  for (std::size_t side = 0; side < 2; ++side) connect(side);
}

void Laboratory::connect(std::size_t side) {
  QpParameters parameters;
  parameters.access = {true, true, true};
  parameters.pkey = wire::Pkey{0xFFFF};
  parameters.path_mtu = settings_.path_mtu;
  parameters.destination = ends_[1 - side]->qp.qpn();
  parameters.send_psn = parameters.receive_psn = settings_.first_psn;
  parameters.max_reads = parameters.max_destination_reads = settings_.max_reads;
  parameters.min_rnr_timer = 1;
  parameters.timeout = settings_.timeout;
  parameters.retry_count = settings_.retry_count;
  parameters.rnr_retry = 7;
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) {
    ends_[side]->qp.modify(state, parameters, now_);
  }
  ends_[side]->settle(now_);
}

void Laboratory::reset(std::size_t side) {
  LaboratoryEnd& end = *ends_[side];
  end.qp.modify(QpState::reset, end.qp.parameters(), now_);
  end.sends.clear();
  end.receives.clear();
  connect(side);
}

void Laboratory::post(std::size_t side, WorkOpcode opcode, std::uint32_t length, std::uint32_t count) {
  LaboratoryEnd& end = *ends_[side];
  end.sends.shape(opcode, length);
  end.sends.post(count);
  end.qp.doorbell();
  end.settle(now_);
}

bool Laboratory::run(const std::function<bool()>& done, Nanoseconds until) {
  while (!done()) {
    if (step(Time(until)) != Step::done) return done();
  }
  return true;
}

bool Laboratory::run_until_complete(std::uint64_t count, Nanoseconds until) {
  const LaboratoryEnd& end = *ends_[0];
  while (end.completed + end.failed < count) {
    if (step(Time(until)) != Step::done) return false;
  }
  return true;
}

bool Laboratory::run_until_quiet(Nanoseconds until) {
  Step last = Step::done;
  while (last == Step::done) last = step(Time(until));
  return last == Step::quiet;
}

void Laboratory::wait_until(Nanoseconds until) {
  run_until_quiet(until);
  now_ = std::max(now_, Time(until));
}

}  // namespace urnic::transport::lab
