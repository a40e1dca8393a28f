// urnic lesson: a course on RDMA. The lessons and the program that shows and checks them are installed files
// (docs/lessons, tools/tutor); this command only finds and starts that program.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/urnic/commands.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/installation.hpp"

namespace urnic::cli {
namespace {

// The distribution's, whose modules its packages install: not one that comes first in PATH.
constexpr const char* kPython = "/usr/bin/python3";

struct LessonOptions {
  std::string number;
  std::string folder;
  std::string exercise;
  bool check = false;
  bool solution = false;
};

void teach(const LessonOptions& options) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const LessonInstallation installed = find_lesson_installation();

  std::vector<std::string> words{kPython, "-B",        installed.tutor,  "--urnic",
                                 self,    "--lessons", installed.lessons};
  if (options.check) words.emplace_back("--check");
  if (options.solution) words.emplace_back("--solution");
  if (!options.number.empty()) words.push_back("--number=" + options.number);
  if (!options.exercise.empty()) words.push_back("--exercise=" + options.exercise);
  if (!options.folder.empty()) words.push_back("--folder=" + options.folder);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  throw Failure(
      fmt::format("the lessons need {}, which cannot be started: {}", kPython, std::strerror(errno)));
}

}  // namespace

void add_lesson(command_line::Command& urnic) {
  auto options = std::make_shared<LessonOptions>();
  command_line::Command command =
      urnic.add_subcommand("lesson", "Learn RDMA: eleven lessons with exercises that are checked");
  command.add_option("NUMBER", options->number, "Which lesson; without it, the list of lessons")
      .suggest("lesson");
  command
      .add_option("FOLDER", options->folder,
                  "Where your files of this lesson are, or are put (default: urnic-lesson-NUMBER)")
      .suggest("folder");
  command.add_flag("--check", options->check, "Check your exercises, and give hints");
  command.add_option("--exercise", options->exercise, "Check only this one").type_name("NUMBER");
  command.add_flag("--solution", options->solution,
                   "Show what a solution changes, and put it into the folder 'solution' beside your files");
  command.footer(
      "Prints the lesson and puts the files that it begins with into a folder; files that are there stay.\n"
      "The exit status of --check is 1 while an exercise is not right.\n"
      "Example: urnic lesson 1\n"
      "Example: urnic lesson 1 --check");
  command.callback([options] { teach(*options); });
}

}  // namespace urnic::cli
