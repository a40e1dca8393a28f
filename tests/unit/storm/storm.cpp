#include "tests/unit/storm/storm.hpp"

#include <cstring>

#include "device_model/fault/plan_file.hpp"
#include "tests/unit/storm/connected_traffic.hpp"
#include "tests/unit/storm/datagram_traffic.hpp"
#include "tests/unit/storm/extended_traffic.hpp"
#include "tests/unit/storm/raw_traffic.hpp"
#include "tests/unit/storm/weather.hpp"

namespace urnic::engine::storm {

using link::Direction;
using test::Program;
using transport::Nanoseconds;
using transport::QpService;

namespace {

constexpr std::size_t kVictims = 3;
// The time that a round takes. Without it, a NAK that comes back at once could be answered for ever in one
// moment.
constexpr Nanoseconds kRound{1000};
// Limits on the rounds of a moment and on the moments of a storm: far more than any storm needs.
constexpr int kMostRounds = 1'000'000;
constexpr int kMostMoments = 1'000'000;

// The pools that are not at their resting level; empty if all are.
std::string unlike_rest(const EnginePools& pools) {
  const std::pair<const char*, std::uint32_t EnginePools::*> each[] = {
      {"staging arenas", &EnginePools::staging_arenas},
      {"staging bytes", &EnginePools::staging_bytes},
      {"held packets", &EnginePools::held_packets},
      {"frames under way", &EnginePools::frames_under_way},
      {"frames lent", &EnginePools::frames_lent},
      {"timers", &EnginePools::timers},
      {"queue pairs that wait", &EnginePools::queue_pairs},
      {"queue pairs that wait for memory", &EnginePools::memory_stalls},
      {"late events", &EnginePools::late_events}};
  std::string wrong;
  for (const auto& [name, pool] : each) {
    if (pools.*pool == kPoolsAtRest.*pool) continue;
    wrong += std::string(wrong.empty() ? "" : ", ") + name + ": " + std::to_string(pools.*pool) +
             " instead of " + std::to_string(kPoolsAtRest.*pool);
  }
  return wrong;
}

}  // namespace

Storm::Storm(test::Fabric& fabric, std::uint64_t seed) : fabric_(fabric), chance_(seed) {
  for (std::size_t i = 0; i < kVictims; ++i) {
    Device& device = chance_.one_in(2) ? fabric.device0 : fabric.device1;
    victims_.push_back({std::make_unique<Program>(fabric.engine, device)});
  }
  change_weather();
  const std::uint32_t count = chance_.number(2, 8);
  for (std::uint32_t i = 0; i < count; ++i) add_traffic();
}

Storm::~Storm() {
  perfect_links();
  end_traffic();
}

void Storm::end_traffic() {
  traffic_.clear();
  victims_.clear();
}

Programs Storm::random_programs() {
  Program& one = *victims_[chance_.up_to(kVictims - 1)].program;
  return {one, *victims_[chance_.up_to(kVictims - 1)].program};
}

void Storm::add_traffic() {
  const Programs programs = random_programs();
  const std::uint32_t doorbell = next_doorbell_;
  next_doorbell_ += 3;
  switch (chance_.number(0, 8)) {
    case 0:
      traffic_.push_back(std::make_unique<DatagramTraffic>(programs, doorbell));
      return;
    case 1:
      traffic_.push_back(std::make_unique<RawTraffic>(programs, doorbell));
      return;
    case 2:
      traffic_.push_back(std::make_unique<ExtendedTraffic>(chance_, programs, doorbell));
      return;
    case 3:
      traffic_.push_back(std::make_unique<ConnectedTraffic>(
          chance_, programs, doorbell, QpService::uc, chance_.one_of({Receives::own, Receives::shared})));
      return;
    default:
      traffic_.push_back(std::make_unique<ConnectedTraffic>(
          chance_, programs, doorbell, QpService::rc,
          chance_.one_of({Receives::own, Receives::own, Receives::shared, Receives::tagged})));
  }
}

void Storm::change_weather() {
  for (std::uint32_t device = 0; device < 2; ++device) {
    for (const Direction direction : {Direction::transmit, Direction::receive})
      fabric_.frame_switch.link(device).configure(direction, random_link(chance_));
    fabric_.frame_switch.link(device).set_faults(nullptr);
  }
  plan_.reset();
  if (chance_.one_in(2)) return;
  plan_ =
      std::make_unique<fault::FaultPlan>(fault::parse_plan(random_fault_plan(chance_), "storm", kDevices));
  for (std::uint32_t device = 0; device < 2; ++device)
    fabric_.frame_switch.link(device).set_faults(plan_.get());
}

// The program's memory is gone at once; its objects go later, or with the storm.
void Storm::kill_a_program() {
  Victim& victim = victims_[chance_.up_to(kVictims - 1)];
  victim.dead = true;
  victim.program->memory.end_owner();
}

void Storm::act() {
  const std::uint64_t what = chance_.up_to(199);
  if (what == 0) return kill_a_program();
  if (what < 6) return change_weather();
  if (what < 12 && traffic_.size() > 1) {
    traffic_.erase(traffic_.begin() + static_cast<std::ptrdiff_t>(chance_.up_to(traffic_.size() - 1)));
    return add_traffic();
  }
  Traffic& traffic = *traffic_[chance_.up_to(traffic_.size() - 1)];
  if (what < 20) return traffic.disturb(chance_);
  if (what < 60) return traffic.poll();
  traffic.post(chance_);
}

void Storm::rage() {
  const std::uint32_t actions = chance_.number(20, 120);
  for (std::uint32_t i = 0; i < actions; ++i) {
    act();
    if (chance_.one_in(3)) continue;
    const std::uint64_t most = chance_.one_in(10) ? 1'000'000 : 20'000;
    const Nanoseconds span(static_cast<std::int64_t>(chance_.up_to(most)));
    until([](Storm&) { return false; }, span);
  }
}

void Storm::perfect_links() {
  plan_.reset();
  for (std::uint32_t device = 0; device < 2; ++device) {
    link::Link& link = fabric_.frame_switch.link(device);
    link.set_faults(nullptr);
    link.restore();
    for (const Direction direction : {Direction::transmit, Direction::receive}) link.configure(direction, {});
  }
  fabric_.engine.data_path().ports_changed();  // as the engine does after each task
}

bool Storm::one_round() {
  std::uint32_t rung = fabric_.program0.doorbell_set.collect() + fabric_.program1.doorbell_set.collect();
  for (const Victim& victim : victims_) rung += victim.program->doorbell_set.collect();
  DataPath& data_path = fabric_.engine.data_path();
  data_path.set_now(data_path.now() + kRound);
  const bool worked = data_path.round();
  return worked || rung != 0 || data_path.busy();
}

void Storm::rounds() {
  for (int round = 0; round < kMostRounds; ++round) {
    if (!one_round()) return;
  }
  stuck_ = "the engine finds something to do without end; " + unlike_rest(fabric_.engine.data_path().pools());
}

// Moves the clock from each due event to the next.
bool Storm::until(bool (*done)(Storm&), Nanoseconds longest) {
  DataPath& data_path = fabric_.engine.data_path();
  const transport::Time end = data_path.now() + longest;
  for (int moment = 0; moment < kMostMoments && stuck_.empty(); ++moment) {
    rounds();
    if (done(*this)) return true;
    const auto next = data_path.wake_at();
    if (!next || *next > end) {
      data_path.set_now(end);
      return false;
    }
    data_path.set_now(std::max(*next, data_path.now()));
  }
  if (stuck_.empty()) stuck_ = "the engine is woken without end";
  return false;
}

namespace {

constexpr std::uint32_t kLength = 70'000;
constexpr std::uint32_t kAtomic = 600'000;

// Posts one request of each kind, one after the other, from program 0 to program 1.
void post_one_of_each(test::Fabric& fabric, test::TestQp& from, test::TestQp& to) {
  const Program& one = fabric.program0;
  const Program& other = fabric.program1;
  const abi::ScatterGather whole[] = {one.sge(0, kLength)};
  const abi::ScatterGather received[] = {other.sge(100'000, kLength)};
  to.post_receive(received);
  from.post_send(test::wqe(abi::SendOpcode::send), whole);
  abi::SendWqe head = test::wqe(abi::SendOpcode::rdma_write);
  head.remote_address = other.address(200'000);
  head.rkey = other.key.value;
  from.post_send(head, whole);
  head.opcode = static_cast<std::uint8_t>(abi::SendOpcode::rdma_read);
  const abi::ScatterGather into[] = {one.sge(300'000, kLength)};
  from.post_send(head, into);
  head.opcode = static_cast<std::uint8_t>(abi::SendOpcode::atomic_fetch_add);
  head.remote_address = other.address(kAtomic);
  head.compare_add = 5;
  const abi::ScatterGather result[] = {one.sge(kAtomic, 8)};
  from.post_send(head, result);
}

}  // namespace

std::string Storm::move_data() {
  Program& one = fabric_.program0;
  Program& other = fabric_.program1;
  test::TestQp from(one, 0, {});
  test::TestQp to(other, 0, {});
  test::Fabric::connect(from, to);
  for (test::TestQp* queue_pair : {&from, &to})
    fabric_.engine.execute([&] { choose_modes(chance_, queue_pair->device_end()); });
  const auto seed = static_cast<std::uint8_t>(chance_.up_to(255));
  one.fill(0, kLength, seed);
  std::memset(other.bytes.data() + kAtomic, 0, 8);
  post_one_of_each(fabric_, from, to);
  const auto& last = from.send_cq.ring[3].phase;
  static const std::atomic<std::uint8_t>* awaited;
  awaited = &last;
  until([](Storm&) { return awaited->load() == 1; }, Nanoseconds(1'000'000'000));
  for (int i = 0; i < 4; ++i) {
    const auto polled = from.send_cq.poll();
    if (!polled) return "request " + std::to_string(i) + " of a fresh pair has not completed";
    if (polled->status != 0) return "request " + std::to_string(i) + " of a fresh pair has failed";
  }
  std::uint64_t sum = 0;
  std::memcpy(&sum, other.bytes.data() + kAtomic, sizeof sum);
  const bool right = other.holds(100'000, kLength, seed) && other.holds(200'000, kLength, seed) &&
                     one.holds(300'000, kLength, seed) && sum == 5;
  return right ? "" : "a fresh pair has moved wrong bytes";
}

std::string Storm::at_rest() {
  DataPath& data_path = fabric_.engine.data_path();
  until([](Storm& storm) { return !storm.fabric_.engine.data_path().wake_at(); },
        Nanoseconds(60'000'000'000));
  if (data_path.busy()) return "the engine is busy without programs";
  return unlike_rest(data_path.pools());
}

std::string Storm::calm() {
  perfect_links();
  std::string wrong = move_data();
  end_traffic();
  if (wrong.empty()) wrong = at_rest();
  if (wrong.empty()) wrong = move_data();
  if (wrong.empty()) wrong = at_rest();
  return stuck_.empty() ? wrong : stuck_;
}

}  // namespace urnic::engine::storm
