#include "web/server/page_files.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace urnic::web {
namespace {

// Empty: the page has no such files, and they are not served.
std::string type_of(const std::filesystem::path& file) {
  const std::string suffix = file.extension().string();
  if (suffix == ".html") return "text/html; charset=utf-8";
  if (suffix == ".css") return "text/css; charset=utf-8";
  if (suffix == ".js") return "text/javascript; charset=utf-8";
  if (suffix == ".svg") return "image/svg+xml";
  return "";
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::runtime_error(fmt::format("{} cannot be read", file.string()));
  return text.str();
}

}  // namespace

std::map<std::string, PageFile> read_page(const std::filesystem::path& folder) {
  std::map<std::string, PageFile> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, missing)) {
    const std::string type = type_of(entry.path());
    if (type.empty() || !entry.is_regular_file()) continue;
    files["/" + entry.path().lexically_relative(folder).generic_string()] = {type, contents(entry.path())};
  }
  const auto index = files.find("/index.html");
  if (index == files.end()) {
    throw std::runtime_error(fmt::format(
        "the page is missing: {} has no index.html; build or install urnic whole", folder.string()));
  }
  files["/"] = index->second;
  return files;
}

}  // namespace urnic::web
