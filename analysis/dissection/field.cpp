#include "analysis/dissection/field.hpp"

#include <algorithm>
#include <vector>

#include "analysis/dissection/field_value.hpp"
#include "analysis/dissection/header_tables.hpp"

namespace urnic::analysis {
namespace {

std::vector<const Header*> make_all() {
  std::vector<const Header*> all{&kEthernetHeader,
                                 &kVlanHeader,
                                 &kIpv4Header,
                                 &kIpv6Header,
                                 &kUdpHeader,
                                 &kLocalRouteHeader,
                                 &kGlobalRouteHeader,
                                 &kBthHeader,
                                 &kDethHeader,
                                 &kXrcethHeader,
                                 &kRethHeader,
                                 &kAtomicEthHeader,
                                 &kAethHeader,
                                 &kAtomicAckEthHeader,
                                 &kImmediateHeader,
                                 &kIethHeader,
                                 &kCnpHeader,
                                 &kSelectiveAckHeader,
                                 &kSelectiveAckOfferHeader,
                                 &kMadHeader};
  all.insert(all.end(), cm_headers().begin(), cm_headers().end());
  all.insert(all.end(),
             {&kIpCmHeader, &kLidRoutedSmpHeader, &kDirectedSmpHeader, &kRmppHeader, &kAdministrationHeader,
              &kVendorHeader, &kPayloadHeader, &kPadHeader, &kIcrcHeader, &kVariantCrcHeader});
  return all;
}

// Names of the header before the name's last point, for a message.
std::string names_of(std::string_view wrong) {
  const std::string_view header = wrong.substr(0, wrong.rfind('.'));
  std::string names;
  for (const Header* candidate : all_headers()) {
    if (candidate->name != header) continue;
    for (const Field& field : candidate->fields) names += std::string(names.empty() ? "" : ", ") + field.name;
  }
  if (!names.empty()) return "fields of " + std::string(header) + ": " + names;
  for (const Header* candidate : all_headers())
    names += std::string(names.empty() ? "" : ", ") + candidate->name;
  return "headers: " + names;
}

}  // namespace

std::span<const Header* const> all_headers() {
  static const std::vector<const Header*> kAll = make_all();
  return kAll;
}

std::optional<FieldOfHeader> find_field(std::string_view name) {
  for (const Header* header : all_headers()) {
    const auto field = std::find_if(header->fields.begin(), header->fields.end(),
                                    [name](const Field& candidate) { return candidate.name == name; });
    if (field != header->fields.end()) return FieldOfHeader{header, &*field};
  }
  return std::nullopt;
}

FieldOfHeader field_or_fail(std::string_view name) {
  if (const auto found = find_field(name)) return *found;
  throw FieldError("there is no field " + std::string(name) + "; " + names_of(name));
}

}  // namespace urnic::analysis
