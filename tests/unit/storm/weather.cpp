#include "tests/unit/storm/weather.hpp"

namespace urnic::engine::storm {

using transport::Nanoseconds;

namespace {

Nanoseconds random_span(Chance& chance, std::uint32_t most_us) {
  return Nanoseconds(static_cast<std::int64_t>(chance.up_to(std::uint64_t{most_us} * 1000)));
}

std::string random_conditions(Chance& chance) {
  std::string conditions = "device = \"" + kDevices[chance.up_to(1)] + "\"\n";
  if (chance.one_in(3)) conditions += "direction = \"rx\"\n";
  if (chance.one_in(2)) conditions += "relative_psn = " + std::to_string(chance.up_to(20)) + '\n';
  if (chance.one_in(3)) conditions += "transmission = " + std::to_string(chance.number(1, 3)) + '\n';
  if (chance.one_in(3)) {
    const char* const opcode = chance.one_of(
        {"Acknowledge", "RDMA Write Middle", "RDMA Read Response Only", "Send Only", "Atomic Acknowledge"});
    conditions += std::string("opcode = \"") + opcode + "\"\n";
  }
  if (chance.one_in(2)) conditions += "every = " + std::to_string(chance.number(1, 10)) + '\n';
  if (chance.one_in(2)) conditions += "count = " + std::to_string(chance.number(1, 20)) + '\n';
  return conditions;
}

std::string random_action(Chance& chance) {
  switch (chance.number(0, 9)) {
    case 0:
      return "action = \"duplicate\"\ncopies = " + std::to_string(chance.number(1, 16));
    case 1:
      return "action = \"delay\"\ndelay_us = " + std::to_string(chance.up_to(3000));
    case 2:
      return "action = \"reorder\"\nbehind_packets = " + std::to_string(chance.number(1, 40));
    case 3:
      return "action = \"corrupt_before_icrc\"\nbits = " + std::to_string(chance.up_to(200));
    case 4:
      return "action = \"corrupt_after_icrc\"\nbits = " + std::to_string(chance.up_to(200));
    case 5:
      return "action = \"mark_ecn\"";
    case 6:
      return "action = \"rnr_nak\"";
    case 7:
      return "action = \"nak\"\ncode = \"psn_sequence_error\"";
    case 8:
      return "action = \"cut_link\"\nfor_us = " + std::to_string(chance.number(1, 2000));
    default:
      return chance.one_in(5) ? "action = \"stop_qp\"" : "action = \"drop\"";
  }
}

}  // namespace

link::LinkSettings random_link(Chance& chance) {
  link::LinkSettings settings;
  if (chance.one_in(3)) return settings;
  const auto sometimes = [&](std::uint32_t times, double value) { return chance.one_in(times) ? value : 0; };
  if (chance.one_in(2)) settings.delay = random_span(chance, chance.one_of({10u, 100u, 5000u}));
  if (chance.one_in(4)) settings.jitter = random_span(chance, 50);
  settings.rate_gbps = sometimes(4, chance.one_of({0.1, 1.0, 10.0, 100.0}));
  settings.queue_packets = chance.one_of({1u, 4u, 64u, 1024u});
  settings.loss = sometimes(2, chance.one_of({0.001, 0.02, 0.3, 1.0}));
  settings.burst_start = sometimes(6, 0.01);
  settings.duplicate = sometimes(4, chance.one_of({0.05, 1.0}));
  settings.reorder = sometimes(4, chance.one_of({0.05, 1.0}));
  settings.reorder_packets = chance.number(1, 20);
  settings.reorder_hold = random_span(chance, 2000);
  settings.corrupt = sometimes(4, 0.05);
  settings.ecn_threshold_packets = chance.one_of({0u, 2u});
  settings.ecn_min_bytes = chance.one_of({0u, 2000u});
  settings.ecn_max_bytes = settings.ecn_min_bytes + chance.one_of({0u, 20'000u});
  settings.pfc = chance.one_in(4);
  settings.pfc_xoff_bytes = chance.one_of({2000u, 100'000u});
  settings.pfc_xon_bytes = settings.pfc_xoff_bytes / 2;
  settings.ecn_probability = settings.ecn_max_bytes != 0 ? sometimes(2, 0.5) : 0;
  settings.seed = chance.up_to(1'000'000);
  return settings;
}

std::string random_fault_plan(Chance& chance) {
  std::string plan;
  const std::uint32_t rules = chance.number(1, 3);
  for (std::uint32_t rule = 0; rule < rules; ++rule) {
    plan += "[[fault]]\n" + random_conditions(chance) + random_action(chance) + '\n';
  }
  return plan;
}

}  // namespace urnic::engine::storm
