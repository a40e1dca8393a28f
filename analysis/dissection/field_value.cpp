#include "analysis/dissection/field_value.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

namespace urnic::analysis {
namespace {

// Meanings are looked through by a number's values, so fields of more bits have none that can be written.
constexpr std::size_t kMostBitsWithMeaning = 16;

[[noreturn]] void refuse(const Field& field, std::string_view value, const std::string& allowed) {
  throw FieldError(fmt::format("{} = {}: allowed is {}", field.name, value, allowed));
}

std::uint64_t greatest(std::size_t width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

bool are_alike(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

int digit_of(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  const int lower = std::tolower(static_cast<unsigned char>(character));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string hexadecimal_bytes(std::span<const std::byte> bytes, std::string_view between) {
  std::string text;
  text.reserve(bytes.size() * 3);
  for (const std::byte byte : bytes) {
    if (!text.empty()) text += between;
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

std::string internet_address(int family, std::span<const std::byte> bytes) {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(family, bytes.data(), text, sizeof text) != nullptr ? text : "";
}

std::vector<std::byte> parse_address(const Field& field, std::string_view text) {
  const bool ipv4 = field.kind == FieldKind::ipv4;
  std::vector<std::byte> bytes(field.width / 8);
  if (inet_pton(ipv4 ? AF_INET : AF_INET6, std::string(text).c_str(), bytes.data()) != 1)
    refuse(field, text, ipv4 ? "an IPv4 address" : "an IPv6 address");
  return bytes;
}

std::vector<std::byte> parse_bytes(const Field& field, std::string_view text) {
  std::vector<std::byte> bytes;
  std::string_view rest = text.starts_with("0x") ? text.substr(2) : text;
  while (!rest.empty()) {
    if (rest[0] == ' ' || rest[0] == ':') {
      rest.remove_prefix(1);
      continue;
    }
    const int high = digit_of(rest[0]);
    const int low = rest.size() > 1 ? digit_of(rest[1]) : -1;
    if (high < 0 || low < 0) refuse(field, text, "pairs of hexadecimal digits");
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
    rest.remove_prefix(2);
  }
  if (field.width != kToTheEnd && bytes.size() != field.width / 8)
    refuse(field, text, fmt::format("{} bytes in hexadecimal digits", field.width / 8));
  return bytes;
}

bool parse_meaning(const Field& field, std::string_view text, std::uint64_t& number) {
  if (field.kind == FieldKind::flag && (are_alike(text, "true") || are_alike(text, "false"))) {
    number = are_alike(text, "true") ? 1 : 0;
    return true;
  }
  if (field.meaning == nullptr || text.empty() || field.width > kMostBitsWithMeaning) return false;
  for (std::uint64_t value = 0; value <= greatest(field.width); ++value) {
    if (!are_alike(field.meaning(value), text)) continue;
    number = value;
    return true;
  }
  return false;
}

std::uint64_t parse_number(const Field& field, std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hexadecimal ? text.substr(2) : text;
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, hexadecimal ? 16 : 10);
  const bool is_number = !digits.empty() && stop == end && error == std::errc{};
  if (is_number && number <= greatest(field.width)) return number;
  if (!is_number && parse_meaning(field, text, number)) return number;
  std::string allowed = fmt::format("a whole number from 0 to {}", greatest(field.width));
  if (field.kind == FieldKind::flag) allowed = "0, 1, true or false";
  if (field.meaning != nullptr && field.width <= kMostBitsWithMeaning) allowed += ", or its meaning in words";
  refuse(field, text, allowed);
}

}  // namespace

std::uint64_t read_number(const PlacedField& field, std::span<const std::byte> frame) {
  std::uint64_t value = 0;
  for (std::size_t bit = field.first_bit; bit < field.first_bit + field.width;) {
    const std::size_t in_byte = bit % 8;
    const std::size_t take = std::min(8 - in_byte, field.first_bit + field.width - bit);
    const unsigned byte = std::to_integer<unsigned>(frame[bit / 8]);
    value = value << take | (byte >> (8 - in_byte - take) & ((1U << take) - 1));
    bit += take;
  }
  return value;
}

std::span<const std::byte> read_bytes(const PlacedField& field, std::span<const std::byte> frame) {
  return frame.subspan(field.first_bit / 8, field.width / 8);
}

FieldValue read_value(const PlacedField& field, std::span<const std::byte> frame) {
  if (is_number(field.field->kind)) return {read_number(field, frame), {}};
  const auto bytes = read_bytes(field, frame);
  return {0, {bytes.begin(), bytes.end()}};
}

void write_value(const PlacedField& field, std::span<std::byte> frame, const FieldValue& value) {
  if (!is_number(field.field->kind)) {
    if (value.bytes.size() != field.width / 8)
      refuse(*field.field, hexadecimal_bytes(value.bytes, " "), fmt::format("{} bytes", field.width / 8));
    std::copy(value.bytes.begin(), value.bytes.end(), frame.begin() + static_cast<long>(field.first_bit / 8));
    return;
  }
  if (value.number > greatest(field.width))
    refuse(*field.field, std::to_string(value.number),
           fmt::format("a whole number from 0 to {}", greatest(field.width)));
  for (std::size_t done = 0; done < field.width; ++done) {
    const std::size_t bit = field.first_bit + done;
    const auto mask = static_cast<std::byte>(0x80 >> bit % 8);
    const bool is_set = (value.number >> (field.width - 1 - done) & 1) != 0;
    frame[bit / 8] = is_set ? frame[bit / 8] | mask : frame[bit / 8] & ~mask;
  }
}

std::string value_text(const Field& field, const FieldValue& value) {
  switch (field.kind) {
    case FieldKind::decimal:
    case FieldKind::flag:
      return std::to_string(value.number);
    case FieldKind::hexadecimal:
      return fmt::format("{:#0{}x}", value.number, (field.width + 3) / 4 + 2);
    case FieldKind::mac:
      return hexadecimal_bytes(value.bytes, ":");
    case FieldKind::ipv4:
      return value.bytes.size() == 4 ? internet_address(AF_INET, value.bytes) : "";
    case FieldKind::ipv6:
      return value.bytes.size() == 16 ? internet_address(AF_INET6, value.bytes) : "";
    case FieldKind::bytes:
      return hexadecimal_bytes(value.bytes, " ");
  }
  return {};
}

std::string value_and_meaning(const Field& field, const FieldValue& value) {
  std::string text = value_text(field, value);
  const std::string meaning = field.meaning != nullptr ? field.meaning(value.number) : std::string{};
  return meaning.empty() ? text : fmt::format("{} ({})", text, meaning);
}

FieldValue parse_value(const Field& field, std::string_view text) {
  if (is_number(field.kind)) return {parse_number(field, text), {}};
  if (field.kind == FieldKind::ipv4 || field.kind == FieldKind::ipv6) return {0, parse_address(field, text)};
  return {0, parse_bytes(field, text)};
}

}  // namespace urnic::analysis
