// Why bytes are not the management datagram that a caller asked for.
#pragma once

#include <cstdint>

namespace urnic::wire::mad {

// In the order of the checks: a datagram has the first error that applies.
enum class MadError : std::uint8_t {
  none,
  wrong_size,           // not 256 bytes
  wrong_base_version,   // not 1
  wrong_class,          // of another management class
  wrong_class_version,  // CM: the answer to a REQ is a REJ with RejectReason::invalid_class_version
  wrong_method,
  wrong_attribute,  // no attribute of the class, or another one than was asked for
};

// A phrase for logs, such as "wrong management class"; static storage.
const char* describe(MadError error);

}  // namespace urnic::wire::mad
