// Values of fields: in a frame, as numbers and bytes, and as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dissection/dissection.hpp"

namespace urnic::analysis {

// A name or a value that a person wrote is wrong. what() names the field, the value and what is allowed.
struct FieldError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `number` of fields that are numbers, `bytes` of all others.
struct FieldValue {
  std::uint64_t number = 0;
  std::vector<std::byte> bytes;
  friend bool operator==(const FieldValue&, const FieldValue&) = default;
};

// `field` lies in `frame`, as Dissection::find says. read_number: of a field that is a number.
std::uint64_t read_number(const PlacedField& field, std::span<const std::byte> frame);
std::span<const std::byte> read_bytes(const PlacedField& field, std::span<const std::byte> frame);
FieldValue read_value(const PlacedField& field, std::span<const std::byte> frame);

// Throws FieldError if the value does not fit: a number with more bits, another count of bytes.
void write_value(const PlacedField& field, std::span<std::byte> frame, const FieldValue& value);

// As people write it, which parse_value reads: "42", "0x0012", "192.0.2.1", "02:00:00:00:00:0a", "de ad be
// ef". A meaning is not in it: see field_text.
std::string value_text(const Field& field, const FieldValue& value);
// With the meaning, if there is one: "4 (RC Send Only)".
std::string value_and_meaning(const Field& field, const FieldValue& value);

// Reads what a person wrote. Numbers: decimal, hexadecimal after 0x, "true" and "false" for flags, or the
// meaning in any case ("RC Send Only"). Bytes: hexadecimal digits in pairs, with or without spaces, colons, a
// 0x before them. Throws FieldError.
FieldValue parse_value(const Field& field, std::string_view text);

}  // namespace urnic::analysis
