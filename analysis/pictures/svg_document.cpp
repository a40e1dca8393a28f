#include "analysis/pictures/svg_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "terminal/harmless_text.hpp"

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

// What XML 1.0 forbids (section 2.2): control characters, and two codes that are no characters.
bool is_forbidden(char32_t code) {
  return (code < 0x20 && code != '\t' && code != '\n' && code != '\r') || code == 0xFFFE || code == 0xFFFF;
}

}  // namespace

std::string svg_text(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const terminal::Character character = terminal::first_character(text);
    const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
    if (character.bytes == 0 || is_forbidden(character.code)) {
      escaped.append(bytes, '?');
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
    text.remove_prefix(bytes);
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
