#include "wire/mad/ip_cm_header.hpp"

#include <algorithm>

#include "wire/mad/fields.hpp"

namespace urnic::wire::mad {
namespace {

// The header as it lies on the wire.
struct RawHeader {
  std::uint8_t version = 0;
  IpVersion ip_version{};
  std::uint16_t source_port = 0;
  Gid source;
  Gid destination;
};

template <class Visitor, Either<RawHeader> Message>
constexpr void visit_fields(Visitor& field, Message& header) {
  field(bits(0, 8), header.version);
  field(bits(1, 4), header.ip_version);
  field(bits(2, 16), header.source_port);
  field(bits(4, 128), header.source);
  field(bits(20, 128), header.destination);
}
static_assert(is_sound<RawHeader, kIpCmHeaderBytes>());

// `address` with other bytes before the last four, which are the IPv4 address.
Gid with_ipv4_prefix(const Gid& address, std::uint8_t mark) {
  Gid gid = address;
  std::fill_n(gid.bytes.begin(), 10, std::uint8_t{0});
  gid.bytes[10] = gid.bytes[11] = mark;
  return gid;
}

Gid mapped(const Gid& raw) { return with_ipv4_prefix(raw, 0xFF); }
Gid unmapped(const Gid& address) { return with_ipv4_prefix(address, 0); }

}  // namespace

IpCmError decode(std::span<const std::byte> private_data, IpCmHeader& header) {
  if (private_data.size() < kIpCmHeaderBytes) return IpCmError::too_short;
  RawHeader raw;
  FieldReader reader(private_data);
  visit_fields(reader, raw);
  if (raw.version != 0) return IpCmError::wrong_version;
  const bool is_ipv4 = raw.ip_version == IpVersion::v4;
  if (!is_ipv4 && raw.ip_version != IpVersion::v6) return IpCmError::wrong_ip_version;
  header = {.ip_version = raw.ip_version,
            .source_port = raw.source_port,
            .source = is_ipv4 ? mapped(raw.source) : raw.source,
            .destination = is_ipv4 ? mapped(raw.destination) : raw.destination};
  return IpCmError::none;
}

void encode(const IpCmHeader& header, std::span<std::byte> private_data) {
  const bool is_ipv4 = header.ip_version == IpVersion::v4;
  const RawHeader raw{.ip_version = header.ip_version,
                      .source_port = header.source_port,
                      .source = is_ipv4 ? unmapped(header.source) : header.source,
                      .destination = is_ipv4 ? unmapped(header.destination) : header.destination};
  const auto bytes = private_data.first(kIpCmHeaderBytes);
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  FieldWriter writer(bytes);
  visit_fields(writer, raw);
}

}  // namespace urnic::wire::mad
