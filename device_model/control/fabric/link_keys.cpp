#include "device_model/control/fabric/link_keys.hpp"

#include <array>
#include <cmath>

namespace urnic::control {
namespace {

using link::LinkSettings;
using transport::Nanoseconds;

constexpr std::string_view kProbability = "a probability from 0 to 1, such as 0.01";
constexpr double kMostBytes = 1e9;
constexpr std::string_view kBytes = "a whole number of bytes from 0 to 1000000000";
constexpr std::string_view kBytesOrNoMarks =
    "a whole number of bytes from 1 to 1000000000, or 0 for no marks by bytes";
constexpr std::string_view kMicroseconds = "microseconds, from 0 to 10000000, such as 2.5";

Nanoseconds from_microseconds(double microseconds) { return Nanoseconds(std::llround(microseconds * 1000)); }
double to_microseconds(Nanoseconds span) { return static_cast<double>(span.count()) / 1000; }

template <double LinkSettings::*member>
constexpr LinkKey probability(std::string_view name) {
  return {name,
          0,
          1,
          false,
          kProbability,
          [](LinkSettings& settings, double value) { settings.*member = value; },
          [](const LinkSettings& settings) { return settings.*member; }};
}

template <Nanoseconds LinkSettings::*member>
constexpr LinkKey span(std::string_view name) {
  return {name,
          0,
          1e7,
          false,
          kMicroseconds,
          [](LinkSettings& settings, double value) { settings.*member = from_microseconds(value); },
          [](const LinkSettings& settings) { return to_microseconds(settings.*member); }};
}

template <std::uint32_t LinkSettings::*member>
constexpr LinkKey count(std::string_view name, double lowest, double highest, std::string_view allowed) {
  return {name,
          lowest,
          highest,
          true,
          allowed,
          [](LinkSettings& settings, double value) { settings.*member = static_cast<std::uint32_t>(value); },
          [](const LinkSettings& settings) { return static_cast<double>(settings.*member); }};
}

constexpr std::array kKeys{
    LinkKey{"rate_gbps", 0, 1000, false, "10^9 bits a second, from 0.001 to 1000, or 0 for no limit",
            [](LinkSettings& settings, double value) { settings.rate_gbps = value; },
            [](const LinkSettings& settings) { return settings.rate_gbps; }, 0.001},
    span<&LinkSettings::delay>("delay_us"),
    span<&LinkSettings::jitter>("jitter_us"),
    count<&LinkSettings::queue_packets>("queue_packets", 1, 65536, "a whole number from 1 to 65536"),
    probability<&LinkSettings::loss>("loss"),
    probability<&LinkSettings::burst_start>("burst_start"),
    LinkKey{"burst_length", 1, 1e6, false, "the average length in packets, from 1 to 1000000",
            [](LinkSettings& settings, double value) { settings.burst_end = 1 / value; },
            [](const LinkSettings& settings) { return 1 / settings.burst_end; }},
    probability<&LinkSettings::burst_loss>("burst_loss"),
    probability<&LinkSettings::duplicate>("duplicate"),
    probability<&LinkSettings::reorder>("reorder"),
    count<&LinkSettings::reorder_packets>("reorder_packets", 1, 1024, "a whole number from 1 to 1024"),
    span<&LinkSettings::reorder_hold>("reorder_hold_us"),
    probability<&LinkSettings::corrupt>("corrupt"),
    count<&LinkSettings::ecn_threshold_packets>("ecn_threshold_packets", 0, 65536,
                                                "a whole number from 1 to 65536, or 0 for no marks"),
    count<&LinkSettings::ecn_min_bytes>("ecn_min_bytes", 0, kMostBytes, kBytes),
    count<&LinkSettings::ecn_max_bytes>("ecn_max_bytes", 0, kMostBytes, kBytesOrNoMarks),
    probability<&LinkSettings::ecn_probability>("ecn_probability"),
    LinkKey{"pfc", 0, 1, true, "true or false",
            [](LinkSettings& settings, double value) { settings.pfc = value != 0; },
            [](const LinkSettings& settings) { return settings.pfc ? 1.0 : 0.0; }, 0, true},
    count<&LinkSettings::pfc_xoff_bytes>("pfc_xoff_bytes", 0, kMostBytes, kBytes),
    count<&LinkSettings::pfc_xon_bytes>("pfc_xon_bytes", 0, kMostBytes, kBytes),
    LinkKey{"seed", 0, 9007199254740991, true, "a whole number from 0 to 9007199254740991",
            [](LinkSettings& settings, double value) { settings.seed = static_cast<std::uint64_t>(value); },
            [](const LinkSettings& settings) { return static_cast<double>(settings.seed); }},
};

}  // namespace

std::span<const LinkKey> link_keys() { return kKeys; }

const LinkKey* find_link_key(std::string_view name) { return find_key(link_keys(), name); }

std::optional<LinkContradiction> contradiction(const LinkSettings& settings) {
  if (settings.ecn_probability > 0 && settings.ecn_max_bytes == 0)
    return {{"ecn_probability", "0 without ecn_max_bytes, up to which the probability rises"}};
  if (settings.ecn_min_bytes > settings.ecn_max_bytes)
    return {{"ecn_min_bytes", "no more than ecn_max_bytes, from which on every packet is marked"}};
  if (settings.pfc_xon_bytes > settings.pfc_xoff_bytes)
    return {{"pfc_xon_bytes", "no more than pfc_xoff_bytes, above which pauses begin"}};
  return std::nullopt;
}

}  // namespace urnic::control
