// A process that starts a program for the device process, which itself can start none once its system calls
// are restricted. It is forked before that and waits; the program that it starts ends with the device
// process, however that ends.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// What is to be started; it is fixed when the parent process is forked, so that nobody who gets into the
// device process can have another program started.
struct ProgramStart {
  std::string name;                              // in ps(1) and messages
  std::vector<std::string> words;                // the first is the program's path
  std::map<std::string, std::string> variables;  // beside those of this process's environment
};

class ProgramParent {
 public:
  // Forks the parent process. Call it before the first thread starts. Throws std::system_error.
  static std::unique_ptr<ProgramParent> fork(const ProgramStart& start);
  // Kills the program, and waits until it and the parent process have ended: 2 s at most.
  ~ProgramParent();
  ProgramParent(const ProgramParent&) = delete;
  ProgramParent& operator=(const ProgramParent&) = delete;

  // Starts the program; once only. Does not wait.
  void start();

  // Becomes readable when there is a report, and when the parent process has ended.
  int descriptor() const { return socket_.get(); }

  struct Report {
    enum class Kind { running, ended, parent_ended };
    Kind kind = Kind::running;
    pid_t pid = 0;      // running
    std::string words;  // ended: why, and the last that the program has said on its standard error
  };
  // Empty: there is none now.
  std::optional<Report> next_report();

 private:
  explicit ProgramParent(memory::Descriptor socket) : socket_(std::move(socket)) {}

  memory::Descriptor socket_;
};

}  // namespace urnic::control
