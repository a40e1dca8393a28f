// Work requests in one line, for tests that are about what becomes of them.
#pragma once

#include "tests/apps/programs/endpoint.hpp"

namespace urnic::apps {

// A signaled request on `segment`, which must live until it is posted.
inline ibv_send_wr send_request(ibv_sge& segment, std::uint64_t id = 0) {
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = &segment;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  return request;
}

inline ibv_send_wr rdma_request(ibv_wr_opcode opcode, ibv_sge& segment, std::uint64_t remote_address,
                                std::uint32_t rkey, std::uint64_t id = 0) {
  ibv_send_wr request = send_request(segment, id);
  request.opcode = opcode;
  request.wr.rdma.remote_addr = remote_address;
  request.wr.rdma.rkey = rkey;
  return request;
}

inline ibv_send_wr fetch_add_request(ibv_sge& segment, std::uint64_t remote_address, std::uint32_t rkey) {
  ibv_send_wr request = send_request(segment);
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  request.wr.atomic.remote_addr = remote_address;
  request.wr.atomic.rkey = rkey;
  request.wr.atomic.compare_add = 1;
  return request;
}

}  // namespace urnic::apps
