// register_dma_buf_mr
#include <infiniband/verbs.h>
#include <unistd.h>

#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/regions.hpp"
#include "device_model/memory/dma_buf_memory.hpp"
#include "device_model/memory/page_size.hpp"

namespace urnic::control {
namespace {

// ibv_reg_dmabuf_mr(3): the other rights make no sense here.
constexpr std::uint32_t kDmaBufAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

int check(const abi::RegisterDmaBufMrRequest& request) {
  if (const int error = check_rights(request.access, kDmaBufAccess)) return error;
  if (request.length == 0 || request.length > limits::kMaxMrSize) return EINVAL;
  if (request.offset + request.length < request.offset || request.iova + request.length < request.iova) {
    return EINVAL;
  }
  return (request.offset - request.iova) % memory::page_bytes() == 0 ? 0 : EINVAL;
}

int check_buffer(const memory::Descriptor& buffer, std::uint64_t end) {
  if (!memory::is_dma_buf(buffer.get())) return EINVAL;
  const off_t size = lseek(buffer.get(), 0, SEEK_END);
  return size >= 0 && end <= static_cast<std::uint64_t>(size) ? 0 : EINVAL;
}

}  // namespace

int register_dma_buf_mr(Session& session, const abi::RegisterDmaBufMrRequest& request,
                        abi::RegisterMrReply& reply, DescriptorExchange& descriptors) {
  auto region = begin_region(session, request.pd);
  if (region == nullptr || descriptors.received.size() != 1) return EINVAL;
  if (const int error = check(request)) return error;
  const memory::Descriptor& buffer = descriptors.received[0];
  if (const int error = check_buffer(buffer, request.offset + request.length)) return error;

  const bool writable = (request.access & IBV_ACCESS_LOCAL_WRITE) != 0;
  auto mapped = std::make_unique<memory::DmaBufMemory>(buffer, request.offset, request.length, writable);
  region->spec = {.memory = mapped.get(),
                  .pd = region->pd->id,
                  .address = mapped->address(),
                  .iova = request.iova,
                  .length = request.length,
                  .access = (request.access & kDmaBufAccess) | memory::access_placed_by_device};
  region->buffer = std::move(mapped);
  return add_region(session, std::move(region), reply);
}

}  // namespace urnic::control
