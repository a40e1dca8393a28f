#include "wire/mad/cm_messages.hpp"

#include <type_traits>
#include <utility>

#include "wire/mad/cm_layout.hpp"

namespace urnic::wire::mad {
namespace {

constexpr AttributeId attribute_id(CmAttribute attribute) { return {static_cast<std::uint16_t>(attribute)}; }

template <class Message>
constexpr bool kHasEce = requires(Message message) {
  message.ece;
};

template <class Message>
void read_body(std::span<const std::byte> mad, const MadHeader& header, Message& message) {
  static_assert(is_sound<Message, kCmDataBytes>());
  FieldReader reader(mad.subspan(kMadHeaderBytes));
  visit_fields(reader, message);
  if constexpr (kHasEce<Message>) message.ece.options = header.attribute_modifier;
}

MadError read_header(std::span<const std::byte> mad, MadHeader& header) {
  const MadError error = decode(mad, header);
  return error == MadError::none ? check_cm_header(header) : error;
}

// Reads the body into `message` if the attribute is that of the alternative kIndex.
template <std::size_t kIndex>
bool try_alternative(std::span<const std::byte> mad, const MadHeader& header, CmMessage& message) {
  using Message = std::variant_alternative_t<kIndex, CmMessage>;
  if (header.attribute != attribute_id(Message::kAttribute)) return false;
  read_body(mad, header, message.emplace<kIndex>());
  return true;
}

template <std::size_t... kIndices>
bool try_all(std::span<const std::byte> mad, const MadHeader& header, CmMessage& message,
             std::index_sequence<kIndices...>) {
  return (try_alternative<kIndices>(mad, header, message) || ...);
}

}  // namespace

MadError check_cm_header(const MadHeader& header) {
  if (header.base_version != kBaseVersion) return MadError::wrong_base_version;
  if (header.management_class != ManagementClass::communication) return MadError::wrong_class;
  if (header.class_version != kCmClassVersion) return MadError::wrong_class_version;
  if (header.method != Method::send) return MadError::wrong_method;
  return MadError::none;
}

template <CmMessageType Message>
Mad encode(const Message& message, TransactionId transaction) {
  MadHeader header;
  header.management_class = ManagementClass::communication;
  header.class_version = kCmClassVersion;
  header.method = Method::send;
  header.transaction = transaction;
  header.attribute = attribute_id(Message::kAttribute);
  if constexpr (kHasEce<Message>) header.attribute_modifier = message.ece.options;
  Mad mad{};
  encode(header, mad);
  FieldWriter writer(std::span<std::byte>(mad).subspan(kMadHeaderBytes));
  visit_fields(writer, message);
  return mad;
}

template <CmMessageType Message>
MadError decode(std::span<const std::byte> mad, Message& message) {
  MadHeader header;
  const MadError error = read_header(mad, header);
  if (error != MadError::none) return error;
  if (header.attribute != attribute_id(Message::kAttribute)) return MadError::wrong_attribute;
  read_body(mad, header, message);
  return MadError::none;
}

MadError decode(std::span<const std::byte> mad, CmMessage& message) {
  MadHeader header;
  const MadError error = read_header(mad, header);
  if (error != MadError::none) return error;
  constexpr auto kAlternatives = std::make_index_sequence<std::variant_size_v<CmMessage>>{};
  return try_all(mad, header, message, kAlternatives) ? MadError::none : MadError::wrong_attribute;
}

template Mad encode(const Req&, TransactionId);
template Mad encode(const Mra&, TransactionId);
template Mad encode(const Rej&, TransactionId);
template Mad encode(const Rep&, TransactionId);
template Mad encode(const Rtu&, TransactionId);
template Mad encode(const Dreq&, TransactionId);
template Mad encode(const Drep&, TransactionId);
template Mad encode(const SidrReq&, TransactionId);
template Mad encode(const SidrRep&, TransactionId);
template Mad encode(const Lap&, TransactionId);
template Mad encode(const Apr&, TransactionId);

template MadError decode(std::span<const std::byte>, Req&);
template MadError decode(std::span<const std::byte>, Mra&);
template MadError decode(std::span<const std::byte>, Rej&);
template MadError decode(std::span<const std::byte>, Rep&);
template MadError decode(std::span<const std::byte>, Rtu&);
template MadError decode(std::span<const std::byte>, Dreq&);
template MadError decode(std::span<const std::byte>, Drep&);
template MadError decode(std::span<const std::byte>, SidrReq&);
template MadError decode(std::span<const std::byte>, SidrRep&);
template MadError decode(std::span<const std::byte>, Lap&);
template MadError decode(std::span<const std::byte>, Apr&);

}  // namespace urnic::wire::mad
