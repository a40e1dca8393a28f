// Management datagrams. Where the CM's fields lie is in wire/mad/cm_layout.hpp; here they get names, in the
// same order.
#include <algorithm>
#include <array>
#include <type_traits>

#include "analysis/dissection/header_tables.hpp"
#include "wire/mad/cm_layout.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/mad_names.hpp"

namespace urnic::analysis {
namespace {

namespace mad = wire::mad;
using enum FieldKind;

// The name of a CM message's field. Flags, addresses and bytes are so by their member's type.
struct CmName {
  const char* name;
  const char* label;
  const char* wireshark = "";
  FieldKind kind = hexadecimal;
  std::string (*meaning)(std::uint64_t) = nullptr;
};

class FieldCounter {
 public:
  template <class Member>
  constexpr void operator()(mad::Place, const Member&) {
    ++count_;
  }
  template <class Member>
  constexpr void part(mad::Place, const Member&, unsigned) {
    ++count_;
  }
  constexpr std::size_t count() const { return count_; }

 private:
  std::size_t count_ = 0;
};

// Makes a row of each field of the layout and its name.
template <std::size_t kCount>
class FieldNamer {
 public:
  constexpr explicit FieldNamer(const std::array<CmName, kCount>& names) : names_(names) {}

  template <class Member>
  constexpr void operator()(mad::Place place, const Member&) {
    if constexpr (std::is_same_v<Member, bool>) {
      add(place, flag);
    } else if constexpr (std::is_same_v<Member, wire::Gid>) {
      add(place, ipv6);
    } else if constexpr (mad::kIsBytes<Member>) {
      add(place, bytes);
    } else {
      add(place, names_[at_].kind);
    }
  }
  template <class Member>
  constexpr void part(mad::Place place, const Member&, unsigned) {
    add(place, names_[at_].kind);
  }
  constexpr const std::array<Field, kCount>& fields() const { return fields_; }

 private:
  constexpr void add(mad::Place place, FieldKind kind) {
    const CmName& name = names_[at_];
    fields_[at_++] = {name.name,
                      name.label,
                      name.wireshark,
                      static_cast<std::uint16_t>(place.first_bit),
                      static_cast<std::uint16_t>(place.width),
                      kind,
                      false,
                      name.meaning};
  }

