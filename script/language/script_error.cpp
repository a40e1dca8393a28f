#include "script/language/script_error.hpp"

namespace urnic::script {

std::string describe(const ScriptError& error, const std::string& file) {
  return file + ':' + std::to_string(error.at().line) + ':' + std::to_string(error.at().column) + ": " +
         error.what();
}

}  // namespace urnic::script
