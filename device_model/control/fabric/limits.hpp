// What a device offers, in one place: checks, query_device and sysfs all read it here.
#pragma once

#include <infiniband/verbs.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "device_model/abi/doorbells.hpp"
#include "device_model/abi/queues.hpp"

namespace urnic::control::limits {

inline constexpr std::uint32_t kMaxQp = 65536;
inline constexpr std::uint32_t kMaxQpWr = 32768;
inline constexpr std::uint32_t kMaxSge = 30;
// With the 64 bytes of a WQE's head this fills a slot of 1024.
inline constexpr std::uint32_t kMaxInlineData = 960;
inline constexpr std::uint32_t kMaxSrq = 65536;
inline constexpr std::uint32_t kMaxSrqWr = 32768;
// Of a tag-matching SRQ. A message is compared with one buffer after the other, while others' packets wait.
inline constexpr std::uint32_t kMaxTags = 1024;
inline constexpr std::uint32_t kMaxTagOperations = 4096;
inline constexpr std::uint32_t kMaxXrcd = 4096;  // opened, by all programs; each may hold a descriptor
inline constexpr std::uint32_t kMaxCq = 65536;
inline constexpr std::uint32_t kMaxCqe = 1u << 20;
inline constexpr std::uint32_t kMaxMemoryKeys = 1u << 20;  // regions and windows share one table
inline constexpr std::uint32_t kMaxMr = kMaxMemoryKeys / 2;
inline constexpr std::uint32_t kMaxMw = kMaxMemoryKeys / 2;
inline constexpr std::uint32_t kMaxPd = 65536;
inline constexpr std::uint32_t kMaxAh = 1u << 15;
inline constexpr std::uint32_t kMaxMulticastGroups = 1024;
inline constexpr std::uint32_t kMaxAttachmentsOfGroup = 256;
inline constexpr std::uint32_t kMaxAttachments = 8192;
inline constexpr std::uint32_t kMaxFlows = 16384;
inline constexpr std::uint32_t kMaxFlowCounters = kMaxFlows;
inline constexpr std::uint32_t kMaxRdAtomic = 16;
inline constexpr std::uint64_t kMaxMrSize = 1ull << 46;      // a user address space is 2^47 bytes
inline constexpr std::uint32_t kMaxMessage = 1u << 31;       // IBTA 9.7.2: 2 GiB
inline constexpr std::uint64_t kPageSizes = ~0xFFFull;       // every power of two from 4 KiB
inline constexpr std::uint64_t kMaxDeviceMemory = 1u << 20;  // bytes that all programs of a device may have
inline constexpr std::uint32_t kMaxDeviceMemoryAlignment = 12;  // log 2: a page
inline constexpr std::uint32_t kGidTableLength = 16;
inline constexpr std::uint32_t kPkeyTableLength = 1;
inline constexpr std::uint32_t kAckDelay = 15;  // code for 134 ms: what a busy 2-core machine may need
inline constexpr std::uint32_t kCompletionVectors = 1;
inline constexpr std::uint32_t kPorts = 1;

// Of a QP's sending, in kbit/s: 100 Gbit/s at most, and so much at least that no packet is late by minutes.
inline constexpr std::uint32_t kMinRate = 1;
inline constexpr std::uint32_t kMaxRate = 100'000'000;
// Those that owe nobody an acknowledgement: one that is late would be taken for a loss.
inline constexpr std::uint32_t kRateLimitedTypes =
    1u << IBV_QPT_UC | 1u << IBV_QPT_UD | 1u << IBV_QPT_RAW_PACKET;

// Per context: against programs that ask without end.
inline constexpr std::uint64_t kMaxArenaBytes = 8ull << 30;
inline constexpr std::size_t kMaxChannels = 4096;
inline constexpr std::uint64_t kMaxDeviceMemoryArenas = 2 * kMaxDeviceMemory;  // also when they are in pieces

inline constexpr std::uint32_t kDeviceFlags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID |
                                              IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_MEM_WINDOW |
                                              IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_SRQ_RESIZE |
                                              IBV_DEVICE_XRC | IBV_DEVICE_MANAGED_FLOW_STEERING;

// On-demand paging: what can be done with such memory, by transport. Every kind of access that a transport
// has works, so the bits follow the transports; receives of an SRQ are as good as a QP's own.
inline constexpr std::uint32_t kOnDemandUd =
    IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
inline constexpr std::uint32_t kOnDemandUc = kOnDemandUd | IBV_ODP_SUPPORT_WRITE;
inline constexpr std::uint32_t kOnDemandRc = kOnDemandUc | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;
inline constexpr std::uint32_t kOnDemandXrc = kOnDemandRc;

inline constexpr std::uint32_t kPortFlags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;

// 100 Gbit/s: four lanes of EDR, as ibv_port_attr encodes them. What this machine's processors make of it is
// another matter.
inline constexpr std::uint32_t kPortWidth4x = 2;
inline constexpr std::uint32_t kPortSpeedEdr = 32;
inline constexpr char kPortRate[] = "100 Gb/sec (4X EDR)";
// Of the port's physical state (IBTA 14.2.5.6): a cut link is one that looks for its other end.
inline constexpr std::uint32_t kPhysicalPolling = 2;
inline constexpr std::uint32_t kPhysicalLinkUp = 5;

// ibv_mtu's code for 256 (1) to 4096 (5) bytes, and back.
constexpr std::uint32_t mtu_code(std::uint32_t bytes) {
  return static_cast<std::uint32_t>(std::bit_width(bytes)) - 8;
}
constexpr std::uint32_t mtu_bytes(std::uint32_t code) { return 128u << code; }
static_assert(mtu_code(256) == IBV_MTU_256 && mtu_code(4096) == IBV_MTU_4096);
static_assert(mtu_bytes(IBV_MTU_256) == 256 && mtu_bytes(IBV_MTU_4096) == 4096);

static_assert(kMaxQp <= abi::kDoorbellsPerContext);
static_assert(sizeof(abi::SendWqe) + kMaxSge * sizeof(abi::ScatterGather) <=
              sizeof(abi::SendWqe) + kMaxInlineData);

}  // namespace urnic::control::limits
