// query_device, query_port
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device_model/control/fabric/face_identity.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/port_rate.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "wire/tag_matching_headers.hpp"

namespace urnic::control {
namespace {

void describe_memory(const Session& session, abi::QueryDeviceReply& reply) {
  reply.max_dm_size = limits::kMaxDeviceMemory;
  const memory::ApplicationMemory* memory = session.process->memory();
  if (memory == nullptr || !memory->heeds_page_protection()) return;
  reply.odp_general = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
  reply.odp_rc = limits::kOnDemandRc;
  reply.odp_uc = limits::kOnDemandUc;
  reply.odp_ud = limits::kOnDemandUd;
  reply.odp_xrc = limits::kOnDemandXrc;
}

}  // namespace

int query_device(Session& session, const abi::Empty&, abi::QueryDeviceReply& reply, DescriptorExchange&) {
  const DeviceSettings& settings = session.device.settings;
  const std::string_view firmware = identity_of(settings.face).firmware_version;
  firmware.copy(reply.firmware, std::min(firmware.size(), sizeof reply.firmware - 1));
  std::memcpy(&reply.node_guid, session.device.node_guid.data(), sizeof reply.node_guid);
  reply.system_image_guid = reply.node_guid;
  reply.max_mr_size = limits::kMaxMrSize;
  reply.page_size_cap = limits::kPageSizes;
  reply.vendor_id = settings.vendor_id;
  reply.vendor_part_id = settings.vendor_part_id;
  reply.hw_version = settings.hardware_version;
  reply.max_qp = settings.max_qp;
  reply.max_qp_wr = limits::kMaxQpWr;
  reply.device_cap_flags = limits::kDeviceFlags;
  reply.max_sge = limits::kMaxSge;
  reply.max_sge_rd = limits::kMaxSge;
  reply.max_inline_data = limits::kMaxInlineData;
  reply.max_cq = limits::kMaxCq;
  reply.max_cqe = limits::kMaxCqe;
  reply.max_mr = limits::kMaxMr;
  reply.max_mw = limits::kMaxMw;
  reply.max_pd = limits::kMaxPd;
  reply.max_qp_rd_atom = limits::kMaxRdAtomic;
  reply.max_res_rd_atom = limits::kMaxRdAtomic * settings.max_qp;
  reply.max_qp_init_rd_atom = limits::kMaxRdAtomic;
  reply.max_ah = limits::kMaxAh;
  reply.max_mcast_grp = limits::kMaxMulticastGroups;
  reply.max_mcast_qp_attach = limits::kMaxAttachmentsOfGroup;
  reply.max_total_mcast_qp_attach = limits::kMaxAttachments;
  reply.max_pkeys =
      static_cast<std::uint32_t>(port_record_when_up(session.fabric, session.device).pkeys.size());
  reply.local_ca_ack_delay = limits::kAckDelay;
  reply.phys_port_cnt = limits::kPorts;
  reply.atomic_cap = IBV_ATOMIC_HCA;
  reply.max_srq = limits::kMaxSrq;
  reply.max_srq_wr = limits::kMaxSrqWr;
  reply.max_srq_sge = limits::kMaxSge;
  reply.rate_min = limits::kMinRate;
  reply.rate_max = limits::kMaxRate;
  reply.rate_limited_types = limits::kRateLimitedTypes;
  reply.max_raw_ethy_qp = limits::kMaxQp;
  reply.rss_hash_fields = engine::kHashFields;
  reply.max_rss_tables = limits::kMaxQp;
  reply.max_rss_table_size = abi::kMaxRssQueues;
  reply.tm_max_rndv_header = wire::kMaxRendezvousRequestBytes;
  reply.tm_max_tags = limits::kMaxTags;
  reply.tm_flags = IBV_TM_CAP_RC;
  reply.tm_max_ops = limits::kMaxTagOperations;
  reply.tm_max_sge = abi::kMaxTagSge;
  describe_memory(session, reply);
  return 0;
}

int query_port(Session& session, const abi::QueryPortRequest& request, abi::QueryPortReply& reply,
               DescriptorExchange&) {
  if (request.port != limits::kPorts) return EINVAL;
  const PortRecord record = port_record(session.fabric, session.device);
  const bool infiniband = record.link_layer == LinkLayer::infiniband;
  reply.state = record.state;
  reply.physical_state = record.physical_state;
  reply.max_mtu = record.largest_mtu;
  reply.active_mtu = record.active_mtu;
  reply.gid_table_length = limits::kGidTableLength;
  reply.pkey_table_length = static_cast<std::uint32_t>(record.pkeys.size());
  reply.port_capabilities = record.capabilities;
  reply.max_message_size = limits::kMaxMessage;
  reply.active_speed = verbs_speed(record.rate);
  reply.active_width = verbs_width(record.rate);
  reply.link_layer = infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  reply.lid = record.lid;
  reply.lmc = record.lmc;
  reply.manager_lid = record.manager_lid;
  reply.manager_sl = record.manager_sl;
  reply.subnet_timeout = record.subnet_timeout;
  reply.pkey_violations = record.pkey_violations;
  reply.qkey_violations = record.qkey_violations;
  return 0;
}

}  // namespace urnic::control
