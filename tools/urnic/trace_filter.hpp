// Which packets `urnic trace` prints.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "analysis/capture_files/captured_packet.hpp"
#include "analysis/capture_files/packet_filter.hpp"
#include "analysis/dissection/dissection.hpp"
#include "analysis/flows/flow_tracker.hpp"
#include "command_line/command_line.hpp"

namespace urnic::cli {

// As on the command line.
struct TraceChoice {
  std::vector<std::uint32_t> queue_pairs;
  std::vector<std::string> opcodes;
  std::vector<std::string> hosts;
  std::vector<std::uint32_t> lids;
  std::string expression;          // of libpcap
  std::vector<std::string> words;  // of analysis::all_verdict_words
};

// Gives `command` the options, whose values go into `choice`; that must live as long as `command`.
void add_filter_options(command_line::Command& command, TraceChoice& choice);

class TraceFilter {
 public:
  // Throws Failure with exit_usage if a name is unknown, or the expression is none.
  explicit TraceFilter(const TraceChoice& choice);

  // By what the record shows. libpcap's expressions take no packet of InfiniBand.
  bool takes(const analysis::CapturedPacket& record, const analysis::Dissection& dissection) const;
  // By what is known of the packet at last.
  bool takes(const analysis::FlowTracker& tracker, const analysis::Packet& packet) const;

 private:
  bool takes_addresses(const wire::NetworkHeaders& network) const;

  std::vector<std::uint32_t> queue_pairs_;
  std::bitset<256> opcodes_;
  std::vector<wire::Gid> hosts_;
  std::vector<std::uint32_t> lids_;
  std::vector<std::string> words_;
  std::optional<analysis::PacketFilter> expression_;
};

}  // namespace urnic::cli
