#include "command_line/description.hpp"

#include <CLI/CLI.hpp>
#include <sstream>
#include <string_view>

#include "command_line/marks.hpp"

namespace urnic::command_line {
namespace {

constexpr std::string_view kExample = "Example: ";

// What stands behind the mark in the name of one of the option's validators.
std::string marked(CLI::Option& option, std::string_view mark) {
  try {
    for (int index = 0;; ++index) {
      const std::string& name = option.get_validator(index)->get_name();
      if (name.compare(0, mark.size(), mark) == 0) return name.substr(mark.size());
    }
  } catch (const CLI::OptionNotFound&) {  // that was the last one
    return {};
  }
}

std::vector<std::string> separated(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

OptionDescription describe(CLI::Option& option) {
  OptionDescription description;
  for (const std::string& name : option.get_snames()) description.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) description.names.push_back("--" + name);
  if (option.get_positional()) description.names = {option.get_name(true)};
  if (option.get_type_size() != 0) description.value = option.get_type_name();
  description.default_value = option.get_default_str();
  description.help = option.get_description();
  description.required = option.get_required();
  description.repeats = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  description.separates = option.get_delimiter() != '\0';
  description.choices = separated(marked(option, kChoicesMark), ',');
  description.suggestion = marked(option, kSuggestionMark);
  for (const CLI::Option* other : option.get_excludes()) description.excludes.push_back(other->get_name());
  return description;
}

CommandDescription describe(CLI::App& app) {
  CommandDescription description;
  description.name = app.get_name();
  description.aliases = app.get_aliases();
  description.help = app.get_description();
  for (const std::string& line : separated(app.get_footer(), '\n')) {
    if (std::string_view(line).substr(0, kExample.size()) == kExample) {
      description.examples.push_back(line.substr(kExample.size()));
    } else {
      description.notes += (description.notes.empty() ? "" : "\n") + line;
    }
  }
  for (CLI::Option* option : app.get_options())
    (option->get_positional() ? description.arguments : description.options).push_back(describe(*option));
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    description.commands.push_back(describe(*command));
  return description;
}

}  // namespace

CommandDescription describe(const Command& command) { return describe(*command.app_); }

}  // namespace urnic::command_line
