// The notification point of a queue pair (IBTA A17.9.2): a data packet that the network has marked
// "congestion experienced" is answered with a congestion notification, but with at most one in an interval
// (DCQCN, "NP algorithm": SIGCOMM 2015, section 3.1).
#pragma once

#include "device_model/transport/congestion_settings.hpp"
#include "device_model/transport/host.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class NotificationPoint {
 public:
  void use(const CongestionSettings& settings) {
    on_ = transport::is_on(settings);
    by_peer_ = settings.notifies_by_peer;
    interval_ = settings.notification_interval;
    owed_ = owed_ && on_;
  }
  bool is_on() const { return on_; }
  // Another peer, to which nothing is owed.
  void forget_peer() {
    owed_ = false;
    next_ = {};
  }

  // A marked data packet has come. `host`: of the QP.
  void marked(Host& host, Time now) {
    if (!on_ || now < next_ || (by_peer_ && !host.may_notify_peer(interval_, now))) return;
    next_ = now + interval_;
    owed_ = true;
  }
  // A notification is to be sent.
  bool owed() const { return owed_; }
  void sent() { owed_ = false; }

 private:
  bool on_ = false;
  bool by_peer_ = false;
  bool owed_ = false;
  Nanoseconds interval_{0};
  Time next_{};
};

}  // namespace urnic::transport
