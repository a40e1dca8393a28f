// The file in which container runtimes look for a specification of devices.
#pragma once

#include <filesystem>
#include <string>

namespace urnic::cli {

// Where this user's container runtimes look, or can be told to: /var/run/cdi for root, else cdi in
// $XDG_CONFIG_HOME or
// ~/.config. Throws Failure if neither variable says where that is.
std::filesystem::path default_specification_directory();

// The file for devices of `device_class` in `directory`, by the custom vendor-class.json.
std::filesystem::path specification_file(const std::filesystem::path& directory,
                                         const std::string& device_class);

// Writes `text`, for everybody to read, in place of what is there: a reader sees all of the old or all of the
// new file. Makes the directory. Throws Failure, which says what to do.
void write_specification(const std::filesystem::path& file, const std::string& text);

// False: there was none. Throws Failure.
bool remove_specification(const std::filesystem::path& file);

}  // namespace urnic::cli
