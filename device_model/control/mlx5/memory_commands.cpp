// Protection domains, memory regions and windows, XRC domains.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <cerrno>

#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {
namespace {

// A program names the first byte of a zero-based region by its address, and users of its keys by 0.
template <class Request>
std::uint64_t first_address(const Request& request) {
  return (request.access_flags & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : request.hca_va;
}

ib_uverbs_rereg_mr_resp keys_of(const abi::RegisterMrReply& made) {
  ib_uverbs_rereg_mr_resp response{};
  response.lkey = made.lkey;
  response.rkey = made.rkey;
  return response;
}

}  // namespace

int allocate_pd(Command& command) {
  abi::HandleReply made{};
  if (const int error = control::allocate_pd(command.session, {}, made, command.descriptors)) return error;
  ib_uverbs_alloc_pd_resp response{};
  response.pd_handle = made.handle;
  command.core.set(response);
  command.driver.set(mlx5_ib_alloc_pd_resp{command.session.context->pds.find(made.handle)->id.value});
  return 0;
}

int deallocate_pd(Command& command) {
  const auto request = begin_of<ib_uverbs_dealloc_pd>(command.core_input);
  abi::HandleReply next{};  // what only the plugin has a use for
  return control::deallocate_pd(command.session, {request.pd_handle, 0}, next, command.descriptors);
}

int register_mr(Command& command) {
  const auto request = begin_of<ib_uverbs_reg_mr>(command.core_input);
  const abi::RegisterMrRequest wanted{request.start,     request.length,       first_address(request),
                                      request.pd_handle, request.access_flags, command.sharing};
  abi::RegisterMrReply made{};
  if (const int error = control::register_mr(command.session, wanted, made, command.descriptors))
    return error;
  command.region_pages = made.pages;
  if (command.sharing == abi::Sharing::willing && made.pages.length != 0) return kRegionPagesFirst;
  ib_uverbs_reg_mr_resp response{};
  response.mr_handle = made.handle;
  response.lkey = made.lkey;
  response.rkey = made.rkey;
  command.core.set(response);
  return 0;
}

int reregister_mr(Command& command) {
  const auto request = begin_of<ib_uverbs_rereg_mr>(command.core_input);
  const abi::ReregisterMrRequest wanted{
      request.mr_handle,
      request.flags,
      {request.start, request.length, first_address(request), request.pd_handle, request.access_flags}};
  abi::RegisterMrReply made{};
  if (const int error = control::reregister_mr(command.session, wanted, made, command.descriptors))
    return error;
  command.region_pages = made.pages;
  command.core.set(keys_of(made));
  return 0;
}

int deregister_mr(Command& command) {
  const auto request = begin_of<ib_uverbs_dereg_mr>(command.core_input);
  abi::DeregisterMrReply gone{};
  const int error =
      control::deregister_mr(command.session, {request.mr_handle, 0}, gone, command.descriptors);
  command.region_pages = gone.unneeded;
  return error;
}

int allocate_mw(Command& command) {
  const auto request = begin_of<ib_uverbs_alloc_mw>(command.core_input);
  abi::AllocateMwReply made{};
  if (const int error = control::allocate_mw(command.session, {request.pd_handle, request.mw_type}, made,
                                             command.descriptors))
    return error;
  ib_uverbs_alloc_mw_resp response{};
  response.mw_handle = made.handle;
  response.rkey = made.rkey;
  command.core.set(response);
  return 0;
}

int deallocate_mw(Command& command) {
  const auto request = begin_of<ib_uverbs_dealloc_mw>(command.core_input);
  abi::Empty ignored{};
  return control::deallocate_mw(command.session, {request.mw_handle, 0}, ignored, command.descriptors);
}

int open_xrcd(Command& command) {
  const auto request = begin_of<ib_uverbs_open_xrcd>(command.core_input);
  if ((request.oflags & ~static_cast<__u32>(O_CREAT | O_EXCL)) != 0) return EINVAL;
  abi::OpenXrcdRequest wanted{};
  if ((request.oflags & O_CREAT) != 0) wanted.flags |= abi::xrcd_create;
  if ((request.oflags & O_EXCL) != 0) wanted.flags |= abi::xrcd_exclusive;
  abi::HandleReply made{};
  if (const int error = control::open_xrcd(command.session, wanted, made, command.descriptors)) return error;
  ib_uverbs_open_xrcd_resp response{};
  response.xrcd_handle = made.handle;
  command.core.set(response);
  return 0;
}

int close_xrcd(Command& command) {
  const auto request = begin_of<ib_uverbs_close_xrcd>(command.core_input);
  abi::Empty ignored{};
  return control::close_xrcd(command.session, {request.xrcd_handle, 0}, ignored, command.descriptors);
}

}  // namespace urnic::control::mlx5
