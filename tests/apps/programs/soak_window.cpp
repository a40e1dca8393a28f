#include "tests/apps/programs/soak_window.hpp"

#include <cerrno>

#include "tests/apps/programs/require.hpp"

namespace urnic::apps {

SoakWindow::SoakWindow(ibv_pd* pd, const Memory& covered)
    : covered_(covered), window_(ibv_alloc_mw(pd, IBV_MW_TYPE_2)) {
  require(window_ != nullptr, "no memory window: {}", std::strerror(errno));
  rkey_ = window_->rkey;
}

SoakWindow::~SoakWindow() { Destroyer<ibv_dealloc_mw>{}(window_); }

ibv_send_wr SoakWindow::begin_bind() {
  rkey_ = ibv_inc_rkey(rkey_);
  state = State::binding;
  ibv_send_wr request{};
  request.opcode = IBV_WR_BIND_MW;
  request.bind_mw.mw = window_;
  request.bind_mw.rkey = rkey_;
  request.bind_mw.bind_info = {covered_.mr(), covered_.address(), covered_.size(), IBV_ACCESS_REMOTE_WRITE};
  return request;
}

void SoakWindow::end_bind() {
  // A bind names its window by the key that it had before; a program that binds by ibv_post_send keeps that
  // up to date.
  window_->rkey = rkey_;
  state = State::bound;
}

}  // namespace urnic::apps
