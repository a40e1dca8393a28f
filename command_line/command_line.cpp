#include "command_line/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <utility>

namespace urnic::command_line {

Option Option::required() { return Option(option_->required()); }

Option Option::type_name(const std::string& name) { return Option(option_->type_name(name)); }

Option Option::one_of(const std::vector<std::string>& words) {
  return Option(option_->check(CLI::IsMember(words)));
}

Option Option::existing_file() { return Option(option_->check(CLI::ExistingFile)); }

Option Option::between(int least, int most) { return Option(option_->check(CLI::Range(least, most))); }

Option Option::between(double least, double most) { return Option(option_->check(CLI::Range(least, most))); }

Option Option::positive() { return Option(option_->check(CLI::PositiveNumber)); }

Option Option::delimiter(char character) { return Option(option_->delimiter(character)); }

Option Option::expected(int least, int most) { return Option(option_->expected(least, most)); }

Option Option::no_more_words() { return Option(option_->allow_extra_args(false)); }

Option Option::excludes(Option other) { return Option(option_->excludes(other.option_)); }

Option Option::show_default() { return Option(option_->capture_default_str()); }

Command Command::add_subcommand(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}

template <typename Value>
Option Command::add_option(const std::string& name, Value& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
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
    line_->parse(argc, argv);
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
    line_->parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    status = line_->exit(error);
    return false;
  }
}

}  // namespace urnic::command_line
