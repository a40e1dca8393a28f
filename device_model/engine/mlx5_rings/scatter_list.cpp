#include "device_model/engine/mlx5_rings/scatter_list.hpp"

#include <cstring>
#include <memory>

#include "device_model/abi/mlx5/receive_wqe.hpp"

namespace urnic::engine::mlx5 {

using abi::mlx5::DataSegment;
using transport::Sge;

static_assert(sizeof(Sge) == sizeof(DataSegment));

void decode_scatter_list(std::span<std::byte> list, transport::ReceiveRequest& request) {
  auto* const sges = reinterpret_cast<Sge*>(list.data());
  const std::size_t most = list.size() / sizeof(DataSegment);
  std::size_t count = 0;
  for (; count < most; ++count) {
    DataSegment segment;
    std::memcpy(&segment, list.data() + count * sizeof segment, sizeof segment);
    if (segment.lkey.value() == abi::mlx5::kEndOfList && segment.length.value() == 0) break;
    std::construct_at(sges + count, Sge{.address = segment.address.value(),
                                        .length = segment.length.value(),
                                        .lkey = transport::Lkey{segment.lkey.value()}});
    request.length += segment.length.value();
  }
  request.sges = {sges, count};
}

}  // namespace urnic::engine::mlx5
