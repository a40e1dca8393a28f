// SET_OPTION.
#include <array>
#include <cerrno>
#include <cstring>

#include "device_model/control/rdma_cm/commands.hpp"

namespace urnic::control::rdma_cm {
namespace {

template <class Value>
bool read_value(const Session& session, Value& value) {
  if (session.option.size() != sizeof value) return false;
  std::memcpy(&value, session.option.data(), sizeof value);
  return true;
}

int set_type_of_service(const Session& session, Id& id) {
  return read_value(session, id.type_of_service) ? 0 : EINVAL;
}

int set_reuse_address(const Session& session, Id& id) {
  std::int32_t wanted = 0;
  if (!read_value(session, wanted)) return EINVAL;
  const bool allowed = wanted != 0 ? id.state != IdState::listen : id.state == IdState::idle;
  if (!allowed) return EINVAL;
  id.endpoints.reuse_address = wanted != 0;
  return 0;
}

int set_family_only(const Session& session, Id& id) {
  std::int32_t wanted = 0;
  if (!read_value(session, wanted)) return EINVAL;
  if (id.state != IdState::idle && id.state != IdState::address_bound) return EINVAL;
  id.has_chosen_family_only = true;
  id.endpoints.address_family_only = wanted != 0;
  return 0;
}

int set_ack_timeout(const Session& session, Id& id) {
  std::uint8_t timeout = 0;
  if (!read_value(session, timeout)) return EINVAL;
  if (id.qp_type != QpType::rc && id.qp_type != QpType::xrc_send) return EINVAL;
  id.ack_timeout = timeout & 31;  // the width of the field
  return 0;
}

int set_option_of_id(const Session& session, std::uint32_t name, Id& id) {
  switch (name) {
    case RDMA_OPTION_ID_TOS:
      return set_type_of_service(session, id);
    case RDMA_OPTION_ID_REUSEADDR:
      return set_reuse_address(session, id);
    case RDMA_OPTION_ID_AFONLY:
      return set_family_only(session, id);
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      return set_ack_timeout(session, id);
    default:
      return ENOSYS;
  }
}

// On Ethernet the device's own path is used: all that the program's could say is known.
int set_path(Session& session, Id& id) {
  constexpr std::uint32_t kUsable = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
  ib_path_rec_data record{};
  if (session.option.empty() || session.option.size() % sizeof record != 0) return EINVAL;
  std::span<const std::byte> records = session.option;
  do {
    if (records.empty()) return EINVAL;
    std::memcpy(&record, records.data(), sizeof record);
    records = records.subspan(sizeof record);
  } while (record.flags != kUsable);
  if (!id.local || id.state != IdState::address_resolved) return EINVAL;
  std::array<std::byte, wire::mad::kPathRecordBytes> bytes{};
  static_assert(sizeof record.path_rec == sizeof bytes);
  std::memcpy(bytes.data(), record.path_rec, sizeof bytes);
  return session.routes.take(id, wire::mad::decode_path(bytes));
}

}  // namespace

int set_option(Session& session, const rdma_ucm_set_option& command, NoAnswer&) {
  Id* id = nullptr;
  if (const int error = find_id(session, command.id, id)) return error;
  if (command.level == RDMA_OPTION_ID) return set_option_of_id(session, command.optname, *id);
  if (command.level != RDMA_OPTION_IB || command.optname != RDMA_OPTION_IB_PATH) return ENOSYS;
  return set_path(session, *id);
}

}  // namespace urnic::control::rdma_cm
