// One end of a reliable connection: a QP with its completion queues.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/apps/programs/device.hpp"
#include "tests/apps/programs/memory.hpp"

namespace urnic::apps {

// Nothing here may take so long: what has not come by then is lost, and the test says so instead of hanging.
inline constexpr std::chrono::seconds kPatience{30};

struct EndpointOptions {
  ibv_mtu mtu = IBV_MTU_1024;
  ibv_qp_cap capacity{128, 128, 4, 4, 0};  // send and receive WRs, send and receive SGEs, inline bytes
  ibv_srq* srq = nullptr;                  // outlives the endpoint
  ibv_pd* pd = nullptr;                    // a parent domain on the device's, which outlives it, too
  int cq_entries = 512;
  bool signal_all = false;
  bool sleeps = false;  // with a completion channel
  int access = kAllAccess;
  std::uint8_t timeout = 14;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 1;
  std::uint8_t max_rd_atomic = 16;
  std::uint32_t first_psn = 0xFFFFF0;  // shortly before PSNs begin at 0 again
};

// A signaled work request of one segment, which must live until it is posted; what else its opcode needs is
// the caller's.
ibv_send_wr signaled_request(ibv_wr_opcode opcode, ibv_sge& segment);

class Endpoint {
 public:
  // A QP in the state RESET with completion queues of its own. Throws std::runtime_error.
  Endpoint(const Device& device, const EndpointOptions& options);
  // As above, with completion queues of somebody else, which outlive it.
  Endpoint(const Device& device, const EndpointOptions& options, ibv_cq* send_cq, ibv_cq* receive_cq);

  ibv_qp* qp() const { return qp_.get(); }
  ibv_cq* send_cq() const { return send_cq_; }
  ibv_cq* receive_cq() const { return receive_cq_; }
  ibv_comp_channel* channel() const { return channel_.get(); }
  const ibv_qp_cap& capacity() const { return capacity_; }
  const EndpointOptions& options() const { return options_; }
  const Device& device() const { return *device_; }
  QpAddress address() const;

  // To INIT, RTR and RTS. Each returns 0 or the errno of ibv_modify_qp.
  int to_init();
  int to_rtr(const QpAddress& peer);
  int to_rts();
  int to_state(ibv_qp_state state);
  // All three. Throws.
  void connect(const QpAddress& peer);
  ibv_qp_state state() const;

  // Posts; throws where posting fails. `request`'s wr_id, opcode and so on are the caller's.
  void post(ibv_send_wr request);
  void post_receive(std::uint64_t id, std::vector<ibv_sge> segments);

  // The next completion. Throws when none comes.
  ibv_wc wait_send() const;
  ibv_wc wait_receive() const;

 private:
  void create_qp();

  const Device* device_;
  EndpointOptions options_;
  ChannelOwner channel_;
  CqOwner own_send_cq_;
  CqOwner own_receive_cq_;
  ibv_cq* send_cq_;
  ibv_cq* receive_cq_;
  QpOwner qp_;
  ibv_qp_cap capacity_{};
};

// Waits for the next completion of `cq`, polling. Throws when none comes.
ibv_wc wait_completion(ibv_cq* cq);
// A completion if one comes within `time`.
std::optional<ibv_wc> poll_for(ibv_cq* cq, std::chrono::milliseconds time);

// Two ends on two devices (or twice on one), connected.
struct Pair {
  explicit Pair(const EndpointOptions& options = {}, const DeviceNames& names = device_names());
  Pair(const EndpointOptions& left_options, const EndpointOptions& right_options,
       const DeviceNames& names = device_names());

  Device left_device;
  Device right_device;
  Endpoint left;
  Endpoint right;
};

}  // namespace urnic::apps
