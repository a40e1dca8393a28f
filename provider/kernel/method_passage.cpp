#include "provider/kernel/method_passage.hpp"

#include <errno.h>

#include <cstring>

#include "device_model/abi/uverbs_messages.hpp"
#include "provider/kernel/uverbs_command.hpp"

namespace urnic::kernel {

namespace {

constexpr size_t kMostBytes = 512;  // of all attributes with their data
constexpr size_t kHandleRoom = 8;   // the attribute's own number

constexpr size_t padded(size_t length) { return (length + 7) / 8 * 8; }

// Records of abi::UverbsAttribute.
struct Records {
  alignas(8) unsigned char bytes[kMostBytes];
  size_t length = 0;
};

const void* pointer_to(uint64_t address) { return reinterpret_cast<const void*>(address); }

// A record with room for `length` bytes of data, all zero. Null: there is no room.
unsigned char* add(Records& records, uint16_t id, size_t length, size_t room) {
  if (length > kMostBytes || records.length + sizeof(abi::UverbsAttribute) + padded(length) > kMostBytes)
    return nullptr;
  const abi::UverbsAttribute head = {id, static_cast<uint16_t>(length), static_cast<uint16_t>(room), 0};
  unsigned char* const place = records.bytes + records.length;
  std::memcpy(place, &head, sizeof head);
  std::memset(place + sizeof head, 0, padded(length));
  records.length += sizeof head + padded(length);
  return place + sizeof head;
}

int add_input(const ProgramMemory& memory, const ib_uverbs_attr& attribute, Records& records) {
  unsigned char* const to = add(records, attribute.attr_id, attribute.len, 0);
  if (to == nullptr) return EINVAL;
  if (attribute.len <= kMostInline) {
    std::memcpy(to, &attribute.data, attribute.len);
    return 0;
  }
  return memory.read(to, pointer_to(attribute.data), attribute.len) < attribute.len ? EFAULT : 0;
}

int add_handle(const ib_uverbs_attr& attribute, Records& records) {
  const auto handle = static_cast<uint32_t>(attribute.data);
  unsigned char* const to = add(records, attribute.attr_id, sizeof handle, 0);
  if (to == nullptr) return EINVAL;
  std::memcpy(to, &handle, sizeof handle);
  return 0;
}

int add_room(uint16_t id, size_t room, Records& records) {
  return add(records, id, 0, room) != nullptr ? 0 : EINVAL;
}

int add_attribute(const ProgramMemory& memory, const ib_uverbs_attr& attribute, AttributeKind kind,
                  Records& records) {
  switch (kind) {
    case AttributeKind::input:
      return add_input(memory, attribute, records);
    case AttributeKind::object:
      return add_handle(attribute, records);
    case AttributeKind::output:
      return add_room(attribute.attr_id, attribute.len, records);
    case AttributeKind::new_object:
      return add_room(attribute.attr_id, kHandleRoom, records);
  }
  return EINVAL;
}

int collect_attributes(const ProgramMemory& memory, const IoctlMethod& method, const MethodRow& row,
                       Records& records) {
  for (size_t i = 0; i < method.header.num_attrs; ++i) {
    const ib_uverbs_attr& attribute = method.attributes[i];
    const AttributeRow* const known = row.find(attribute.attr_id);
    if (known == nullptr && (attribute.flags & UVERBS_ATTR_F_MANDATORY) != 0) return EPROTONOSUPPORT;
    if (known == nullptr) continue;
    if (const int error = add_attribute(memory, attribute, known->kind, records)) return error;
  }
  return 0;
}

// Puts an answer's data where the program wants them, and says that they are there.
bool give_attribute(const ProgramMemory& memory, IoctlMethod& method, const MethodRow& row,
                    const abi::UverbsAttribute& head, const unsigned char* data) {
  for (size_t i = 0; i < method.header.num_attrs; ++i) {
    ib_uverbs_attr& attribute = method.attributes[i];
    if (attribute.attr_id != head.id) continue;
    ib_uverbs_attr& own = method.own_attributes[i];
    const AttributeRow* const known = row.find(head.id);
    if (known->kind == AttributeKind::new_object)
      return head.length == sizeof own.data && memory.write(&own.data, data, head.length);
    if (known->kind != AttributeKind::output || head.length > attribute.len) return false;
    attribute.flags |= UVERBS_ATTR_F_VALID_OUTPUT;
    return memory.write(const_cast<void*>(pointer_to(attribute.data)), data, head.length) &&
           memory.write(&own.flags, &attribute.flags, sizeof own.flags);
  }
  return false;
}

int give_answer(const ProgramMemory& memory, IoctlMethod& method, const MethodRow& row,
                const Records& answer) {
  for (size_t at = 0; at < answer.length;) {
    abi::UverbsAttribute head;
    if (answer.length - at < sizeof head) return EIO;
    std::memcpy(&head, answer.bytes + at, sizeof head);
    at += sizeof head;
    if (answer.length - at < padded(head.length)) return EIO;
    if (!give_attribute(memory, method, row, head, answer.bytes + at)) return EFAULT;
    at += padded(head.length);
  }
  return 0;
}

}  // namespace

int pass_method(int device, const ProgramMemory& memory, IoctlMethod& method, const MethodRow& row) {
  Records request;
  if (const int error = collect_attributes(memory, method, row, request)) return error;
  Records answer;
  UverbsCommand command = {};
  command.number = abi::uverbs_method(row.object, row.method);
  command.is_apart = true;
  command.core = {request.bytes, request.length};
  command.core_answer = {answer.bytes, sizeof answer.bytes};
  command.answer_length = &answer.length;
  if (const int error = run_uverbs_command(device, memory, command)) return error;
  return give_answer(memory, method, row, answer);
}

}  // namespace urnic::kernel
