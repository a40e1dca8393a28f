// A datagram of netlink messages to a program, under way.
#pragma once

#include <linux/netlink.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace urnic::control::netlink {

// libmnl's buffer on machines with pages of 4 KiB; a longer datagram would be lost to it.
inline constexpr std::size_t kMaxDatagram = 4096;

// The message to which this one is the answer.
struct Question {
  std::uint32_t sequence = 0;
  std::uint32_t port = 0;  // the program's; answers carry it back
};

// What does not fit is left out, and `fits` is false from then on, until `cut_back`.
class DatagramWriter {
 public:
  // Where a message or a table begins.
  using Place = std::size_t;

  bool empty() const { return length_ == 0; }
  bool fits() const { return fits_; }
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(length_); }

  Place begin_message(const Question& question, std::uint16_t type, std::uint16_t flags);
  void end_message(Place message);
  // Also a table (a nested attribute): between the two its contents are put.
  Place begin_table(std::uint16_t type);
  void end_table(Place table);

  void put(std::uint16_t type, std::uint8_t value) { put_value(type, value); }
  void put(std::uint16_t type, std::uint32_t value) { put_value(type, value); }
  void put(std::uint16_t type, std::uint64_t value) { put_value(type, value); }
  void put(std::uint16_t type, std::string_view text);  // a NUL is added
  void put_bytes(std::uint16_t type, std::span<const std::byte> bytes);

  // The end of an answer in several messages; the answer to a request that has none, with 0 or a negative
  // errno. Both leave the datagram as it was, and return false, if they do not fit.
  bool put_done(const Question& question);
  bool put_error(const nlmsghdr& request, int error);

  // Takes away everything from there on.
  Place place() const { return length_; }
  void cut_back(Place place);

 private:
  template <class Value>
  void put_value(std::uint16_t type, const Value& value) {
    put_bytes(type, std::as_bytes(std::span(&value, 1)));
  }
  void append(std::span<const std::byte> bytes);

  alignas(8) std::array<std::byte, kMaxDatagram> bytes_;
  std::size_t length_ = 0;
  bool fits_ = true;
};

}  // namespace urnic::control::netlink
