// A program's netlink socket: requests in, answers out, one request after the other.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/netlink/answers.hpp"

namespace urnic::control::netlink {

// What all sockets have in common; outlives them.
struct Surroundings {
  EventLoop& loop;
  DescriptorDisposal& disposal;
  Subjects subjects;
};

class NetlinkFile {
 public:
  // Calls `closed`, the last thing it does, when the program is gone; the owner destroys it then. Throws
  // std::system_error if the program has too many descriptors here.
  NetlinkFile(const Surroundings& surroundings, memory::Descriptor socket, std::function<void()> closed);
  ~NetlinkFile();
  NetlinkFile(const NetlinkFile&) = delete;
  NetlinkFile& operator=(const NetlinkFile&) = delete;

 private:
  enum class Step {
    done,   // something was done
    waits,  // for the program to read its answers
    idle,   // nothing is left to do
  };

  void ready(std::uint32_t events);
  void close();
  bool receive();
  // Works for a short time; the rest becomes work in portions.
  void go_on();
  // A few steps. False: nothing can be done now, and the events to wait for are watched.
  bool do_portion(int steps);
  Step step();
  Step send();
  void handle(const Message& message);
  void go_on_with_dump();
  // The request is done, with 0 or an errno: says so if the program wants to know.
  void conclude(int error);
  void wait_for_room(bool wait);

  const Surroundings& surroundings_;
  const pid_t peer_;
  memory::Descriptor socket_;
  std::function<void()> closed_;
  Charge charge_;
  ScopedWatch watch_;
  bool waits_ = false;  // for room

  std::vector<std::byte> received_;         // a datagram
  std::span<const std::byte> not_handled_;  // the messages left in it
  nlmsghdr question_{};                     // the header of the message that is being answered
  std::unique_ptr<Dump> dump_;              // the answer that is under way, if it is one in several messages
  bool dump_ended_ = false;                 // only its end is missing
  std::optional<int> result_;               // to be told once the answer is sent: 0 or a negative errno
  DatagramWriter datagram_;                 // not sent yet, unless it is empty
  WorkInPortions::Work work_;
};

}  // namespace urnic::control::netlink
