// What a command line takes, for the makers of manual pages and of completion: all of it comes from the same
// definitions as --help.
#pragma once

#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace urnic::command_line {

// An option; or an argument, which has no dashes.
struct OptionDescription {
  std::vector<std::string> names;  // "-o", "--output"; of an argument what stands for it: "FILE"
  std::string value;               // what stands for the value; empty: a flag
  std::string default_value;       // if the help shows it
  std::string help;
  bool required = false;
  bool repeats = false;              // may be given again; of an argument: takes several words
  bool separates = false;            // takes several values in one word, with commas between them
  std::vector<std::string> choices;  // all that the value may be; empty: anything
  std::string suggestion;            // Option::suggest
  std::vector<std::string> excludes;
};

struct CommandDescription {
  std::string name;
  std::vector<std::string> aliases;
  std::string help;
  std::string notes;  // the footer without the examples
  std::vector<std::string> examples;
  std::vector<OptionDescription> options;
  std::vector<OptionDescription> arguments;
  std::vector<CommandDescription> commands;  // its subcommands, as they were added
};

CommandDescription describe(const Command& command);

}  // namespace urnic::command_line
