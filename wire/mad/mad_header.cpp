#include "wire/mad/mad_header.hpp"

#include <algorithm>

#include "wire/mad/fields.hpp"

namespace urnic::wire::mad {

// IBTA 13.4.3. Bytes 18 and 19 are reserved.
template <class Visitor, Either<MadHeader> Message>
constexpr void visit_fields(Visitor& field, Message& header) {
  field(bits(0, 8), header.base_version);
  field(bits(1, 8), header.management_class);
  field(bits(2, 8), header.class_version);
  field(bits(3, 8), header.method);
  field(bits(4, 16), header.status);
  field(bits(6, 16), header.class_specific);
  field(bits(8, 64), header.transaction);
  field(bits(16, 16), header.attribute);
  field(bits(20, 32), header.attribute_modifier);
}
static_assert(is_sound<MadHeader, kMadHeaderBytes>());

MadError decode(std::span<const std::byte> mad, MadHeader& header) {
  if (mad.size() != kMadBytes) return MadError::wrong_size;
  FieldReader reader(mad);
  visit_fields(reader, header);
  return header.base_version == kBaseVersion ? MadError::none : MadError::wrong_base_version;
}

void encode(const MadHeader& header, Mad& mad) {
  std::fill_n(mad.begin(), kMadHeaderBytes, std::byte{0});
  FieldWriter writer(mad);
  visit_fields(writer, header);
}

const char* describe(MadError error) {
  switch (error) {
    case MadError::none:
      return "no error";
    case MadError::wrong_size:
      return "not 256 bytes";
    case MadError::wrong_base_version:
      return "wrong base version";
    case MadError::wrong_class:
      return "wrong management class";
    case MadError::wrong_class_version:
      return "wrong class version";
    case MadError::wrong_method:
      return "wrong method";
    case MadError::wrong_attribute:
      return "wrong attribute";
  }
  return "unknown error";
}

}  // namespace urnic::wire::mad
