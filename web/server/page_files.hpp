// The page's own files, read once at the start: HTML, style sheets, modules.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace urnic::web {

struct PageFile {
  std::string type;  // of MIME
  std::string content;
};

// By path as a browser asks for it: "/" is index.html, "/table.js" a file of the folder. Throws
// std::runtime_error if there is no index.html, or if a file cannot be read.
std::map<std::string, PageFile> read_page(const std::filesystem::path& folder);

}  // namespace urnic::web
