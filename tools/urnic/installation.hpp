// Where the files of this urnic are, relative to the running `urnic`: an installed tree works from any
// prefix, and a build tree works in place.
#pragma once

#include <filesystem>

namespace urnic::cli {

struct Installation {
  std::filesystem::path device_process;    // urnicd
  std::filesystem::path script_agent;      // urnic-script-agent
  std::filesystem::path kernel_stand_in;   // liburnic-kernel.so
  std::filesystem::path provider;          // liburnic-rdmav34.so
  std::filesystem::path provider_setting;  // the provider as RDMAV_DRIVERS wants it, without "-rdmav34.so"
};

// Throws Failure, naming the file, if one is missing or cannot be preloaded from its path.
Installation find_installation();

// What is for Wireshark, which need not be installed.
struct WiresharkInstallation {
  std::filesystem::path dissector;  // urnic.lua
  std::filesystem::path profile;    // a folder
};

// Throws Failure if it is not there.
WiresharkInstallation find_wireshark_installation();

// The parts of the live page, which need not be installed.
struct WebInstallation {
  std::filesystem::path server;  // urnic-web
  std::filesystem::path page;    // the folder of its files
};

// Throws Failure if they are not there.
WebInstallation find_web_installation();

// What `urnic pvrdma-mux` starts. Throws Failure if it is not there.
std::filesystem::path find_pvrdma_mux();

// The lessons, which need not be installed.
struct LessonInstallation {
  std::filesystem::path tutor;    // the program that shows and checks them
  std::filesystem::path lessons;  // a folder with a folder for each
};

// Throws Failure if they are not there.
LessonInstallation find_lesson_installation();

}  // namespace urnic::cli
