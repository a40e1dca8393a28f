#include "wire/mad/vendor.hpp"

#include "wire/mad/fields.hpp"

namespace urnic::wire::mad {

// IBTA 16.5; bytes count from the MAD's beginning. Byte 36 is reserved.
template <class Visitor, Either<VendorMad> Message>
constexpr void visit_fields(Visitor& field, Message& vendor) {
  field(bits(24, 12 * 8), vendor.rmpp);
  field(bits(37, 24), vendor.oui);
  field(bits(40, 216 * 8), vendor.data);
}
static_assert(is_sound<VendorMad, kMadBytes>());

MadError decode(std::span<const std::byte> mad, VendorMad& vendor) {
  MadHeader header;
  const MadError error = decode(mad, header);
  if (error != MadError::none) return error;
  if (!has_oui(header.management_class)) return MadError::wrong_class;
  vendor.header = header;
  FieldReader reader(mad);
  visit_fields(reader, vendor);
  return MadError::none;
}

Mad encode(const VendorMad& vendor) {
  Mad mad{};
  encode(vendor.header, mad);
  FieldWriter writer(mad);
  visit_fields(writer, vendor);
  return mad;
}

}  // namespace urnic::wire::mad
