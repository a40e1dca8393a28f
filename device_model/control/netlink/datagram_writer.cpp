#include "device_model/control/netlink/datagram_writer.hpp"

#include <cstring>
#include <string>

namespace urnic::control::netlink {
namespace {

template <class Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

// With padding to 4 bytes, the alignment of messages and attributes.
void DatagramWriter::append(std::span<const std::byte> bytes) {
  const std::size_t padded = NLMSG_ALIGN(bytes.size());
  if (!fits_ || padded > bytes_.size() - length_) {
    fits_ = false;
    return;
  }
  std::memcpy(bytes_.data() + length_, bytes.data(), bytes.size());
  std::memset(bytes_.data() + length_ + bytes.size(), 0, padded - bytes.size());
  length_ += padded;
}

DatagramWriter::Place DatagramWriter::begin_message(const Question& question, std::uint16_t type,
                                                    std::uint16_t flags) {
  const Place place = length_;
  nlmsghdr header{};
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  header.nlmsg_seq = question.sequence;
  header.nlmsg_pid = question.port;
  append(bytes_of(header));
  return place;
}

void DatagramWriter::end_message(Place message) {
  const auto length = static_cast<std::uint32_t>(length_ - message);
  if (fits_) std::memcpy(bytes_.data() + message + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
}

DatagramWriter::Place DatagramWriter::begin_table(std::uint16_t type) {
  const Place place = length_;
  append(bytes_of(nlattr{0, type}));
  return place;
}

void DatagramWriter::end_table(Place table) {
  const auto length = static_cast<std::uint16_t>(length_ - table);
  if (fits_) std::memcpy(bytes_.data() + table + offsetof(nlattr, nla_len), &length, sizeof length);
}

void DatagramWriter::put(std::uint16_t type, std::string_view text) {
  const std::string with_nul(text);
  put_bytes(type, std::as_bytes(std::span(with_nul.c_str(), with_nul.size() + 1)));
}

// The header's length counts no padding, and the value lies right behind the header.
void DatagramWriter::put_bytes(std::uint16_t type, std::span<const std::byte> bytes) {
  const nlattr header{static_cast<std::uint16_t>(sizeof header + bytes.size()), type};
  append(bytes_of(header));
  append(bytes);
}

bool DatagramWriter::put_done(const Question& question) {
  const Place place = begin_message(question, NLMSG_DONE, NLM_F_MULTI);
  append(bytes_of(int{0}));
  end_message(place);
  if (fits_) return true;
  cut_back(place);
  return false;
}

// Of the request only the header comes back.
bool DatagramWriter::put_error(const nlmsghdr& request, int error) {
  const Place place =
      begin_message({request.nlmsg_seq, request.nlmsg_pid}, NLMSG_ERROR, error != 0 ? NLM_F_CAPPED : 0);
  append(bytes_of(nlmsgerr{error, request}));
  end_message(place);
  if (fits_) return true;
  cut_back(place);
  return false;
}

void DatagramWriter::cut_back(Place place) {
  length_ = place;
  fits_ = true;
}

}  // namespace urnic::control::netlink
