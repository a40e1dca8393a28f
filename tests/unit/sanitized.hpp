// Whether this program is compiled with AddressSanitizer: it is slower by ten times, and has an allocator of
// its own.
#pragma once

namespace urnic {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace urnic
