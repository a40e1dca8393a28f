// An opened device with a protection domain, and which devices a test program is to use.
#pragma once

#include <cstdint>
#include <string>

#include "tests/apps/programs/verbs_objects.hpp"

namespace urnic::apps {

// GID 0 is link-local, GID 1 the IPv4 address: the one that programs are told to use.
inline constexpr std::uint8_t kGidIndex = 1;

// Where a QP can be reached.
struct QpAddress {
  ibv_gid gid;
  std::uint32_t number;
  std::uint32_t first_psn;
};

class Device {
 public:
  // Throws std::runtime_error if there is no such device or it cannot be opened.
  explicit Device(const std::string& name);
  // On the result of ibv_import_device, which it owns, with a protection domain that it imports and, in the
  // end, deallocates for all. Throws.
  Device(ibv_context* imported, std::uint32_t pd_handle);

  const std::string& name() const { return name_; }
  ibv_context* context() const { return context_.get(); }
  ibv_pd* pd() const { return pd_.get(); }
  ibv_gid gid() const { return gid_; }
  ibv_device_attr attributes() const;
  ibv_port_attr port() const;

 private:
  void find_gid();

  std::string name_;
  ContextOwner context_;
  PdOwner pd_;
  ibv_gid gid_{};
};

// The devices that the command line names behind "--"; urnic0 and urnic1 if it names none.
struct DeviceNames {
  std::string first;
  std::string second;
};
DeviceNames device_names();

// The programs' library is libmlx5, not urnic's plugin (docs/mlx5-face.md).
bool is_driven_by_libmlx5();

}  // namespace urnic::apps
