// What the two kinds of capture file have in common. For this folder only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/capture_files/capture_error.hpp"
#include "analysis/capture_files/captured_packet.hpp"

namespace urnic::analysis {

// Integers of a file in the order of its writer's machine.
class ByteOrder {
 public:
  ByteOrder() = default;
  explicit ByteOrder(bool big_endian) : big_endian_(big_endian) {}

  // `bytes` must have `at` + 2, or + 4, bytes.
  std::uint16_t u16(std::span<const std::byte> bytes, std::size_t at) const;
  std::uint32_t u32(std::span<const std::byte> bytes, std::size_t at) const;

 private:
  bool big_endian_ = false;
};

class CaptureFormat {
 public:
  CaptureFormat() = default;
  CaptureFormat(const CaptureFormat&) = delete;
  CaptureFormat& operator=(const CaptureFormat&) = delete;
  virtual ~CaptureFormat() = default;

  // How many bytes the record at the beginning of `bytes` has; 0 if more bytes are needed to tell. Throws
  // CaptureError, without the position, if it is none.
  virtual std::size_t record_bytes(std::span<const std::byte> bytes) = 0;
  // Reads a whole record. False: it holds no packet. `packet.number` is not set. Throws as above.
  virtual bool read(std::span<const std::byte> record, CapturedPacket& packet) = 0;

  const std::vector<CaptureInterface>& interfaces() const { return interfaces_; }

 protected:
  // Adds an interface; capture point and device follow from its name.
  void add_interface(CaptureInterface interface);
  // Sets the packet's bytes and lengths. Throws CaptureError if no frame can be made of them.
  void set_bytes(CapturedPacket& packet, std::span<const std::byte> bytes, std::uint32_t original);

 private:
  std::vector<CaptureInterface> interfaces_;
  std::vector<std::byte> frame_;
};

// Each returns nothing if the bytes begin otherwise. There must be four bytes.
std::unique_ptr<CaptureFormat> pcap_format(std::span<const std::byte> beginning);
std::unique_ptr<CaptureFormat> pcapng_format(std::span<const std::byte> beginning);

}  // namespace urnic::analysis
