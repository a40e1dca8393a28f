#include "device_model/control/umad/manager_seat.hpp"

#include <cerrno>

#include "device_model/control/umad/manager_file.hpp"

namespace urnic::control {

void ManagerSeat::claim(ManagerFile& file, bool may_wait) {
  if (holder_ == nullptr) return seat(file);
  if (may_wait) return waiting_.push_back(&file);
  file.answer(EAGAIN);
}

void ManagerSeat::leave(const ManagerFile& file) {
  std::erase(waiting_, &file);
  if (holder_ != &file) return;
  holder_ = nullptr;
  ports_.set_manager(device_, false);
  if (waiting_.empty()) return;
  ManagerFile& next = *waiting_.front();
  waiting_.pop_front();
  seat(next);
}

void ManagerSeat::seat(ManagerFile& file) {
  holder_ = &file;
  ports_.set_manager(device_, true);
  file.answer(0);
}

}  // namespace urnic::control
