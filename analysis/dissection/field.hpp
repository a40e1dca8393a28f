// The fields of the headers in a frame, by names that people write: one table for each header, which serves
// reading and writing. docs/fields.md lists them.
//
// Names are Wireshark's in short: without "infiniband." and without subtrees. Each field says the whole one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace urnic::analysis {

enum class FieldKind : std::uint8_t {
  decimal,
  hexadecimal,
  flag,  // one bit
  mac,
  ipv4,
  ipv6,
  bytes,
};

// Whether a field of this kind is a number of at most 64 bits. All others are whole bytes.
constexpr bool is_number(FieldKind kind) {
  return kind == FieldKind::decimal || kind == FieldKind::hexadecimal || kind == FieldKind::flag;
}

// Until the end of the header, which has no length of its own: payload, pad, private data.
inline constexpr std::uint16_t kToTheEnd = 0;

// A row of a table. All of it is static.
struct Field {
  const char* name;         // "bth.psn"
  const char* label;        // "Packet sequence number"
  const char* wireshark;    // "infiniband.bth.psn"; empty: Wireshark 4.0 has no such field
  std::uint16_t first_bit;  // from the header's first bit; a byte's most significant bit comes first
  std::uint16_t width;      // bits, or kToTheEnd
  FieldKind kind;
  bool part = false;  // repeats bits of the field before it, such as the two halves of a syndrome
  // What a number means, such as "RC Send Only"; nullptr, or an empty text, if the number says all.
  std::string (*meaning)(std::uint64_t) = nullptr;
};

struct Header {
  const char* name;     // "bth"
  const char* title;    // "Base transport header"
  std::uint16_t bytes;  // 0: until what follows
  std::span<const Field> fields;
};

// Every header, in the order in which they lie in a frame.
std::span<const Header* const> all_headers();

struct FieldOfHeader {
  const Header* header;
  const Field* field;
};

// The field of that name; empty if there is none. `field_or_fail` throws FieldError, which names the closest
// names.
std::optional<FieldOfHeader> find_field(std::string_view name);
FieldOfHeader field_or_fail(std::string_view name);

}  // namespace urnic::analysis
