// Device memory (ibv_alloc_dm(3)): a part of an arena of the device process, mapped into this one.
#include <cerrno>
#include <cstring>

#include "device_model/abi/memory_messages.hpp"
#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

struct Dm {
  ibv_dm dm;
  std::uint64_t length;
  char* memory;
};

// Copies must consist of aligned words of this many bytes, as over the bus to a real device.
constexpr std::uint64_t kAlignment = 4;

Dm& dm_of(ibv_dm* dm) { return *reinterpret_cast<Dm*>(dm); }

bool may_copy(const Dm& dm, std::uint64_t offset, std::size_t length) {
  return offset % kAlignment == 0 && length % kAlignment == 0 && offset <= dm.length &&
         length <= dm.length - offset;
}

int copy_to_dm(ibv_dm* to, std::uint64_t offset, const void* from, std::size_t length) {
  const Dm& dm = dm_of(to);
  if (!may_copy(dm, offset, length)) return EINVAL;
  std::memcpy(dm.memory + offset, from, length);
  return 0;
}

int copy_from_dm(void* to, ibv_dm* from, std::uint64_t offset, std::size_t length) {
  const Dm& dm = dm_of(from);
  if (!may_copy(dm, offset, length)) return EINVAL;
  std::memcpy(to, dm.memory + offset, length);
  return 0;
}

// Requests device memory with `opcode` and maps it. On failure: null and errno, and nothing stays allocated.
template <typename Request>
ibv_dm* obtain(ibv_context* library, abi::ControlOpcode opcode, const Request& request) {
  Context& context = context_of(library);
  auto* dm = create_object<Dm>();
  if (dm == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  abi::DmReply reply{};
  int error = 0;
  {
    ControlSession session(context);
    error = session.call(opcode, request, reply);
    if (error == 0) dm->memory = static_cast<char*>(session.find(reply.memory));
  }
  if (error == 0 && dm->memory == nullptr) {
    if (opcode == abi::ControlOpcode::allocate_dm)
      release(context, abi::ControlOpcode::free_dm, reply.handle);
    error = ENOMEM;
  }
  if (error != 0) {
    destroy_object(dm);
    errno = error;
    return nullptr;
  }
  dm->length = reply.length;
  dm->dm.context = library;
  dm->dm.memcpy_to_dm = copy_to_dm;
  dm->dm.memcpy_from_dm = copy_from_dm;
  dm->dm.handle = reply.handle;
  return &dm->dm;
}

}  // namespace

ibv_dm* allocate_dm(ibv_context* context, ibv_alloc_dm_attr* attributes) {
  if (attributes->comp_mask != 0) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  const abi::AllocateDmRequest request{attributes->length, attributes->log_align_req, 0};
  return obtain(context, abi::ControlOpcode::allocate_dm, request);
}

int free_dm(ibv_dm* dm) {
  const int error = release(context_of(dm->context), abi::ControlOpcode::free_dm, dm->handle);
  if (error == 0) destroy_object(&dm_of(dm));
  return error;
}

ibv_dm* import_dm(ibv_context* context, std::uint32_t handle) {
  return obtain(context, abi::ControlOpcode::import_dm, abi::HandleRequest{handle, 0});
}

void unimport_dm(ibv_dm* dm) { destroy_object(&dm_of(dm)); }

// The library sets no member of this region. Its type is `null`, because the memory is not the program's: the
// library must neither mark it for fork nor change the region.
ibv_mr* register_dm_mr(ibv_pd* pd, ibv_dm* dm, std::uint64_t offset, std::size_t length,
                       unsigned int access) {
  auto* mr = create_object<private_abi::Mr>();
  if (mr == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  const abi::RegisterDmMrRequest request{offset, length, pd->handle, dm->handle, access, 0};
  abi::RegisterMrReply reply{};
  if (const int error = call(context_of(pd->context), abi::ControlOpcode::register_dm_mr, request, reply)) {
    destroy_object(mr);
    errno = error;
    return nullptr;
  }
  mr->type = private_abi::MrType::null;
  mr->access = static_cast<int>(access);
  mr->mr.context = pd->context;
  mr->mr.pd = pd;
  mr->mr.length = length;
  mr->mr.handle = reply.handle;
  mr->mr.lkey = reply.lkey;
  mr->mr.rkey = reply.rkey;
  return &mr->mr;
}

}  // namespace urnic::provider
