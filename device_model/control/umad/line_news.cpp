#include "device_model/control/umad/line_news.hpp"

#include <sys/epoll.h>

#include <chrono>
#include <utility>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"

namespace urnic::control {
namespace {

// A line that errs all the time costs the engine one system call in so long.
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

LineNews::LineNews(EventLoop& loop, Fabric& fabric, std::function<void()> handler)
    : fabric_(fabric), handler_(std::move(handler)), again_(loop, [this] { listen_again(); }) {
  watch_ = ScopedWatch(loop, news_.descriptor(), EPOLLIN, [this](std::uint32_t) { hear(); });
  set_watcher(this);
}

LineNews::~LineNews() { set_watcher(nullptr); }

void LineNews::set_watcher(link::LineWatcher* watcher) {
  EngineUnit& unit = fabric_.infiniband_unit();
  unit.engine.execute([&] { unit.frame_switch.lid_routes().set_watcher(watcher); });
}

void LineNews::line_has_news() { news_.announce(); }

void LineNews::hear() {
  news_.take();
  again_.set(kPause);
  handler_();
}

// Whoever looks then sees what is told from now on, or hears of it.
void LineNews::listen_again() {
  news_.release();
  handler_();
}

}  // namespace urnic::control
