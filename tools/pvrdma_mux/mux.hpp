// Serves guests: QEMU processes with pvrdma devices on one device of urnic.
#pragma once

#include <list>

#include "device_model/memory/descriptor.hpp"
#include "tools/pvrdma_mux/conversations.hpp"
#include "tools/pvrdma_mux/device_gids.hpp"
#include "tools/pvrdma_mux/guest.hpp"
#include "tools/pvrdma_mux/umad_port.hpp"

namespace urnic::pvrdma_mux {

class Mux {
 public:
  static constexpr std::size_t kMostGuests = 256;

  // `listening` accepts connections; all outlive the mux but it, which is the mux's.
  Mux(memory::Descriptor listening, DeviceGids& gids, UmadPort& port)
      : listening_(std::move(listening)), gids_(gids), port_(port) {}
  // Takes back the guests' GIDs.
  ~Mux();
  Mux(const Mux&) = delete;
  Mux& operator=(const Mux&) = delete;

  // Until `stop` is readable. Throws cli::Failure, std::system_error when the device process has gone.
  void serve_until(int stop);

 private:
  void accept_one();
  void read(Guest& guest);
  Status carry_out(Guest& guest, const MuxMessage& request);
  Status register_gid(Guest& guest, const wire::Gid& gid);
  Status unregister_gid(Guest& guest, const wire::Gid& gid);
  Status send(const Guest& guest, const MuxMessage& request);
  void take_arrivals();
  void hand_over(const UserMad& arrived);
  Guest* owner(const wire::Gid& gid);
  void remove_gone();

  memory::Descriptor listening_;
  DeviceGids& gids_;
  UmadPort& port_;
  Conversations conversations_;
  std::list<Guest> guests_;
};

}  // namespace urnic::pvrdma_mux
