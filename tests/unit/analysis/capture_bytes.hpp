// The bytes of capture files, in either byte order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace urnic::analysis::test {

using Bytes = std::vector<std::byte>;

class CaptureBytes {
 public:
  explicit CaptureBytes(bool big_endian = false) : big_endian_(big_endian) {}

  const Bytes& bytes() const { return bytes_; }
  Bytes& bytes() { return bytes_; }

  CaptureBytes& u16(std::uint64_t value) { return number(value, 2); }
  CaptureBytes& u32(std::uint64_t value) { return number(value, 4); }
  CaptureBytes& raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  CaptureBytes& text(std::string_view text) { return raw(std::as_bytes(std::span(text))); }
  CaptureBytes& padded(std::span<const std::byte> bytes) {
    raw(bytes);
    bytes_.resize((bytes_.size() + 3) & ~std::size_t{3});
    return *this;
  }

  // Classic pcap.
  CaptureBytes& pcap_header(std::uint32_t magic, std::uint32_t link = 1) {
    return u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65535).u32(link);
  }
  CaptureBytes& pcap_record(std::uint32_t seconds, std::uint32_t fraction, std::span<const std::byte> packet,
                            std::uint32_t original = 0) {
    const auto size = static_cast<std::uint32_t>(packet.size());
    return u32(seconds).u32(fraction).u32(size).u32(std::max(size, original)).raw(packet);
  }

  // pcapng.
  CaptureBytes& block(std::uint32_t type, const CaptureBytes& body) {
    const std::size_t size = body.bytes_.size() + 12;
    return u32(type).u32(size).raw(body.bytes_).u32(size);
  }
  CaptureBytes& option(std::uint16_t code, std::span<const std::byte> value) {
    return u16(code).u16(value.size()).padded(value);
  }
  CaptureBytes& option(std::uint16_t code, std::string_view value) {
    return option(code, std::as_bytes(std::span(value)));
  }
  CaptureBytes& section() {
    return block(0x0A0D0D0A,
                 CaptureBytes(big_endian_).u32(0x1A2B3C4D).u16(1).u16(0).u32(0xFFFFFFFF).u32(0xFFFFFFFF));
  }
  CaptureBytes& interface(std::string_view name, std::uint16_t link = 1, char resolution = 9) {
    CaptureBytes body(big_endian_);
    body.u16(link).u16(0).u32(0);
    if (!name.empty()) body.option(2, name);
    body.option(9, std::string_view(&resolution, 1));
    return block(1, body.u32(0));
  }
  CaptureBytes& packet(std::uint32_t interface, std::uint64_t time, std::span<const std::byte> packet,
                       std::initializer_list<std::string_view> comments = {}, std::uint32_t original = 0) {
    CaptureBytes body(big_endian_);
    const auto size = static_cast<std::uint32_t>(packet.size());
    body.u32(interface)
        .u32(time >> 32)
        .u32(time & 0xFFFFFFFF)
        .u32(size)
        .u32(std::max(size, original))
        .padded(packet);
    for (const std::string_view comment : comments) body.option(1, comment);
    if (comments.size() != 0) body.u32(0);
    return block(6, body);
  }

 private:
  CaptureBytes& number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (big_endian_ ? bytes - 1 - i : i);
      bytes_.push_back(static_cast<std::byte>(value >> shift));
    }
    return *this;
  }

  bool big_endian_;
  Bytes bytes_;
};

}  // namespace urnic::analysis::test
