#include "device_model/control/fabric/node_keys.hpp"

#include <charconv>

#include "device_model/subnet/fabric_plan.hpp"

namespace urnic::control {
namespace {

constexpr std::string_view kDescriptionRule = "at most 64 printable characters of ASCII";
constexpr std::string_view kGuidRule =
    "\"0x\" and 16 hexadecimal digits, not all of them 0, such as \"0x0002c90300a1b2c3\"";
constexpr std::size_t kGuidLetters = 18;

}  // namespace

bool is_node_text(std::string_view text, std::string_view without) {
  return text.size() <= subnet::kLongestDescription && subnet::is_printable(text) &&
         text.find_first_of(without) == std::string_view::npos;
}

std::optional<std::string> read_description(const settings::TableReader& reader) {
  auto description = reader.text("description", kDescriptionRule);
  if (description && !is_node_text(*description, ""))
    reader.refuse("description", *reader.table().get("description"), kDescriptionRule);
  return description;
}

wire::mad::Guid read_node_guid(const settings::TableReader& reader) {
  const auto text = reader.text("node_guid", kGuidRule);
  if (!text) return {};
  wire::mad::Guid guid;
  const char* const end = text->data() + text->size();
  const bool has_form = text->size() == kGuidLetters && text->starts_with("0x");
  const auto read = std::from_chars(text->data() + (has_form ? 2 : 0), end, guid.value, 16);
  if (!has_form || read.ec != std::errc{} || read.ptr != end || guid.value == 0)
    reader.refuse("node_guid", *reader.table().get("node_guid"), kGuidRule);
  return guid;
}

}  // namespace urnic::control
