#include "tests/apps/programs/device.hpp"

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

ContextOwner open_device(const std::string& name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  require(list != nullptr, "no device list: {}", std::strerror(errno));
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> owner(list, ibv_free_device_list);
  for (int i = 0; i < count; ++i) {
    if (ibv_get_device_name(list[i]) != name) continue;
    ContextOwner context(ibv_open_device(list[i]));
    require(context != nullptr, "{} cannot be opened: {}", name, std::strerror(errno));
    return context;
  }
  throw std::runtime_error(fmt::format("there is no device {} among {}", name, count));
}

}  // namespace

Device::Device(const std::string& name) : name_(name), context_(open_device(name)) {
  pd_.reset(ibv_alloc_pd(context_.get()));
  require(pd_ != nullptr, "{}: no protection domain: {}", name, std::strerror(errno));
  find_gid();
}

Device::Device(ibv_context* imported, std::uint32_t pd_handle) : name_("imported"), context_(imported) {
  require(imported != nullptr, "no device imported: {}", std::strerror(errno));
  pd_.reset(ibv_import_pd(imported, pd_handle));
  require(pd_ != nullptr, "no protection domain imported: {}", std::strerror(errno));
  find_gid();
}

void Device::find_gid() {
  const int error = ibv_query_gid(context_.get(), 1, kGidIndex, &gid_);
  require(error == 0, "{}: no GID {}", name_, kGidIndex);
}

ibv_device_attr Device::attributes() const {
  ibv_device_attr attributes{};
  require(ibv_query_device(context(), &attributes) == 0, "{}: ibv_query_device failed", name_);
  return attributes;
}

ibv_port_attr Device::port() const {
  ibv_port_attr attributes{};
  require(ibv_query_port(context(), 1, &attributes) == 0, "{}: ibv_query_port failed", name_);
  return attributes;
}

DeviceNames device_names() {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  DeviceNames names{"urnic0", "urnic1"};
  if (suite.argc > 1) names.first = suite.argv[1];
  names.second = suite.argc > 2 ? suite.argv[2] : suite.argc > 1 ? names.first : names.second;
  return names;
}

bool is_driven_by_libmlx5() { return device_names().first.starts_with("mlx5"); }

}  // namespace urnic::apps
