// What kinds of attributes the methods of ioctl have that the stand-in passes on: an attribute itself does
// not say whether its data come from the program or go to it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace urnic::kernel {

enum class AttributeKind : uint8_t {
  input,       // data in the attribute itself, or where it points to
  output,      // where the answer goes
  object,      // the handle of an object
  new_object,  // where the handle of a new object goes: into the attribute itself
};

struct AttributeRow {
  uint16_t id;
  AttributeKind kind;
};

struct MethodRow {
  uint16_t object;
  uint16_t method;
  const AttributeRow* attributes;
  size_t count;

  // Null: the method has no such attribute.
  const AttributeRow* find(uint16_t id) const;
};

// Null: the stand-in passes no such method on.
const MethodRow* find_method(uint16_t object, uint16_t method);

}  // namespace urnic::kernel
