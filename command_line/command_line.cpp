#include "command_line/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "command_line/marks.hpp"

namespace urnic::command_line {
namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

// CLI11 takes a word such as "[a,b]" apart, as a list of its configuration files; a program's arguments must
// stay as they are. So such words have this character in front of them while it parses.
constexpr char kShield = '\1';

std::vector<std::string> shielded(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  for (std::string& word : words)
    if (word.starts_with('[') || word.starts_with(kShield)) word.insert(word.begin(), kShield);
  return words;
}

std::string unshielded(const std::string& word) { return word.starts_with(kShield) ? word.substr(1) : word; }

// CLI11 takes the words of a program's main function.
void parse_words(CLI::App& line, int argc, char** argv) {
  std::vector<std::string> words = shielded(argc, argv);
  std::vector<char*> raw;
  raw.reserve(words.size() + 1);
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  line.parse(argc, raw.data());
}

// What --help says of a value that must lie in a range.
template <typename Number>
void tell_range(CLI::Option& option, Number least, Number most) {
  std::ostringstream text;
  text << option.get_description() << "; from " << least << " to " << most;
  option.description(text.str());
}

}  // namespace

Option Option::required() { return Option(option_->required()); }

Option Option::type_name(const std::string& name) { return Option(option_->type_name(name)); }

// The names of values, or the help's text, say what is right: CLI11's own words for its checks would be a
// second time.
Option Option::one_of(const std::vector<std::string>& words) {
  if (option_->get_type_name().empty() || option_->get_type_name() == "TEXT")
    option_->type_name(joined(words, "|"));
  return Option(option_->check(CLI::IsMember(words).description("").name(kChoicesMark + joined(words, ","))));
}

Option Option::existing_file() {
  return Option(option_->check(CLI::Validator(CLI::ExistingFile).description("")));
}

Option Option::suggest(const std::string& what) {
  return Option(
      option_->check(CLI::Validator([](std::string&) { return std::string(); }, "", kSuggestionMark + what)));
}

Option Option::between(int least, int most) {
  tell_range(*option_, least, most);
  return Option(option_->check(CLI::Range(least, most).description("")));
}

Option Option::between(double least, double most) {
  tell_range(*option_, least, most);
  return Option(option_->check(CLI::Range(least, most).description("")));
}

Option Option::positive() {
  return Option(option_->check(CLI::Validator(CLI::PositiveNumber).description("")));
}

Option Option::delimiter(char character) { return Option(option_->delimiter(character)); }

Option Option::expected(int least, int most) { return Option(option_->expected(least, most)); }

Option Option::no_more_words() { return Option(option_->allow_extra_args(false)); }

Option Option::needs(Option other) { return Option(option_->needs(other.option_)); }

Option Option::excludes(Option other) { return Option(option_->excludes(other.option_)); }

Option Option::show_default() { return Option(option_->capture_default_str()); }

Command Command::add_subcommand(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}

template <typename Value>
Option Command::add_option(const std::string& name, Value& value, const std::string& help) {
  CLI::Option* const option = app_->add_option(name, value, help);
  // The name of an argument says what it is.
  if (option->get_positional()) option->type_name("");
  option->transform(CLI::Validator(
      [](std::string& word) {
        word = unshielded(word);
        return std::string();
      },
      ""));
  return Option(option);
}

template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, unsigned&, const std::string&);
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<std::uint32_t>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::uint32_t>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<double>&, const std::string&);

void Command::add_flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
}

Option Command::option(const std::string& name) { return Option(app_->get_option(name)); }

bool Command::has_subcommand(const std::string& name) const {
  return !app_->get_subcommands([&](const CLI::App* command) { return command->get_name() == name; }).empty();
}

void Command::require_subcommand() { app_->require_subcommand(1); }

void Command::alias(const std::string& name) { app_->alias(name); }

void Command::positionals_at_end() { app_->positionals_at_end(); }

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<void()> action) { app_->callback(std::move(action)); }

CommandLine::CommandLine(const std::string& help, const std::string& program)
    : CommandLine(std::make_unique<CLI::App>(help, program)) {}

CommandLine::CommandLine(std::unique_ptr<CLI::App> app) : Command(app.get()), line_(std::move(app)) {}

CommandLine::~CommandLine() = default;

void CommandLine::version(const std::string& text) { line_->set_version_flag("--version", text); }

bool CommandLine::parse(int argc, char** argv) {
  try {
    parse_words(*line_, argc, argv);
    return true;
  } catch (const CLI::Success& request) {
    line_->exit(request);
    return false;
  } catch (const CLI::ParseError& error) {
    throw WrongUsage(error.what());
  }
}

bool CommandLine::parse(int argc, char** argv, int& status) {
  try {
    parse_words(*line_, argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    status = line_->exit(error);
    return false;
  }
}

}  // namespace urnic::command_line
