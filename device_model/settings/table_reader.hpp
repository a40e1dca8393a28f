// Reads one table of a TOML file. Unknown keys are errors. Errors name the file, the line, the key, the value
// and what is allowed.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "device_model/settings/setting_error.hpp"

namespace urnic::settings {

// Parses a whole file's text; `name` stands for the file in errors. Throws SettingError, also for a NUL
// character in a key or text: system calls and libraries would take what is before it for the whole.
toml::table parse(const std::string& text, const std::string& name);

// Throws SettingError "file:line: problem".
[[noreturn]] void fail_at(const std::string& file, unsigned line, const std::string& problem);

class TableReader {
 public:
  // `table` and `file` must outlive the reader. `title`, such as "device.", is put in front of keys in
  // errors.
  TableReader(const toml::table& table, const std::string& file, std::string title)
      : table_(table), file_(file), title_(std::move(title)) {}

  const toml::table& table() const { return table_; }

  // Throws SettingError "file:line: problem".
  [[noreturn]] void fail(const toml::source_region& where, const std::string& problem) const;
  // Throws SettingError "file:line: title.key = value: allowed is ..."
  [[noreturn]] void refuse(std::string_view key, const toml::node& node, std::string_view allowed) const;

  // Throws SettingError if the table has a key that is not in `keys`.
  void known_keys(std::span<const std::string_view> keys) const;
  void known_keys(std::initializer_list<std::string_view> keys) const {
    known_keys(std::span(keys.begin(), keys.size()));
  }

  // The key's value; empty if there is no such key. Throws SettingError if the value is not allowed.
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t lowest, std::int64_t highest) const;
  // Leaves `out` as it is if there is no such key.
  void integer(std::string_view key, std::uint32_t lowest, std::uint32_t highest, std::uint32_t& out) const;
  // Integers count as numbers.
  std::optional<double> number(std::string_view key, double lowest, double highest,
                               std::string_view allowed) const;
  std::optional<std::string> text(std::string_view key, std::string_view allowed) const;
  std::optional<bool> flag(std::string_view key) const;
  // The position of the text in `words`.
  std::optional<std::size_t> word(std::string_view key, std::span<const std::string_view> words) const;

  // The section [key]; null if there is none.
  const toml::table* section(std::string_view key) const;
  // The sections [[key]], 1 to `most`; null if there are none.
  const toml::array* sections(std::string_view key, std::size_t most) const;

 private:
  const toml::table& table_;
  const std::string& file_;
  std::string title_;
};

}  // namespace urnic::settings