  const std::array<CmName, kCount>& names_;
  std::array<Field, kCount> fields_{};
  std::size_t at_ = 0;
};

template <class Message, std::size_t kCount>
constexpr std::array<Field, kCount> named(const std::array<CmName, kCount>& names) {
  FieldNamer<kCount> namer(names);
  const Message message{};
  mad::visit_fields(namer, message);
  return namer.fields();
}

template <class Message>
constexpr std::size_t count_of() {
  FieldCounter counter;
  const Message message{};
  mad::visit_fields(counter, message);
  return counter.count();
}

std::string class_meaning(std::uint64_t value) {
  switch (static_cast<mad::ManagementClass>(value)) {
    case mad::ManagementClass::subnet_lid_routed:
      return "subnet management, LID routed";
    case mad::ManagementClass::subnet_administration:
      return "subnet administration";
    case mad::ManagementClass::performance:
      return "performance management";
    case mad::ManagementClass::communication:
      return "communication management";
    case mad::ManagementClass::openib_ping:
      return "ibping";
    case mad::ManagementClass::subnet_directed_route:
      return "subnet management, directed route";
  }
  return {};
}

std::string method_meaning(std::uint64_t value) {
  return std::string(mad::method_name(static_cast<mad::Method>(value)));
}

std::string service_meaning(std::uint64_t value) {
  constexpr std::array<const char*, 4> kMeanings{"RC", "UC", "RD", "extended"};
  return value < kMeanings.size() ? kMeanings[value] : std::string{};
}

std::string mtu_meaning(std::uint64_t code) {
  return code >= 1 && code <= 5 ? std::to_string(128U << code) + " bytes" : std::string{};
}

std::string rejected_meaning(std::uint64_t value) {
  constexpr std::array<const char*, 3> kMeanings{"REQ", "REP", "no message"};
  return value < kMeanings.size() ? kMeanings[value] : std::string{};
}

std::string acknowledged_meaning(std::uint64_t value) {
  constexpr std::array<const char*, 3> kMeanings{"REQ", "REP", "LAP"};
  return value < kMeanings.size() ? kMeanings[value] : std::string{};
}

// IBTA 12.6.7.2.
std::string reason_meaning(std::uint64_t reason) {
  constexpr std::array<const char*, 36> kMeanings{
      "",
      "no QP",
      "no EEC",
      "no resources",
      "timeout",
      "unsupported request",
      "invalid communication id",
      "invalid communication instance",
      "invalid service id: nobody listens",
      "invalid transport service",
      "stale connection",
      "RDC does not exist",
      "primary remote GID rejected",
      "primary remote LID rejected",
      "invalid primary SL",
      "invalid primary traffic class",
      "invalid primary hop limit",
      "invalid primary packet rate",
      "alternate remote GID rejected",
      "alternate remote LID rejected",
      "invalid alternate SL",
      "invalid alternate traffic class",
      "invalid alternate hop limit",
      "invalid alternate packet rate",
      "CM and port redirection",
      "port redirection",
      "invalid path MTU",
      "insufficient responder resources",
      "the program rejects",
      "RNR retry count rejected",
      "duplicate local communication id",
      "invalid class version",
      "invalid primary flow label",
      "invalid alternate flow label",
      "",
      "vendor option not supported",
  };
  return reason < kMeanings.size() ? kMeanings[reason] : std::string{};
}

std::string sidr_meaning(std::uint64_t status) {
  constexpr std::array<const char*, 6> kMeanings{
      "valid QPN", "service not supported", "rejected by the service", "no QP",
      "redirect",  "version not supported"};
  return status < kMeanings.size() ? kMeanings[status] : std::string{};
}

constexpr std::array kMadFields{
    Field{"mad.baseversion", "Base version", "infiniband.mad.baseversion", 0, 8, hexadecimal},
    Field{"mad.mgmtclass", "Management class", "infiniband.mad.mgmtclass", 8, 8, hexadecimal, false,
          class_meaning},
    Field{"mad.classversion", "Class version", "infiniband.mad.classversion", 16, 8, hexadecimal},
    Field{"mad.method", "Method", "infiniband.mad.method", 24, 8, hexadecimal, false, method_meaning},
    Field{"mad.status", "Status", "infiniband.mad.status", 32, 16, hexadecimal},
    Field{"mad.classspecific", "Class specific", "infiniband.mad.classspecific", 48, 16, hexadecimal},
    Field{"mad.transactionid", "Transaction", "infiniband.mad.transactionid", 64, 64, hexadecimal},
    Field{"mad.attributeid", "Attribute", "infiniband.mad.attributeid", 128, 16, hexadecimal},
    Field{"mad.attributemodifier", "Attribute modifier", "infiniband.mad.attributemodifier", 160, 32,
          hexadecimal},
};

constexpr std::array kReqNames{
    CmName{"cm.req.localcommid", "Local communication id", "infiniband.cm.req"},
    CmName{"cm.req.vendorid", "ECE vendor id"},
    CmName{"cm.req.serviceid", "Service id", "infiniband.cm.req.serviceid"},
    CmName{"cm.req.localcaguid", "Local CA GUID", "infiniband.cm.req.localcaguid"},
    CmName{"cm.req.localqkey", "Local queue key", "infiniband.cm.req.localqkey"},
    CmName{"cm.req.localqpn", "Local QP", "infiniband.cm.req.localqpn"},
    CmName{"cm.req.responderres", "Responder resources", "infiniband.cm.req.responderres", decimal},
    CmName{"cm.req.localeecn", "Local EECN", "infiniband.cm.req.localeecn"},
    CmName{"cm.req.initdepth", "Initiator depth", "infiniband.cm.req.initdepth", decimal},
    CmName{"cm.req.remoteeecn", "Remote EECN", "infiniband.cm.req.remoteeecn"},
    CmName{"cm.req.remoteresptout", "Remote CM response timeout", "infiniband.cm.req.remoteresptout",
           decimal},
    CmName{"cm.req.transpsvctype", "Transport service", "infiniband.cm.req.transpsvctype", decimal,
           service_meaning},
    CmName{"cm.req.e2eflowctrl", "End-to-end flow control", "infiniband.cm.req.e2eflowctrl"},
    CmName{"cm.req.startpsn", "Starting PSN", "infiniband.cm.req.startpsn", decimal},
    CmName{"cm.req.localresptout", "Local CM response timeout", "infiniband.cm.req.localresptout", decimal},
    CmName{"cm.req.retrcount", "Retry count", "infiniband.cm.req.retrcount", decimal},
    CmName{"cm.req.pkey", "Partition key", "infiniband.cm.req.pkey"},
    CmName{"cm.req.pppmtu", "Path MTU", "infiniband.cm.req.pppmtu", decimal, mtu_meaning},
    CmName{"cm.req.rdcexist", "RDC exists", "infiniband.cm.req.rdcexist"},
    CmName{"cm.req.rnrretrcount", "RNR retry count", "infiniband.cm.req.rnrretrcount", decimal},
    CmName{"cm.req.maxcmretr", "CM retries", "infiniband.cm.req.maxcmretr", decimal},
    CmName{"cm.req.srq", "Has an SRQ", "infiniband.cm.req.srq"},
    CmName{"cm.req.ext_transport", "Extended transport", "infiniband.cm.req.ext_transport", decimal},
    CmName{"cm.req.prim_locallid", "Local LID", "infiniband.cm.req.prim_locallid"},
    CmName{"cm.req.prim_remotelid", "Remote LID", "infiniband.cm.req.prim_remotelid"},
    CmName{"cm.req.prim_localgid", "Local GID", "infiniband.cm.req.prim_localgid"},
    CmName{"cm.req.prim_remotegid", "Remote GID", "infiniband.cm.req.prim_remotegid"},
    CmName{"cm.req.prim_flowlabel", "Flow label", "infiniband.cm.req.prim_flowlabel"},
    CmName{"cm.req.prim_pktrate", "Packet rate", "infiniband.cm.req.prim_pktrate", decimal},
    CmName{"cm.req.prim_tfcclass", "Traffic class", "infiniband.cm.req.prim_tfcclass"},
    CmName{"cm.req.prim_hoplim", "Hop limit", "infiniband.cm.req.prim_hoplim", decimal},
    CmName{"cm.req.prim_sl", "Service level", "infiniband.cm.req.prim_sl", decimal},
    CmName{"cm.req.prim_subnetlocal", "Subnet local", "infiniband.cm.req.prim_subnetlocal"},
    CmName{"cm.req.prim_localacktout", "Local ACK timeout", "infiniband.cm.req.prim_localacktout", decimal},
    CmName{"cm.req.alt_locallid", "Alternate local LID", "infiniband.cm.req.alt_locallid"},
    CmName{"cm.req.alt_remotelid", "Alternate remote LID", "infiniband.cm.req.alt_remotelid"},
    CmName{"cm.req.alt_localgid", "Alternate local GID", "infiniband.cm.req.alt_localgid"},
    CmName{"cm.req.alt_remotegid", "Alternate remote GID", "infiniband.cm.req.alt_remotegid"},
    CmName{"cm.req.alt_flowlabel", "Alternate flow label", "infiniband.cm.req.alt_flowlabel"},
    CmName{"cm.req.alt_pktrate", "Alternate packet rate", "infiniband.cm.req.alt_pktrate", decimal},
    CmName{"cm.req.alt_tfcclass", "Alternate traffic class", "infiniband.cm.req.alt_tfcclass"},
    CmName{"cm.req.alt_hoplim", "Alternate hop limit", "infiniband.cm.req.alt_hoplim", decimal},
    CmName{"cm.req.alt_sl", "Alternate service level", "infiniband.cm.req.alt_sl", decimal},
    CmName{"cm.req.alt_subnetlocal", "Alternate subnet local", "infiniband.cm.req.alt_subnetlocal"},
    CmName{"cm.req.alt_localacktout", "Alternate local ACK timeout", "infiniband.cm.req.alt_localacktout",
           decimal},
    CmName{"cm.req.sap_supported", "Suggested alternate path supported"},
    CmName{"cm.req.private", "Private data", "infiniband.cm.req.private"},
};

constexpr std::array kMraNames{
    CmName{"cm.mra.localcommid", "Local communication id"},
    CmName{"cm.mra.remotecommid", "Remote communication id"},
    CmName{"cm.mra.msgmraed", "Acknowledged message", "", decimal, acknowledged_meaning},
    CmName{"cm.mra.servicetout", "Service timeout", "", decimal},
    CmName{"cm.mra.private", "Private data"},
};

constexpr std::array kRejNames{
    CmName{"cm.rej.localcommid", "Local communication id", "infiniband.cm.rej.localcommid"},
    CmName{"cm.rej.remotecommid", "Remote communication id", "infiniband.cm.rej.remotecommid"},
    CmName{"cm.rej.msgrej", "Rejected message", "infiniband.cm.rej.msgrej", decimal, rejected_meaning},
    CmName{"cm.rej.rejinfolen", "Length of the information", "infiniband.cm.rej.rejinfolen", decimal},
    CmName{"cm.rej.reason", "Reason", "infiniband.cm.rej.reason", decimal, reason_meaning},
    CmName{"cm.rej.ari", "Additional information", "infiniband.cm.rej.ari"},
    CmName{"cm.rej.private", "Private data", "infiniband.cm.rej.private"},
};

constexpr std::array kRepNames{
    CmName{"cm.rep.localcommid", "Local communication id", "infiniband.cm.rep"},
    CmName{"cm.rep.remotecommid", "Remote communication id", "infiniband.cm.rep.remotecommid"},
    CmName{"cm.rep.localqkey", "Local queue key", "infiniband.cm.rep.localqkey"},
    CmName{"cm.rep.localqpn", "Local QP", "infiniband.cm.rep.localqpn"},
    CmName{"cm.rep.vendorid_high", "ECE vendor id, bits 16 to 23"},
    CmName{"cm.rep.localeecn", "Local EECN", "infiniband.cm.rep.localeecn"},
    CmName{"cm.rep.vendorid_middle", "ECE vendor id, bits 8 to 15"},
    CmName{"cm.rep.startpsn", "Starting PSN", "infiniband.cm.rep.startpsn", decimal},
    CmName{"cm.rep.vendorid_low", "ECE vendor id, bits 0 to 7"},
    CmName{"cm.rep.respres", "Responder resources", "infiniband.cm.rep.respres", decimal},
    CmName{"cm.rep.initdepth", "Initiator depth", "infiniband.cm.rep.initdepth", decimal},
    CmName{"cm.rep.tgtackdelay", "Target ACK delay", "infiniband.cm.rep.tgtackdelay", decimal},
    CmName{"cm.rep.failoveracc", "Failover accepted", "infiniband.cm.rep.failoveracc", decimal},
    CmName{"cm.rep.e2eflowctrl", "End-to-end flow control", "infiniband.cm.rep.e2eflowctrl"},
    CmName{"cm.rep.rnrretrcount", "RNR retry count", "infiniband.cm.rep.rnrretrcount", decimal},
    CmName{"cm.rep.srq", "Has an SRQ", "infiniband.cm.rep.srq"},
    CmName{"cm.rep.localcaguid", "Local CA GUID", "infiniband.cm.rep.localcaguid"},
    CmName{"cm.rep.private", "Private data", "infiniband.cm.rep.private"},
};

constexpr std::array kRtuNames{
    CmName{"cm.rtu.localcommid", "Local communication id", "infiniband.cm.rtu.localcommid"},
    CmName{"cm.rtu.remotecommid", "Remote communication id", "infiniband.cm.rtu.remotecommid"},
    CmName{"cm.rtu.private", "Private data", "infiniband.cm.rtu.private"},
};

constexpr std::array kDreqNames{
    CmName{"cm.dreq.localcommid", "Local communication id", "infiniband.cm.dreq.localcommid"},
    CmName{"cm.dreq.remotecommid", "Remote communication id", "infiniband.cm.dreq.remotecommid"},
    CmName{"cm.dreq.remoteqpn", "Remote QP", "infiniband.cm.req.remoteqpneecn"},
    CmName{"cm.dreq.private", "Private data", "infiniband.cm.dreq.private"},
};

constexpr std::array kDrepNames{
    CmName{"cm.drep.localcommid", "Local communication id", "infiniband.cm.drsp.localcommid"},
    CmName{"cm.drep.remotecommid", "Remote communication id", "infiniband.cm.drsp.remotecommid"},
    CmName{"cm.drep.private", "Private data", "infiniband.cm.drsp.private"},
};

constexpr std::array kSidrReqNames{
    CmName{"cm.sidrreq.requestid", "Request id"},
    CmName{"cm.sidrreq.pkey", "Partition key"},
    CmName{"cm.sidrreq.serviceid", "Service id"},
    CmName{"cm.sidrreq.private", "Private data"},
};

constexpr std::array kSidrRepNames{
    CmName{"cm.sidrrep.requestid", "Request id"},
    CmName{"cm.sidrrep.status", "Status", "", decimal, sidr_meaning},
    CmName{"cm.sidrrep.infolen", "Length of the information", "", decimal},
    CmName{"cm.sidrrep.vendorid_high", "ECE vendor id, bits 8 to 23"},
    CmName{"cm.sidrrep.qpn", "QP"},
    CmName{"cm.sidrrep.vendorid_low", "ECE vendor id, bits 0 to 7"},
    CmName{"cm.sidrrep.serviceid", "Service id"},
    CmName{"cm.sidrrep.qkey", "Queue key"},
    CmName{"cm.sidrrep.ari", "Additional information"},
    CmName{"cm.sidrrep.private", "Private data"},
};

constexpr std::array kLapNames{
    CmName{"cm.lap.localcommid", "Local communication id"},
    CmName{"cm.lap.remotecommid", "Remote communication id"},
    CmName{"cm.lap.remoteqpn", "Remote QP"},
    CmName{"cm.lap.remoteresptout", "Remote CM response timeout", "", decimal},
    CmName{"cm.lap.alt_locallid", "Alternate local LID"},
    CmName{"cm.lap.alt_remotelid", "Alternate remote LID"},
    CmName{"cm.lap.alt_localgid", "Alternate local GID"},
    CmName{"cm.lap.alt_remotegid", "Alternate remote GID"},
    CmName{"cm.lap.alt_flowlabel", "Alternate flow label"},
    CmName{"cm.lap.alt_tfcclass", "Alternate traffic class"},
    CmName{"cm.lap.alt_hoplim", "Alternate hop limit", "", decimal},
    CmName{"cm.lap.alt_pktrate", "Alternate packet rate", "", decimal},
    CmName{"cm.lap.alt_sl", "Alternate service level", "", decimal},
    CmName{"cm.lap.alt_subnetlocal", "Alternate subnet local"},
    CmName{"cm.lap.alt_localacktout", "Alternate local ACK timeout", "", decimal},
    CmName{"cm.lap.private", "Private data"},
};

constexpr std::array kAprNames{
    CmName{"cm.apr.localcommid", "Local communication id"},
    CmName{"cm.apr.remotecommid", "Remote communication id"},
    CmName{"cm.apr.infolen", "Length of the information", "", decimal},
    CmName{"cm.apr.status", "Status", "", decimal},
    CmName{"cm.apr.ari", "Additional information"},
    CmName{"cm.apr.private", "Private data"},
};

// The table of each message; kNames and the layout name the same fields, or this does not compile.
template <class Message, const auto& kNames>
constexpr auto kFieldsOf = [] {
  static_assert(kNames.size() == count_of<Message>());
  return named<Message>(kNames);
}();

constexpr std::uint16_t kCmBytes = mad::kCmDataBytes;

const Header kReq{"cm.req", "CM REQ: request for communication", kCmBytes, kFieldsOf<mad::Req, kReqNames>};
const Header kMra{"cm.mra", "CM MRA: message receipt acknowledgement", kCmBytes,
                  kFieldsOf<mad::Mra, kMraNames>};
const Header kRej{"cm.rej", "CM REJ: reject", kCmBytes, kFieldsOf<mad::Rej, kRejNames>};
const Header kRep{"cm.rep", "CM REP: reply", kCmBytes, kFieldsOf<mad::Rep, kRepNames>};
const Header kRtu{"cm.rtu", "CM RTU: ready to use", kCmBytes, kFieldsOf<mad::Rtu, kRtuNames>};
const Header kDreq{"cm.dreq", "CM DREQ: request for disconnection", kCmBytes,
                   kFieldsOf<mad::Dreq, kDreqNames>};
const Header kDrep{"cm.drep", "CM DREP: reply to it", kCmBytes, kFieldsOf<mad::Drep, kDrepNames>};
const Header kSidrReq{"cm.sidrreq", "CM SIDR_REQ: service id resolution request", kCmBytes,
                      kFieldsOf<mad::SidrReq, kSidrReqNames>};
const Header kSidrRep{"cm.sidrrep", "CM SIDR_REP: service id resolution response", kCmBytes,
                      kFieldsOf<mad::SidrRep, kSidrRepNames>};
const Header kLap{"cm.lap", "CM LAP: load alternate path", kCmBytes, kFieldsOf<mad::Lap, kLapNames>};
const Header kApr{"cm.apr", "CM APR: alternate path response", kCmBytes, kFieldsOf<mad::Apr, kAprNames>};

// In the order of their attributes, from CmAttribute::req on.
constexpr std::array<const Header*, 11> kCmHeaders{&kReq,  &kMra,     &kRej,     &kRep, &kRtu, &kDreq,
                                                   &kDrep, &kSidrReq, &kSidrRep, &kLap, &kApr};

constexpr std::array kIpCmFields{
    Field{"ip_cm.majv", "Major version", "infiniband.cm.req.ip_cm.majv", 0, 4, decimal},
    Field{"ip_cm.minv", "Minor version", "infiniband.cm.req.ip_cm.minv", 4, 4, decimal},
    Field{"ip_cm.ipv", "IP version", "infiniband.cm.req.ip_cm.ipv", 8, 4, decimal},
    Field{"ip_cm.reserved", "Reserved", "infiniband.cm.req.ip_cm.reserved", 12, 4, decimal},
    Field{"ip_cm.sport", "Source port", "infiniband.cm.req.ip_cm.sport", 16, 16, decimal},
    Field{"ip_cm.sip", "Source", "infiniband.cm.req.ip_cm.sip6", 32, 128, ipv6},
    Field{"ip_cm.dip", "Destination", "infiniband.cm.req.ip_cm.dip6", 160, 128, ipv6},
};

}  // namespace

const Header kMadHeader{"mad", "Management datagram", mad::kMadHeaderBytes, kMadFields};
const Header kIpCmHeader{"ip_cm", "RDMA IP CM service", 36, kIpCmFields};

const Header* cm_header(std::uint16_t attribute) {
  const std::size_t index = attribute - static_cast<std::size_t>(mad::CmAttribute::req);
  return index < kCmHeaders.size() ? kCmHeaders[index] : nullptr;
}

std::span<const Header* const> cm_headers() { return kCmHeaders; }

}  // namespace urnic::analysis
