#include "analysis/pictures/svg_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace urnic::analysis {
namespace {

struct Colour {
  std::string_view name;
  std::string_view light;
  std::string_view dark;
};

// After Okabe and Ito, whose colours the colour-blind tell apart; lines and marks say the same as the
// colours.
constexpr std::array kPalette{
    Colour{"$back", "#ffffff", "#16181c"},  Colour{"$text", "#222222", "#e6e6e6"},
    Colour{"$faint", "#5f6368", "#a6a9ad"}, Colour{"$grid", "#dddddd", "#3a3d42"},
    Colour{"$sent", "#0072b2", "#56b4e9"},  Colour{"$again", "#b04a00", "#e69f00"},
    Colour{"$lost", "#c4002b", "#ff7070"},  Colour{"$ack", "#4d4d4d", "#b8b8b8"},
    Colour{"$nak", "#9c3a78", "#e08fc0"},   Colour{"$response", "#007a5a", "#35c49a"},
};

constexpr std::string_view kCommonShapes =
    "text{font:12px sans-serif}.end{text-anchor:end}.middle{text-anchor:middle}"
    ".title{font-weight:bold;font-size:13px}";
constexpr std::string_view kCommonColours =
    "text{fill:$text}.back{fill:$back}.faint{fill:$faint}.grid{stroke:$grid}";

std::string coloured(std::string_view rules, bool dark) {
  std::string text;
  while (!rules.empty()) {
    const auto* const colour = std::find_if(kPalette.begin(), kPalette.end(), [&](const Colour& candidate) {
      return rules.starts_with(candidate.name);
    });
    if (colour != kPalette.end()) {
      text += dark ? colour->dark : colour->light;
      rules.remove_prefix(colour->name.size());
    } else {
      text += rules[0];
      rules.remove_prefix(1);
    }
  }
  return text;
}

// What XML 1.0 forbids (section 2.2), among the control characters.
bool is_forbidden(unsigned char character) {
  return character < 0x20 && character != '\t' && character != '\n' && character != '\r';
}

// The length of the UTF-8 character at the beginning, 0 if there is none (RFC 3629 4).
std::size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = lead < 0x80                   ? 1
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xF0 && lead < 0xF5 ? 4
                                                          : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  const auto second = bytes > 1 ? static_cast<unsigned char>(text[1]) : 0;
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool beyond = lead == 0xF4 && second > 0x8F;
  const bool no_character = lead == 0xEF && second == 0xBF && static_cast<unsigned char>(text[2]) >= 0xBE;
  return overlong || surrogate || beyond || no_character ? 0 : bytes;
}

}  // namespace

std::string svg_text(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0 || is_forbidden(static_cast<unsigned char>(text[0]))) {
      escaped += '?';
    } else if (text[0] == '&') {
      escaped += "&amp;";
    } else if (text[0] == '<') {
      escaped += "&lt;";
    } else if (text[0] == '>') {
      escaped += "&gt;";
    } else if (text[0] == '"') {
      escaped += "&quot;";
    } else {
      escaped += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return escaped;
}

SvgDocument::SvgDocument(int width, int height, std::string_view title, std::string_view description,
                         std::string_view shapes, std::string_view colours) {
  const std::string all_colours = std::string(kCommonColours) + std::string(colours);
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\" aria-labelledby=\"title description\">\n<title id=\"title\">{2}</title>\n"
      "<desc id=\"description\">{3}</desc>\n<style>{4}{5}\n{6}\n@media (prefers-color-scheme:dark){{{7}}}"
      "</style>\n<rect class=\"back\" width=\"{0}\" height=\"{1}\"/>\n",
      width, height, svg_text(title), svg_text(description), kCommonShapes, shapes,
      coloured(all_colours, false), coloured(all_colours, true));
}

std::string SvgDocument::finish() {
  body_ += "</svg>\n";
  return std::move(body_);
}

}  // namespace urnic::analysis
