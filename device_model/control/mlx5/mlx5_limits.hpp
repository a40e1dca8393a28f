// Limits that only libmlx5 asks for: of the doorbell pages and of WQEs in a ConnectX's format.
#pragma once

#include <rdma/mlx5-abi.h>

#include <cstdint>

namespace urnic::control::mlx5 {

// A program asks for so many doorbell registers, and counts two for each page (libmlx5's
// MLX5_NUM_NON_FP_BFREGS_PER_UAR), although QPs may have all four (engine/doorbells/uar_pages.hpp).
inline constexpr std::uint32_t kBfregsPerUar = 2;
inline constexpr std::uint32_t kMaxBfregs = 512;  // as in Linux: 256 pages

// Pages behind those, each of which a program maps when it needs one of its own: for thread domains
// (ibv_alloc_td(3)).
inline constexpr std::uint32_t kDedicatedUars = 16;

// Pages behind those, which a program gets one by one (UAR_OBJ_ALLOC): libmlx5 takes 17 at most by default.
inline constexpr std::uint32_t kDynamicUars = 20;

// A send queue is made of blocks of 64 bytes; a WQE has 16 of them at most, a receive WQE 512 bytes.
inline constexpr std::uint32_t kMaxSendWqeBytes = 1024;
inline constexpr std::uint32_t kMaxReceiveWqeBytes = 512;
inline constexpr std::uint32_t kMaxSendWqebbs = 32768;

// As of a ConnectX: a data segment has 31 bits for its length, so that it could not name the 2 GiB of IBTA
// 9.7.2.
inline constexpr std::uint32_t kMaxMessageBytes = 1u << 30;

// When a ConnectX compresses CQEs is its own choice. This device never does; but DPDK's driver asks for it
// without a look at what is offered (mlx5_os_capabilities_prepare), and gets no queue where nothing is.
inline constexpr std::uint32_t kMostCompressedCqes = 1;
inline constexpr std::uint32_t kCompressedFormats = MLX5_IB_CQE_RES_FORMAT_HASH | MLX5_IB_CQE_RES_FORMAT_CSUM;

}  // namespace urnic::control::mlx5
