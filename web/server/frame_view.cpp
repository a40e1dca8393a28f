#include "web/server/frame_view.hpp"

#include <fmt/format.h>

#include <string>

#include "analysis/dissection/dissection.hpp"
#include "analysis/dissection/frame_text.hpp"

namespace urnic::web {
namespace {

using nlohmann::json;

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

const char* name(analysis::CrcCheck check) {
  switch (check) {
    case analysis::CrcCheck::not_checked:
      return "not checked";
    case analysis::CrcCheck::right:
      return "right";
    case analysis::CrcCheck::wrong:
      return "wrong";
  }
  return "?";
}

}  // namespace

json frame_view(const analysis::CapturedPacket& packet) {
  const analysis::Dissection dissection =
      analysis::dissect(packet.bytes, packet.original_bytes, packet.link_layer);
  json headers = json::array();
  for (const analysis::HeaderText& header : analysis::tree_of(dissection)) {
    json fields = json::array();
    for (const analysis::FieldText& field : header.fields) {
      fields.push_back({{"name", field.field != nullptr ? field.field->name : ""},
                        {"label", field.label},
                        {"value", field.value},
                        {"first_bit", field.first_bit},
                        {"bits", field.width}});
    }
    headers.push_back(
        {{"title", header.title}, {"offset", header.offset}, {"bytes", header.bytes}, {"fields", fields}});
  }
  return {{"summary", analysis::summary(dissection)}, {"headers", headers},
          {"icrc", name(dissection.icrc())},          {"comment", packet.comment},
          {"original_bytes", packet.original_bytes},  {"bytes", hexadecimal(packet.bytes)}};
}

}  // namespace urnic::web
