// Who hears that something has happened to a line.
#pragma once

namespace urnic::link {

class LineWatcher {
 public:
  // A port counts a fault of its line (LineErrors: `integrity`, `silences`), or a device's link is cut or
  // whole again. On the engine's thread, or inside Engine::execute: does not wait.
  virtual void line_has_news() = 0;

 protected:
  ~LineWatcher() = default;
};

}  // namespace urnic::link
