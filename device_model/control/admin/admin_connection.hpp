// One conversation on the admin socket: a JSON object per line each way.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/fabric/stations.hpp"
#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class ActiveCapture;

// The longest request line, with its newline.
inline constexpr std::size_t kMaxAdminLine = 64 * 1024;

// What a request changes in its connection.
struct AdminConnectionState {
  int socket = -1;                             // the connection's own
  bool lease = false;                          // the device process stays while the connection is open
  std::unique_ptr<ActiveCapture> capture;      // runs while the connection is open
  std::unique_ptr<Stations::Station> station;  // on a switch while the connection is open
  std::shared_ptr<Account> account;            // of the peer process
  Charge connected;
  Charge captures;
  std::vector<int> descriptors;  // sent with the answer; owned elsewhere
};

class AdminConnection {
 public:
  // Returns the answer to one request.
  using Handler = std::function<nlohmann::json(const nlohmann::json& request, AdminConnectionState& state)>;

  // Calls `closed` once, as its last action, when the conversation is over; the owner then destroys the
  // connection. `disposal` closes the socket, and descriptors that arrive: no request has any.
  AdminConnection(EventLoop& loop, DescriptorDisposal& disposal, memory::Descriptor socket,
                  AdminConnectionState state, Handler handler, std::function<void()> closed);
  ~AdminConnection();

  bool has_lease() const { return state_.lease; }
  bool has_capture() const { return state_.capture != nullptr; }

 private:
  void ready(std::uint32_t events);
  bool handle(std::uint32_t events);
  void wait_for_room(bool wait);
  bool receive();
  bool handle_lines();
  bool answer(const std::string& line);
  bool flush();
  // Sends the last part of the answer; the descriptors go with its first byte.
  bool send_with_descriptors(const std::string& text);

  DescriptorDisposal& disposal_;
  const pid_t sender_;
  memory::Descriptor socket_;
  Handler handler_;
  std::function<void()> closed_;
  AdminConnectionState state_;
  std::string received_;
  std::string unsent_;
  bool waits_ = false;  // for the peer to read its answers
  ScopedWatch watch_;
};

}  // namespace urnic::control
