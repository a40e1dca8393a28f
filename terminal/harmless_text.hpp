// Text that others have written, for a person's terminal: it must not move the cursor, change colours or show
// letters in another order than they are read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace urnic::terminal {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with a character of UTF-8 (RFC 3629, section 4)
};

inline Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xC2 && lead < 0xE0   ? 2
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xF0 && lead < 0xF5 ? 4
                                                          : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < kLeast[bytes] || surrogate || code > 0x10FFFF ? Character{} : Character{code, bytes};
}

// C0 and C1 controls (ECMA-48), the separators that end lines, and what Unicode's bidirectional algorithm
// takes for a command (UAX 9, section 2).
inline bool is_harmful(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// Replaces each byte of what is harmful, or not UTF-8. `kept`: a control that stays, such as '\n'.
inline void make_harmless(std::span<char> text, char replacement, char kept = '\0') {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = first_character({text.data() + at, text.size() - at});
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    const bool stays = kept != '\0' && text[at] == kept;
    if (!stays && (character.bytes == 0 || is_harmful(character.code)))
      for (std::size_t i = 0; i < bytes; ++i) text[at + i] = replacement;
    at += bytes;
  }
}

inline std::string harmless(std::string text, char replacement = '?', char kept = '\0') {
  make_harmless(text, replacement, kept);
  return text;
}

}  // namespace urnic::terminal
