// `urnic --suggest WHAT`: what the shells' completion offers where the words are not known before: devices,
// names of device processes, lessons, settings of links.
#pragma once

#include <string>
#include <vector>

namespace urnic::cli {

// `what` is a word that an option or argument was given with Option::suggest: "device" (and "all"),
// "one-device", "device-process", "lesson", "link-setting". Nothing for any other word, and where nothing
// runs or is installed that could be asked.
std::vector<std::string> suggestions(const std::string& what);

}  // namespace urnic::cli
