// What happens to the lines of InfiniBand ports, from the engine's thread to the control thread.
#pragma once

#include <functional>

#include "device_model/control/loop/event_loop.hpp"
#include "device_model/engine/management/announcement.hpp"
#include "device_model/link/line_watcher.hpp"

namespace urnic::control {

class Fabric;

class LineNews final : private link::LineWatcher {
 public:
  // `handler` is called by the loop when there is news (line_watcher.hpp), and once more a tenth of a second
  // later: what came in between is not told by itself. All outlive it. Throws std::system_error.
  LineNews(EventLoop& loop, Fabric& fabric, std::function<void()> handler);
  ~LineNews();
  LineNews(const LineNews&) = delete;
  LineNews& operator=(const LineNews&) = delete;

 private:
  void line_has_news() override;
  void hear();
  void listen_again();
  void set_watcher(link::LineWatcher* watcher);

  Fabric& fabric_;
  std::function<void()> handler_;
  engine::Announcement news_{"lines of InfiniBand: eventfd"};  // held for a tenth of a second behind each
  Timer again_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
