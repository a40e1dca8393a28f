#include "analysis/dissection/frame_text.hpp"

#include <fmt/format.h>

#include <chrono>

#include "analysis/dissection/field_value.hpp"
#include "analysis/dissection/header_tables.hpp"
#include "analysis/dissection/mad_text.hpp"
#include "analysis/dissection/port_address.hpp"
#include "analysis/dissection/selective_ack_ranges.hpp"
#include "wire/aeth.hpp"
#include "wire/byte_order.hpp"
#include "wire/selective_ack_offer.hpp"

namespace urnic::analysis {
namespace {

using wire::traits;

std::string nak_text(std::uint8_t code) {
  switch (static_cast<wire::NakCode>(code)) {
    case wire::NakCode::psn_sequence_error:
      return "PSN sequence error";
    case wire::NakCode::invalid_request:
      return "invalid request";
    case wire::NakCode::remote_access_error:
      return "remote access error";
    case wire::NakCode::remote_operational_error:
      return "remote operational error";
    case wire::NakCode::invalid_rd_request:
      return "invalid RD request";
  }
  return fmt::format("reserved code {}", code);
}

std::string credits_text(std::uint8_t code) {
  if (code == wire::kInvalidCreditCode) return "ACK";
  return fmt::format("ACK, {} credits", wire::credits_from_code(code));
}

std::string offer_text(const wire::SelectiveAckEth& header) {
  const auto offer = wire::offer_in(header);
  if (!offer) return "not urnic's";
  std::string text;
  const auto add = [&text](bool is_so, const char* what) {
    if (is_so) text += std::string(text.empty() ? "" : ", ") + what;
  };
  add(offer->reads, "reads");
  add(offer->gives, "gives");
  add(offer->wants_answer, "wants an answer");
  return text;
}

// What the extended headers say, in a few words.
std::string extended_summary(const wire::TransportHeaders& headers, std::uint16_t present) {
  std::string text;
  const auto add = [&text](const std::string& words) { text += " " + words; };
  if (present & wire::has_deth)
    add(fmt::format("SrcQP={:#x} QKey={:#x}", headers.deth.source.value, headers.deth.qkey));
  if (present & wire::has_xrceth) add(fmt::format("SRQ={:#x}", headers.xrceth.srq_number));
  if (present & wire::has_reth) {
    add(fmt::format("VA={:#x} RKey={:#x} Len={}", headers.reth.virtual_address, headers.reth.rkey.value,
                    headers.reth.dma_length));
  }
  if (present & wire::has_atomic_eth) {
    add(fmt::format("VA={:#x} RKey={:#x}", headers.atomic_eth.virtual_address,
                    headers.atomic_eth.rkey.value));
  }
  if (present & wire::has_aeth) {
    if (wire::kind(headers.aeth.syndrome) != wire::AethKind::ack)
      add(fmt::format("[{}]", syndrome_text(headers.aeth.syndrome)));
    add(fmt::format("MSN={}", headers.aeth.msn.value));
  }
  if (present & wire::has_immediate) {
    const auto& b = headers.immediate.bytes;
    add(fmt::format("Imm={:#04x}{:02x}{:02x}{:02x}", b[0], b[1], b[2], b[3]));
  }
  if (present & wire::has_ieth) add(fmt::format("Invalidate={:#x}", headers.invalidate.value));
  return text;
}

std::string refusal_text(const Dissection& dissection) {
  if (dissection.is_cut()) return "captured in part";
  if (dissection.vcrc() == CrcCheck::wrong) return "VCRC is wrong";
  return wire::describe(dissection.verdict());
}

bool is_refused(const Dissection& dissection) {
  return dissection.verdict() != wire::ParseError::none || dissection.vcrc() == CrcCheck::wrong;
}

// Empty: the frame has no management datagram.
std::string management_words(const Dissection& dissection) {
  return dissection.find(kMadHeader) != nullptr ? mad_text(dissection.payload()) : std::string{};
}

const char* check_text(CrcCheck check) {
  switch (check) {
    case CrcCheck::right:
      return "right";
    case CrcCheck::wrong:
      return "WRONG";
    case CrcCheck::not_checked:
      break;
  }
  return "not checked";
}

std::string local_route_text(const wire::LocalRoute& local) {
  return fmt::format("{} to {}, SL {}, VL {}", lid_text(local.source), lid_text(local.destination),
                     local.service_level, local.virtual_lane);
}

std::string title_of(const PlacedHeader& placed, const Dissection& dissection) {
  const auto& headers = dissection.transport();
  std::string title = placed.header->title;
  if (placed.header == &kBthHeader) {
    return fmt::format("{}: {}, PSN {}, QP {:#x}", title, wire::name(headers.bth.opcode),
                       headers.bth.psn.value(), headers.bth.destination.value);
  }
  if (placed.header == &kAethHeader && dissection.find(kAethHeader)->bytes != 0)
    return fmt::format("{}: {}", title, syndrome_text(headers.aeth.syndrome));
  if (placed.header == &kPayloadHeader) return fmt::format("{}: {} bytes", title, placed.bytes);
  if (placed.header == &kIcrcHeader) return fmt::format("{}: {}", title, check_text(dissection.icrc()));
  if (placed.header == &kVariantCrcHeader) return fmt::format("{}: {}", title, check_text(dissection.vcrc()));
  if (placed.header == &kLocalRouteHeader && dissection.network().local)
    return fmt::format("{}: {}", title, local_route_text(*dissection.network().local));
  return title;
}

// Of bytes, no more than a line shows.
std::string shown_value(const Field& field, const FieldValue& value) {
  constexpr std::size_t kMostBytes = 32;
  if (value.bytes.size() <= kMostBytes) return value_and_meaning(field, value);
  const FieldValue beginning{0, {value.bytes.begin(), value.bytes.begin() + kMostBytes}};
  return fmt::format("{} ... ({} bytes)", value_text(field, beginning), value.bytes.size());
}

void add_computed(HeaderText& text, const Dissection& dissection) {
  const auto& headers = dissection.transport();
  if (text.header == &kSelectiveAckHeader) {
    text.fields.push_back({nullptr, "First missing PSN", std::to_string(headers.bth.psn.value()), 0, 0});
    const auto ranges = selective_ack_ranges(headers.bth.psn, headers.selective_ack_eth);
    text.fields.push_back({nullptr, "Arrived behind it", ranges_text(ranges), 0, 0});
  }
  if (text.header == &kIcrcHeader && dissection.icrc() == CrcCheck::wrong)
    text.fields.push_back(
        {nullptr, "Right would be", fmt::format("{:#010x}", dissection.right_icrc()), 0, 0});
  if (text.header == &kVariantCrcHeader && dissection.vcrc() == CrcCheck::wrong)
    text.fields.push_back({nullptr, "Right would be", fmt::format("{:#06x}", dissection.right_vcrc()), 0, 0});
  if (text.header != &kMadHeader) return;
  if (const std::string words = management_words(dissection); !words.empty())
    text.fields.push_back({nullptr, "In words", words, 0, 0});
}

}  // namespace

std::string syndrome_text(std::uint8_t syndrome) {
  const std::uint8_t code = wire::code(syndrome);
  switch (wire::kind(syndrome)) {
    case wire::AethKind::ack:
      return credits_text(code);
    case wire::AethKind::rnr_nak: {
      const auto wait = std::chrono::duration<double, std::milli>(wire::rnr_timer(code));
      return fmt::format("RNR NAK, wait {:g} ms", wait.count());
    }
    case wire::AethKind::nak:
      return "NAK, " + nak_text(code);
    case wire::AethKind::reserved:
      break;
  }
  return "reserved syndrome";
}

std::string summary(const Dissection& dissection) {
  if (!dissection.has_bth()) {
    if (dissection.link_layer() == wire::LinkLayer::infiniband)
      return fmt::format("no transport header: {}", wire::describe(dissection.verdict()));
    const PlacedHeader* const last = dissection.headers().empty() ? nullptr : &dissection.headers().back();
    return fmt::format("not RoCE: {}", last == nullptr ? "too short" : last->header->title);
  }
  const auto& headers = dissection.transport();
  std::string text = fmt::format("{} PSN={} QP={:#x}", wire::name(headers.bth.opcode),
                                 headers.bth.psn.value(), headers.bth.destination.value);
  const std::uint16_t present = traits(headers.bth.opcode).headers;
  if (headers.bth.opcode == wire::kSelectiveAckOffer) {
    text += fmt::format(" [{}]", offer_text(headers.selective_ack_eth));
  } else {
    text += extended_summary(headers, present);
    if (present & wire::has_selective_ack) {
      const auto ranges = selective_ack_ranges(headers.bth.psn, headers.selective_ack_eth);
      if (!ranges.empty()) text += fmt::format(" [arrived {}]", ranges_text(ranges));
    }
  }
  if (const std::string words = management_words(dissection); !words.empty()) text += " " + words;
  if (dissection.payload_bytes() != 0 && traits(headers.bth.opcode).carries_payload)
    text += fmt::format(" {} bytes", dissection.payload_bytes());
  if (headers.bth.ack_request) text += " AckReq";
  if (headers.bth.solicited) text += " SE";
  if (is_refused(dissection)) text += fmt::format(" ({})", refusal_text(dissection));
  return text;
}

std::vector<HeaderText> tree_of(const Dissection& dissection) {
  std::vector<HeaderText> tree;
  for (const PlacedHeader& placed : dissection.headers()) {
    HeaderText text{placed.header, title_of(placed, dissection), placed.offset, placed.bytes, {}};
    for (const Field& field : placed.header->fields) {
      const PlacedField where = place(placed, field);
      const FieldValue value = read_value(where, dissection.frame());
      text.fields.push_back({&field, field.label, shown_value(field, value), where.first_bit, where.width});
    }
    add_computed(text, dissection);
    tree.push_back(std::move(text));
  }
  return tree;
}

}  // namespace urnic::analysis
