// CREATE_AH, DESTROY_AH
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "device_model/control/mlx5/address_vector.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {

int create_ah(Command& command) {
  const auto request = begin_of<ib_uverbs_create_ah>(command.core_input);
  abi::CreateAhRequest wanted{};
  wanted.path = to_address_vector(request.attr);
  wanted.pd = request.pd_handle;
  abi::CreateAhReply made{};
  if (const int error = control::create_ah(command.session, wanted, made, command.descriptors)) return error;
  ib_uverbs_create_ah_resp response{};
  response.ah_handle = made.handle;
  command.core.set(response);
  mlx5_ib_create_ah_resp driver{};
  driver.response_length = sizeof driver;
  const wire::MacAddress mac = mac_of_address_handle(made.number);
  std::copy(mac.bytes.begin(), mac.bytes.end(), driver.dmac);
  command.driver.set(driver);
  return 0;
}

int destroy_ah(Command& command) {
  const auto request = begin_of<ib_uverbs_destroy_ah>(command.core_input);
  abi::Empty ignored{};
  return control::destroy_ah(command.session, {request.ah_handle, 0}, ignored, command.descriptors);
}

}  // namespace urnic::control::mlx5
