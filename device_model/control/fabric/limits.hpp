// A device's limits, for checks, query_device and sysfs.
#pragma once

#include <infiniband/verbs.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/abi/doorbells.hpp"
#include "device_model/abi/queues.hpp"

namespace urnic::control::limits {

inline constexpr std::uint32_t kMaxQp = 65536;
inline constexpr std::uint32_t kMaxQpWr = 32768;
inline constexpr std::uint32_t kMaxSge = 30;
// With a WQE's head of 64 bytes this fills a slot of 1024.
inline constexpr std::uint32_t kMaxInlineData = 960;
inline constexpr std::uint32_t kMaxSrq = 65536;
inline constexpr std::uint32_t kMaxSrqWr = 32768;
// Of a tag-matching SRQ. A message is compared with each buffer in turn, while other packets wait.
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
inline constexpr std::uint32_t kMaxRdAtomic = abi::kMaxRdAtomic;
inline constexpr std::uint64_t kMaxMrSize = 1ull << 46;      // a user address space is 2^47 bytes
inline constexpr std::uint32_t kMaxMessage = 1u << 31;       // IBTA 9.7.2: 2 GiB
inline constexpr std::uint64_t kPageSizes = ~0xFFFull;       // every power of two from 4 KiB
inline constexpr std::uint64_t kMaxDeviceMemory = 1u << 20;  // bytes that all programs of a device may have
inline constexpr std::uint32_t kMaxDeviceMemoryAlignment = 12;  // log 2: a page
inline constexpr std::uint32_t kGidTableLength = 16;
inline constexpr std::uint32_t kPkeyTableLength = 1;  // of an Ethernet port
inline constexpr std::uint32_t kAckDelay = 15;        // code for 134 ms: a busy 2-core machine may need it
inline constexpr std::uint32_t kCompletionVectors = 1;
inline constexpr std::uint32_t kPorts = 1;

// A QP's rate limit in kbit/s: at most 100 Gbit/s; the minimum keeps packets from being minutes late.
inline constexpr std::uint32_t kMinRate = 1;
inline constexpr std::uint32_t kMaxRate = 100'000'000;
// Services without acknowledgements: there, a late acknowledgement would look like a loss.
inline constexpr std::uint32_t kRateLimitedTypes =
    1u << IBV_QPT_UC | 1u << IBV_QPT_UD | 1u << IBV_QPT_RAW_PACKET;

// Per context, against programs that allocate without end.
inline constexpr std::uint64_t kMaxArenaBytes = 8ull << 30;
inline constexpr std::size_t kMaxChannels = 4096;
inline constexpr std::uint64_t kMaxDeviceMemoryArenas = 2 * kMaxDeviceMemory;  // fragmentation

// MEM_MGT_EXTENSIONS: SEND with invalidate and local invalidate. Its third part, fast registration, is for
// kernel programs only; Linux shows the flag to others all the same, and programs look at it before they
// invalidate (SPDK).
inline constexpr std::uint32_t kDeviceFlags =
    IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
    IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS |
    IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_XRC | IBV_DEVICE_MANAGED_FLOW_STEERING;

// On-demand paging: operations on such memory, by transport. All operations of a transport work; receives of
// an SRQ work like a QP's own.
inline constexpr std::uint32_t kOnDemandUd =
    IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
inline constexpr std::uint32_t kOnDemandUc = kOnDemandUd | IBV_ODP_SUPPORT_WRITE;
inline constexpr std::uint32_t kOnDemandRc = kOnDemandUc | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;
inline constexpr std::uint32_t kOnDemandXrc = kOnDemandRc;

inline constexpr std::uint32_t kPortFlags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;

// The port's physical state (IBTA 14.2.5.6): a cut link is polling for its other end.
inline constexpr std::uint32_t kPhysicalPolling = 2;
inline constexpr std::uint32_t kPhysicalLinkUp = 5;

// ibv_mtu's codes for 256 (1) to 4096 (5) bytes, and back.
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
