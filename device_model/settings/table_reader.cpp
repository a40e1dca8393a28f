#include "device_model/settings/table_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "terminal/harmless_text.hpp"

namespace urnic::settings {
namespace {

// An error is one line, even if the file's text has line ends, and does a terminal no harm.
std::string one_line(std::string text) { return terminal::harmless(std::move(text), ' '); }

std::string printed(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  const std::string line = text.str();
  return line.size() > 80 ? line.substr(0, 77) + "..." : line;
}

void refuse_nul(const toml::node& node, std::string_view key, const std::string& file) {
  const std::string* const text = node.is_string() ? &node.as_string()->get() : nullptr;
  if (key.find('\0') != std::string_view::npos ||
      (text != nullptr && text->find('\0') != std::string::npos)) {
    const std::string_view seen = key.substr(0, key.find('\0'));
    throw SettingError(one_line(fmt::format("{}:{}: {}: a NUL character (\\u0000) is not allowed", file,
                                            node.source().begin.line, seen)));
  }
  if (const toml::table* const table = node.as_table()) {
    for (const auto& [name, value] : *table) refuse_nul(value, name.str(), file);
  }
  if (const toml::array* const array = node.as_array()) {
    for (const auto& value : *array) refuse_nul(value, key, file);
  }
}

}  // namespace

toml::table parse(const std::string& text, const std::string& name) {
  try {
    toml::table table = toml::parse(text, name);
    refuse_nul(table, "", name);
    return table;
  } catch (const toml::parse_error& error) {
    throw SettingError(one_line(fmt::format("{}:{}: not TOML: {}", name, error.source().begin.line,
                                            std::string_view(error.description()))));
  }
}

void fail_at(const std::string& file, unsigned line, const std::string& problem) {
  throw SettingError(one_line(fmt::format("{}:{}: {}", file, line, problem)));
}

void TableReader::fail(const toml::source_region& where, const std::string& problem) const {
  fail_at(file_, where.begin.line, problem);
}

void TableReader::refuse(std::string_view key, const toml::node& node, std::string_view allowed) const {
  fail(node.source(), fmt::format("{}{} = {}: allowed is {}", title_, key, printed(node), allowed));
}

void TableReader::known_keys(std::span<const std::string_view> keys) const {
  for (const auto& [key, node] : table_) {
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
    fail(key.source(),
         fmt::format("{}{}: no such setting; known here are {}", title_, key.str(), fmt::join(keys, ", ")));
  }
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t lowest,
                                                 std::int64_t highest) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < lowest || *value > highest) {
    refuse(key, *node, fmt::format("a whole number from {} to {}", lowest, highest));
  }
  return value;
}

void TableReader::integer(std::string_view key, std::uint32_t lowest, std::uint32_t highest,
                          std::uint32_t& out) const {
  if (const auto value = integer(key, std::int64_t{lowest}, std::int64_t{highest})) {
    out = static_cast<std::uint32_t>(*value);
  }
}

std::optional<double> TableReader::number(std::string_view key, double lowest, double highest,
                                          std::string_view allowed) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  const bool is_number = node->is_integer() || node->is_floating_point();
  const auto value = is_number ? node->value<double>() : std::nullopt;
  if (!value || std::isnan(*value) || *value < lowest || *value > highest) refuse(key, *node, allowed);
  return value;
}

std::optional<std::string> TableReader::text(std::string_view key, std::string_view allowed) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  auto value = node->value_exact<std::string>();
  if (!value) refuse(key, *node, allowed);
  return value;
}

std::optional<bool> TableReader::flag(std::string_view key) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<bool>();
  if (!value) refuse(key, *node, "true or false");
  return value;
}

std::optional<std::size_t> TableReader::word(std::string_view key,
                                             std::span<const std::string_view> words) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<std::string>();
  const auto found = value ? std::find(words.begin(), words.end(), *value) : words.end();
  if (found == words.end()) refuse(key, *node, fmt::format("\"{}\"", fmt::join(words, "\", \"")));
  return static_cast<std::size_t>(found - words.begin());
}

const toml::table* TableReader::section(std::string_view key) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return nullptr;
  if (node->as_table() == nullptr) refuse(key, *node, fmt::format("a section, [{}]", key));
  return node->as_table();
}

const toml::array* TableReader::sections(std::string_view key, std::size_t most) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) return nullptr;
  const toml::array* list = node->as_array();
  if (list == nullptr || list->empty() || list->size() > most || !list->is_homogeneous<toml::table>()) {
    refuse(key, *node, fmt::format("1 to {} sections [[{}]]", most, key));
  }
  return list;
}

}  // namespace urnic::settings
