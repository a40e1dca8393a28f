// An SVG document that stands alone: light and dark by the reader's choice, with a title and a description
// for those who do not see it.
#pragma once

#include <string>
#include <string_view>

namespace urnic::analysis {

// Text for an element or an attribute: characters of XML escaped, those that XML 1.0 forbids replaced.
std::string svg_text(std::string_view text);

class SvgDocument {
 public:
  // Width and height in pixels. `shapes`: rules of CSS without colours. `colours`: rules with names of
  // colours,
  // "$sent" for example, which are replaced for light and for dark: back, text, faint, grid, sent, again,
  // lost, ack, nak, response. (Custom properties of CSS would do that, but not every viewer knows them.)
  SvgDocument(int width, int height, std::string_view title, std::string_view description,
              std::string_view shapes, std::string_view colours);

  // Appends an element, already escaped.
  void add(std::string_view element) { body_ += element; }
  // The whole document, with a newline at the end.
  std::string finish();

 private:
  std::string body_;
};

}  // namespace urnic::analysis
