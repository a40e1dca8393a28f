// Opcodes by the names that Wireshark shows, as plans give them.
#pragma once

#include <bitset>
#include <string>
#include <string_view>

namespace urnic::fault {

// "RC Send First" is one opcode; without the service, "Send First", it is that operation of every service.
// Case does not matter, and '_' is a space. No bit is set if there is no such name.
std::bitset<256> opcodes_named(std::string_view name);

// The operations' names, for errors.
std::string operation_names();

}  // namespace urnic::fault
