// The secret by which a server knows its person.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace urnic::trust {

// 128 random bits of the kernel, in hexadecimal digits. Throws std::system_error.
std::string new_token();

// The token in `file`, which is one line; makes the file, for this user only, if there is none. So a token
// outlives the server, for a program that asks again and again. Throws std::runtime_error if the file cannot
// be used: it belongs to somebody else, others may read it, or it does not hold 16 to 128 printable
// characters.
std::string token_in(const std::filesystem::path& file);

// Takes the same time for every `given` of one length.
bool same_token(std::string_view given, std::string_view token);

}  // namespace urnic::trust
