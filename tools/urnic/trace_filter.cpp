#include "tools/urnic/trace_filter.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "analysis/capture_files/capture_error.hpp"
#include "analysis/flows/verdict_text.hpp"
#include "tools/urnic/failure.hpp"
#include "wire/ipv4_mapped.hpp"
#include "wire/opcode.hpp"

namespace urnic::cli {
namespace {

bool are_alike(std::string_view a, std::string_view b) {
  const auto plain = [](char c) {
    return c == '_' || c == '-' ? ' ' : std::tolower(static_cast<unsigned char>(c));
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return plain(x) == plain(y); });
}

// "RC Send Only", or "Send Only" for every service, as in fault plans (docs/faults.md).
bool is_named(wire::Opcode opcode, std::string_view name) {
  const std::string_view whole = wire::name(opcode);
  const std::size_t service = whole.find(' ');
  if (are_alike(whole, name)) return true;
  return service != std::string_view::npos && are_alike(whole.substr(service + 1), name);
}

std::bitset<256> opcodes_named(const std::vector<std::string>& names) {
  std::bitset<256> all;
  for (const std::string& name : names) {
    std::bitset<256> some;
    for (unsigned value = 0; value < some.size(); ++value) {
      const wire::Opcode opcode{static_cast<std::uint8_t>(value)};
      some[value] = wire::traits(opcode).known && is_named(opcode, name);
    }
    if (some.none()) {
      throw Failure(
          fmt::format("there is no opcode '{}'; name it as Wireshark does, for example 'RC Send Only', or "
                      "'Send Only' for all services",
                      name),
          exit_usage);
    }
    all |= some;
  }
  return all;
}

wire::Gid address_named(const std::string& text) {
  wire::Gid gid;
  if (inet_pton(AF_INET6, text.c_str(), gid.bytes.data()) == 1) return gid;
  std::byte ipv4[wire::kIpv4AddressBytes];
  if (inet_pton(AF_INET, text.c_str(), ipv4) != 1)
    throw Failure(fmt::format("'{}' is neither an IPv4 nor an IPv6 address", text), exit_usage);
  wire::load_ipv4(ipv4, gid);
  return gid;
}

std::string all_words() {
  std::string words;
  for (const std::string_view word : analysis::all_verdict_words())
    words += fmt::format("{}{}", words.empty() ? "" : ", ", word);
  return words;
}

template <class List, class Value>
bool has(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

void add_filter_options(command_line::Command& command, TraceChoice& choice) {
  command.add_option("--qp", choice.queue_pairs, "Only packets from or to these QP numbers, such as 0x12")
      .delimiter(',')
      .type_name("N,...")
      .no_more_words();
  command.add_option("--opcode", choice.opcodes, "Only these opcodes, such as 'RC Send Only', or 'Send Only'")
      .delimiter(',')
      .type_name("NAME,...")
      .no_more_words();
  command.add_option("--host", choice.hosts, "Only packets from or to these addresses")
      .delimiter(',')
      .type_name("ADDRESS,...")
      .no_more_words();
  command
      .add_option("--lid", choice.lids,
                  "Only packets of InfiniBand from or to these LIDs, such as 3 or 0xc001")
      .delimiter(',')
      .type_name("LID,...")
      .no_more_words();
  command
      .add_option("--filter", choice.expression,
                  "Only Ethernet frames that this expression of libpcap takes, as tcpdump's")
      .type_name("EXPRESSION");
  command.add_option("--only", choice.words, "Only packets of which one of these is true: " + all_words())
      .delimiter(',')
      .type_name("WORD,...")
      .one_of({analysis::all_verdict_words().begin(), analysis::all_verdict_words().end()})
      .no_more_words();
}

TraceFilter::TraceFilter(const TraceChoice& choice)
    : queue_pairs_(choice.queue_pairs),
      opcodes_(opcodes_named(choice.opcodes)),
      lids_(choice.lids),
      words_(choice.words) {
  if (choice.opcodes.empty()) opcodes_.set();
  for (const std::string& host : choice.hosts) hosts_.push_back(address_named(host));
  if (choice.expression.empty()) return;
  try {
    expression_.emplace(choice.expression);
  } catch (const analysis::CaptureError& error) {
    throw Failure(fmt::format("--filter {}", error.what()), exit_usage);
  }
}

bool TraceFilter::takes(const analysis::CapturedPacket& record,
                        const analysis::Dissection& dissection) const {
  if (!opcodes_[dissection.transport().bth.opcode.value]) return false;
  if (!takes_addresses(dissection.network())) return false;
  if (!expression_) return true;
  return record.link_layer == wire::LinkLayer::ethernet &&
         expression_->matches(record.bytes, record.original_bytes);
}

bool TraceFilter::takes_addresses(const wire::NetworkHeaders& network) const {
  const bool has_gids = !network.local || network.local->with_grh;
  if (!hosts_.empty() && !(has_gids && (has(hosts_, network.source) || has(hosts_, network.destination))))
    return false;
  if (lids_.empty()) return true;
  return network.local &&
         (has(lids_, network.local->source.value) || has(lids_, network.local->destination.value));
}

bool TraceFilter::takes(const analysis::FlowTracker& tracker, const analysis::Packet& packet) const {
  if (!queue_pairs_.empty()) {
    if (packet.flow == analysis::kNoFlow) return false;
    const analysis::Flow& flow = tracker.flows()[packet.flow];
    const bool knows_source = flow.pairing != analysis::Pairing::unknown;
    if (!has(queue_pairs_, flow.destination_qp.value) &&
        !(knows_source && has(queue_pairs_, flow.source_qp.value)))
      return false;
  }
  if (words_.empty()) return true;
  const auto words = analysis::verdict_words(packet);
  return std::any_of(words.begin(), words.end(), [this](std::string_view word) { return has(words_, word); });
}

}  // namespace urnic::cli
