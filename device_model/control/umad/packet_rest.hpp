// What of a long packet that a program writes does not go through a umad node's socket: a file in memory,
// which goes with it (abi/umad_messages.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace urnic::control {

// How long the program's file is; empty: it is no file in memory, and reading from it might take any time.
std::optional<std::size_t> rest_bytes(int file);

// Fills `part` from `offset` in the file, of which rest_bytes has told. False: the program has cut it off
// meanwhile. Nothing is mapped, so that does no harm.
bool read_rest(int file, std::span<std::byte> part, std::size_t offset);

}  // namespace urnic::control
