// What datagrams of queue pair 1 have behind the header of all datagrams: RMPP (IBTA 13.6.2.1), subnet
// administration (15.2.1.1), a vendor's OUI (16.5).
#include <array>

#include "analysis/dissection/header_tables.hpp"
#include "wire/mad/rmpp.hpp"

namespace urnic::analysis {
namespace {

using enum FieldKind;
using wire::mad::RmppType;

std::string type_meaning(std::uint64_t value) {
  switch (static_cast<RmppType>(value)) {
    case RmppType::none:
      return "one datagram is the message";
    case RmppType::data:
      return "DATA";
    case RmppType::acknowledgement:
      return "ACK";
    case RmppType::stop:
      return "STOP";
    case RmppType::abort:
      return "ABORT";
  }
  return {};
}

// Wireshark 4.0 takes a bit of the response time for one of the flags.
constexpr std::array kRmppFields{
    Field{"rmpp.rmppversion", "Version", "infiniband.rmpp.rmppversion", 0, 8, hexadecimal},
    Field{"rmpp.rmpptype", "Type", "infiniband.rmpp.rmpptype", 8, 8, hexadecimal, false, type_meaning},
    Field{"rmpp.rresptime", "Response time", "", 16, 5, decimal},
    Field{"rmpp.last", "Last segment", "", 21, 1, flag},
    Field{"rmpp.first", "First segment", "", 22, 1, flag},
    Field{"rmpp.active", "Active", "", 23, 1, flag},
    Field{"rmpp.rmppstatus", "Status", "infiniband.rmpp.rmppstatus", 24, 8, hexadecimal},
    Field{"rmpp.segmentnumber", "Segment", "infiniband.rmpp.segmentnumber", 32, 32, decimal},
    Field{"rmpp.payloadlength", "Length, or the window's last segment", "infiniband.rmpp.payloadlength", 64,
          32, decimal},
};

constexpr std::array kAdministrationFields{
    Field{"sa.smkey", "SM_Key", "infiniband.sa.smkey", 0, 64, hexadecimal},
    Field{"sa.attributeoffset", "From record to record, in 8 bytes", "infiniband.sa.attributeoffset", 64, 16,
          decimal},
    Field{"sa.reserved", "Reserved", "", 80, 16, hexadecimal},
    Field{"sa.componentmask", "Component mask", "infiniband.sa.componentmask", 96, 64, hexadecimal},
};

constexpr std::array kVendorFields{
    Field{"vendor.reserved", "Reserved", "", 0, 8, hexadecimal},
    Field{"vendor.oui", "Vendor", "", 8, 24, hexadecimal},
};

}  // namespace

const Header kRmppHeader{"rmpp", "Message of several datagrams (RMPP)", 12, kRmppFields};
const Header kAdministrationHeader{"sa", "Subnet administration", 20, kAdministrationFields};
const Header kVendorHeader{"vendor", "Vendor's class", 4, kVendorFields};

}  // namespace urnic::analysis
