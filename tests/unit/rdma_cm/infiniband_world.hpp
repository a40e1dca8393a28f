// InfiniBand devices that are up, and what a test answers in the place of their subnet manager.
#pragma once

#include "device_model/control/fabric/port_record.hpp"
#include "device_model/subnet/manager/sweep.hpp"
#include "tests/unit/rdma_cm/rdma_cm_program.hpp"
#include "tests/unit/subnet/pkey_table.hpp"

namespace urnic::control::rdma_cm::test {

using wire::mad::MulticastMemberRecord;
using wire::mad::PathRecord;

struct Subnet : World {
  Subnet() : Subnet(infiniband_configuration()) {}
  explicit Subnet(const Configuration& configuration) : World(configuration) {
    subnet::sweep(fabric.subnet());
    fabric.subnet_changed();
  }

  wire::Gid gid(std::size_t device) const {
    return first_gid_of(fabric.subnet().node(*fabric.devices()[device]->adapter));
  }
  wire::Lid lid(std::size_t device) const {
    return fabric.subnet().port(*fabric.devices()[device]->adapter).lid;
  }
  std::uint64_t guid(std::size_t device) const {
    std::uint64_t guid = 0;
    std::memcpy(&guid, fabric.devices()[device]->node_guid.data(), sizeof guid);
    return guid;
  }

  // As a subnet manager writes them.
  void set_pkeys(std::size_t device, std::initializer_list<std::uint16_t> pkeys) {
    subnet::test::write_pkeys(fabric.subnet(), *fabric.devices()[device]->adapter, pkeys);
  }

  // The record that was asked for, with what a manager adds.
  PathRecord asked_path() const { return wire::mad::decode_record<PathRecord>(manager.asked.back().mad); }
  PathRecord given_path() const {
    PathRecord path = asked_path();
    path.destination_lid = lid(1);
    path.source_lid = lid(0);
    path.service_level = 3;
    path.mtu = 4;
    path.rate = 7;
    path.packet_lifetime = 18;
    return path;
  }
  template <class Record>
  bool answer(const Record& record, wire::mad::MadStatus status = wire::mad::MadStatus::ok) {
    const Manager::Request request = manager.asked.back();
    manager.asked.clear();
    wire::mad::MadHeader header;
    decode(request.mad, header);
    wire::mad::Mad mad = encode_request(header, 0, record);
    decode(mad, header);
    header.method = wire::mad::Method::get_response;
    header.status = status;
    encode(header, mad);
    return rdma_cm.administration().receive(request.adapter, manager.lid, mad);
  }
};

}  // namespace urnic::control::rdma_cm::test
