#include "device_model/control/fabric/congestion_keys.hpp"

#include <array>
#include <cmath>

namespace urnic::control {
namespace {

using Settings = transport::CongestionSettings;
using transport::Nanoseconds;
using transport::SendRate;

constexpr std::string_view kGbps = "10^9 bits a second, from 0.001 to 1000, such as 40";
constexpr std::string_view kMbps = "10^6 bits a second, from 0.001 to 1000000, such as 40";
constexpr std::string_view kSpan = "microseconds, from 0 to 10000000, such as 50";
constexpr std::string_view kSpanFromOne = "microseconds, from 1 to 10000000, such as 55";
constexpr std::string_view kFlag = "true or false";
constexpr std::string_view kDscp = "a whole number from 0 to 63, such as 48";
constexpr std::string_view kPart = "a number from 0 to 1, such as 0.5";
constexpr std::string_view kByteCount = "a whole number of bytes up to 1000000000000, or 0 for none";
constexpr std::string_view kCount = "a whole number from 1 to 1000";
constexpr std::string_view kPackets = "packets, from 0.001 to 1000, such as 1";

Nanoseconds span_of(double microseconds) { return Nanoseconds(std::llround(microseconds * 1000)); }
double microseconds_in(Nanoseconds span) { return static_cast<double>(span.count()) / 1000; }

constexpr std::array kCongestionKeys{
    CongestionKey{"line_rate_gbps", 0.001, 1000, false, kGbps,
                  [](Settings& settings, double value) { settings.line = SendRate::gbps(value); },
                  [](const Settings& settings) { return settings.line.gbps(); }},
    CongestionKey{"least_rate_mbps", 0.001, 1e6, false, kMbps,
                  [](Settings& settings, double value) { settings.least = SendRate::mbps(value); },
                  [](const Settings& settings) { return settings.least.gbps() * 1000; }},
    CongestionKey{"burst_us", 0, 1e7, false, kSpan,
                  [](Settings& settings, double value) { settings.burst = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.burst); }},
    CongestionKey{"slow_restart", 0, 1, true, kFlag,
                  [](Settings& settings, double value) { settings.slow_restart = value != 0; },
                  [](const Settings& settings) { return settings.slow_restart ? 1.0 : 0.0; }, 0, true},
    CongestionKey{"restart_rate_gbps", 0.001, 1000, false, kGbps,
                  [](Settings& settings, double value) { settings.restart = SendRate::gbps(value); },
                  [](const Settings& settings) { return settings.restart.gbps(); }},
    CongestionKey{"idle_us", 0, 1e7, false, kSpan,
                  [](Settings& settings, double value) { settings.idle = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.idle); }},
    CongestionKey{"cnp_interval_us", 0, 1e7, false, kSpan,
                  [](Settings& settings, double value) { settings.notification_interval = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.notification_interval); }},
    CongestionKey{"cnp_per_destination", 0, 1, true, kFlag,
                  [](Settings& settings, double value) { settings.notifies_by_peer = value != 0; },
                  [](const Settings& settings) { return settings.notifies_by_peer ? 1.0 : 0.0; }, 0, true},
    CongestionKey{"cnp_dscp", 0, 63, true, kDscp,
                  [](Settings& settings, double value) {
                    settings.notification_dscp = static_cast<std::uint8_t>(value);
                  },
                  [](const Settings& settings) { return static_cast<double>(settings.notification_dscp); }},
    CongestionKey{"dcqcn_alpha_gain", 0, 1, false, kPart,
                  [](Settings& settings, double value) { settings.dcqcn.alpha_gain = value; },
                  [](const Settings& settings) { return settings.dcqcn.alpha_gain; }},
    CongestionKey{"dcqcn_alpha_interval_us", 1, 1e7, false, kSpanFromOne,
                  [](Settings& settings, double value) { settings.dcqcn.alpha_interval = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.dcqcn.alpha_interval); }},
    CongestionKey{"dcqcn_decrease_interval_us", 0, 1e7, false, kSpan,
                  [](Settings& settings, double value) { settings.dcqcn.decrease_interval = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.dcqcn.decrease_interval); }},
    CongestionKey{"dcqcn_increase_interval_us", 1, 1e7, false, kSpanFromOne,
                  [](Settings& settings, double value) { settings.dcqcn.increase_interval = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.dcqcn.increase_interval); }},
    CongestionKey{
        "dcqcn_increase_bytes", 0, 1e12, true, kByteCount,
        [](Settings& settings, double value) {
          settings.dcqcn.increase_bytes = static_cast<std::uint64_t>(value);
        },
        [](const Settings& settings) { return static_cast<double>(settings.dcqcn.increase_bytes); }},
    CongestionKey{
        "dcqcn_fast_recoveries", 1, 1000, true, kCount,
        [](Settings& settings, double value) {
          settings.dcqcn.fast_recoveries = static_cast<std::uint32_t>(value);
        },
        [](const Settings& settings) { return static_cast<double>(settings.dcqcn.fast_recoveries); }},
    CongestionKey{"dcqcn_additive_mbps", 0.001, 1e6, false, kMbps,
                  [](Settings& settings, double value) { settings.dcqcn.additive = SendRate::mbps(value); },
                  [](const Settings& settings) { return settings.dcqcn.additive.gbps() * 1000; }},
    CongestionKey{"dcqcn_hyper_mbps", 0.001, 1e6, false, kMbps,
                  [](Settings& settings, double value) { settings.dcqcn.hyper = SendRate::mbps(value); },
                  [](const Settings& settings) { return settings.dcqcn.hyper.gbps() * 1000; }},
    CongestionKey{"dcqcn_most_decrease", 0, 1, false, kPart,
                  [](Settings& settings, double value) { settings.dcqcn.most_decrease = value; },
                  [](const Settings& settings) { return settings.dcqcn.most_decrease; }},
    CongestionKey{"dcqcn_clamp_target", 0, 1, true, kFlag,
                  [](Settings& settings, double value) { settings.dcqcn.clamp_target = value != 0; },
                  [](const Settings& settings) { return settings.dcqcn.clamp_target ? 1.0 : 0.0; }, 0, true},
    CongestionKey{"dcqcn_initial_alpha", 0, 1, false, kPart,
                  [](Settings& settings, double value) { settings.dcqcn.initial_alpha = value; },
                  [](const Settings& settings) { return settings.dcqcn.initial_alpha; }},
    CongestionKey{"rtt_headroom_us", 0, 1e7, false, kSpan,
                  [](Settings& settings, double value) { settings.rtt.headroom = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.rtt.headroom); }},
    CongestionKey{"rtt_additive_packets", 0.001, 1000, false, kPackets,
                  [](Settings& settings, double value) { settings.rtt.additive = value; },
                  [](const Settings& settings) { return settings.rtt.additive; }},
    CongestionKey{"rtt_decrease", 0, 1, false, kPart,
                  [](Settings& settings, double value) { settings.rtt.decrease = value; },
                  [](const Settings& settings) { return settings.rtt.decrease; }},
    CongestionKey{"rtt_most_decrease", 0, 1, false, kPart,
                  [](Settings& settings, double value) { settings.rtt.most_decrease = value; },
                  [](const Settings& settings) { return settings.rtt.most_decrease; }},
    CongestionKey{"rtt_least_window_packets", 0.001, 1000, false, kPackets,
                  [](Settings& settings, double value) { settings.rtt.least_window = value; },
                  [](const Settings& settings) { return settings.rtt.least_window; }},
    CongestionKey{"rtt_flow_scaling_us", 0, 1e7, false, kSpan,
                  [](Settings& settings, double value) { settings.rtt.flow_scaling = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.rtt.flow_scaling); }},
    CongestionKey{"rtt_scaling_from_packets", 0.001, 1000, false, kPackets,
                  [](Settings& settings, double value) { settings.rtt.scaling_from = value; },
                  [](const Settings& settings) { return settings.rtt.scaling_from; }},
    CongestionKey{"rtt_scaling_to_packets", 0.001, 1000, false, kPackets,
                  [](Settings& settings, double value) { settings.rtt.scaling_to = value; },
                  [](const Settings& settings) { return settings.rtt.scaling_to; }},
    CongestionKey{
        "rtt_timeouts", 1, 1000, true, kCount,
        [](Settings& settings, double value) { settings.rtt.timeouts = static_cast<std::uint32_t>(value); },
        [](const Settings& settings) { return static_cast<double>(settings.rtt.timeouts); }},
    CongestionKey{"rtt_loss_is_congestion", 0, 1, true, kFlag,
                  [](Settings& settings, double value) { settings.rtt.loss_is_congestion = value != 0; },
                  [](const Settings& settings) { return settings.rtt.loss_is_congestion ? 1.0 : 0.0; }, 0,
                  true},
    CongestionKey{"timely_low_us", 0, 1e7, false, kSpan,
                  [](Settings& settings, double value) { settings.timely.low = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.timely.low); }},
    CongestionKey{"timely_high_us", 1, 1e7, false, kSpanFromOne,
                  [](Settings& settings, double value) { settings.timely.high = span_of(value); },
                  [](const Settings& settings) { return microseconds_in(settings.timely.high); }},
    CongestionKey{"timely_smoothing", 0, 1, false, kPart,
                  [](Settings& settings, double value) { settings.timely.smoothing = value; },
                  [](const Settings& settings) { return settings.timely.smoothing; }},
    CongestionKey{"timely_decrease", 0, 1, false, kPart,
                  [](Settings& settings, double value) { settings.timely.decrease = value; },
                  [](const Settings& settings) { return settings.timely.decrease; }},
    CongestionKey{"timely_additive_mbps", 0.001, 1e6, false, kMbps,
                  [](Settings& settings, double value) { settings.timely.additive = SendRate::mbps(value); },
                  [](const Settings& settings) { return settings.timely.additive.gbps() * 1000; }},
    CongestionKey{"timely_increases", 1, 1000, true, kCount,
                  [](Settings& settings, double value) {
                    settings.timely.increases = static_cast<std::uint32_t>(value);
                  },
                  [](const Settings& settings) { return static_cast<double>(settings.timely.increases); }},
};

}  // namespace

std::span<const CongestionKey> congestion_keys() { return kCongestionKeys; }

const CongestionKey* find_congestion_key(std::string_view name) { return find_key(congestion_keys(), name); }

}  // namespace urnic::control
