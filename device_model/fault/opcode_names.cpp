#include "device_model/fault/opcode_names.hpp"

#include "wire/opcode.hpp"

namespace urnic::fault {
namespace {

std::string plain(std::string_view name) {
  std::string text(name);
  for (char& letter : text) {
    if (letter == '_') letter = ' ';
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

std::string without_service(const std::string& name) {
  const std::size_t space = name.find(' ');
  return space == std::string::npos ? name : name.substr(space + 1);
}

}  // namespace

std::bitset<256> opcodes_named(std::string_view name) {
  const std::string wanted = plain(name);
  std::bitset<256> opcodes;
  for (std::size_t value = 0; value < opcodes.size(); ++value) {
    const wire::Opcode opcode(static_cast<std::uint8_t>(value));
    if (!wire::traits(opcode).known) continue;
    const std::string full = plain(wire::name(opcode));
    opcodes[value] = wanted == full || wanted == without_service(full);
  }
  return opcodes;
}

std::string operation_names() {
  std::string names;
  for (unsigned value = 0; value < 32; ++value) {  // RC has the operations of all services
    const wire::Opcode opcode(static_cast<std::uint8_t>(value));
    if (!wire::traits(opcode).known) continue;
    names += '"' + without_service(wire::name(opcode)) + "\", ";
  }
  return names + '"' + std::string(wire::name(wire::kCongestionNotification)) + '"';
}

}  // namespace urnic::fault
