// Writes a port's P_Keys as a subnet manager does.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <initializer_list>

#include "device_model/subnet/network.hpp"
#include "wire/mad/smp.hpp"
#include "wire/mad/subnet_tables.hpp"

namespace urnic::subnet::test {

inline void write_pkeys(Network& network, NodeIndex adapter, std::initializer_list<std::uint16_t> pkeys) {
  wire::mad::PkeyBlock block{};
  std::copy(pkeys.begin(), pkeys.end(), block.begin());
  wire::mad::Smp smp;
  smp.header.management_class = wire::mad::ManagementClass::subnet_lid_routed;
  smp.header.class_version = wire::mad::kSubnetClassVersion;
  smp.header.method = wire::mad::Method::set;
  smp.header.attribute = {static_cast<std::uint16_t>(wire::mad::SubnetAttribute::pkey_table)};
  smp.data = wire::mad::encode_block(block);
  BOOST_REQUIRE((network.ask_agent({adapter, 1}, smp) == Verdict::answered));
  BOOST_REQUIRE((smp.header.status == wire::mad::MadStatus::ok));
}

}  // namespace urnic::subnet::test
