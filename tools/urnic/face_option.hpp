// The option --face, which `urnic run` and `urnic up` share.
#pragma once

#include <string>

#include "command_line/command_line.hpp"

namespace urnic::cli {

// The device process's words for its faces, the first of which devices have by default.
inline constexpr const char* kFaces[] = {"urnic", "mlx5"};

// Adds the option to `command`, which has --config already. `face` receives its value and must outlive
// `command`.
inline void add_face_option(command_line::Command& command, std::string& face) {
  command
      .add_option("--face", face,
                  "As what programs see the devices: urnic's own kind, or the ConnectX that libmlx5 drives "
                  "(docs/mlx5-face.md)")
      .one_of({std::begin(kFaces), std::end(kFaces)})
      .excludes(command.option("--config"));
}

}  // namespace urnic::cli
