#include "device_model/control/umad/line_news.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"

namespace urnic::control {
namespace {

// A line that errs all the time costs the engine one system call in so long.
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

LineNews::LineNews(EventLoop& loop, Fabric& fabric, std::function<void()> handler)
    : fabric_(fabric),
      handler_(std::move(handler)),
      news_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      again_(loop, [this] { listen_again(); }) {
  if (!news_) throw std::system_error(errno, std::generic_category(), "lines of InfiniBand: eventfd");
  watch_ = ScopedWatch(loop, news_.get(), EPOLLIN, [this](std::uint32_t) { hear(); });
  set_watcher(this);
}

LineNews::~LineNews() { set_watcher(nullptr); }

void LineNews::set_watcher(link::LineWatcher* watcher) {
  EngineUnit& unit = fabric_.infiniband_unit();
  unit.engine.execute([&] { unit.frame_switch.lid_routes().set_watcher(watcher); });
}

void LineNews::line_has_news() {
  if (!told_.exchange(true, std::memory_order_acq_rel)) eventfd_write(news_.get(), 1);
}

void LineNews::hear() {
  eventfd_t ignored = 0;
  eventfd_read(news_.get(), &ignored);
  again_.set(kPause);
  handler_();
}

// Whoever looks then sees what is told from now on, or hears of it.
void LineNews::listen_again() {
  told_.exchange(false, std::memory_order_acq_rel);
  handler_();
}

}  // namespace urnic::control
