// The command lines of urnic's programs: options, subcommands, --help. CLI11 behind an interface without its
// header, which every including file would compile for seven seconds.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace urnic::command_line {

// The command line is not as the options demand. what() says why.
struct WrongUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Belongs to its command; copies mean the same option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  // What stands for the value in the help.
  Option type_name(const std::string& name);
  // The words stand for the value in the help, unless something else does already.
  Option one_of(const std::vector<std::string>& words);
  Option existing_file();
  // What completion offers for the value: a word that the makers of completion know, such as "file".
  Option suggest(const std::string& what);
  Option between(int least, int most);
  Option between(double least, double most);
  Option positive();
  // Several values in one word.
  Option delimiter(char character);
  Option expected(int least, int most);
  // The next word after the value is not another value.
  Option no_more_words();
  // Must stand beside the other option.
  Option needs(Option other);
  // May not stand beside the other option.
  Option excludes(Option other);
  // The variable's present value, in the help.
  Option show_default();

 private:
  CLI::Option* option_;
};

struct CommandDescription;

// Belongs to its CommandLine; copies mean the same command.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command add_subcommand(const std::string& name, const std::string& help);
  // A name without dashes is a positional argument. The value is put into `value`, which must outlive the
  // command line. There are instances for the types that command_line.cpp names.
  template <typename Value>
  Option add_option(const std::string& name, Value& value, const std::string& help);
  void add_flag(const std::string& name, bool& value, const std::string& help);
  // Option of that name, which has been added.
  Option option(const std::string& name);
  bool has_subcommand(const std::string& name) const;

  void require_subcommand();
  void alias(const std::string& name);
  // Behind the first positional argument all words are positional.
  void positionals_at_end();
  // The end of the help. A line that begins with "Example: " is an example.
  void footer(const std::string& text);
  // Called once the command has been parsed.
  void callback(std::function<void()> action);

  // What the command takes (description.hpp).
  friend CommandDescription describe(const Command& command);

 private:
  CLI::App* app_;
};

class CommandLine : public Command {
 public:
  explicit CommandLine(const std::string& help, const std::string& program = "");
  CommandLine(CommandLine&&) = delete;
  ~CommandLine();

  // --version prints it.
  void version(const std::string& text);
  // Parses, and calls the subcommand's callback. False: was asked for --help or --version, which it has
  // printed. Throws WrongUsage, and what the callback throws.
  bool parse(int argc, char** argv);
  // For programs that say nothing of their own about a wrong command line. False: the program ends with
  // `status`, because help was printed or the command line is wrong, as a message on stderr has said.
  bool parse(int argc, char** argv, int& status);

 private:
  explicit CommandLine(std::unique_ptr<CLI::App> app);

  std::unique_ptr<CLI::App> line_;
};

}  // namespace urnic::command_line
