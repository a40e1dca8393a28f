// What a verb does to errno. On Linux each verb that fails has made an ioctl that failed, which set errno;
// programs call perror. And librdmacm calls verbs on its way out of an error and reports the errno that it
// finds then, so a verb that succeeds must leave it.
#pragma once

#include <cerrno>
#include <type_traits>

#include "provider/kept_errno.hpp"

namespace urnic::provider {

// The result of a verb that has left errno as it was: sets it to `error`, unless that is 0.
inline int with_errno(int error) {
  if (error != 0) errno = error;
  return error;
}

// `Verb`, whose result is 0 or an errno, or a pointer, which is null after it has set errno, with the rule
// above.
template <auto Verb>
struct Ruled;
template <typename Result, typename... Arguments, Result (*Verb)(Arguments...)>
struct Ruled<Verb> {
  static Result call(Arguments... arguments) {
    const int before = errno;
    if constexpr (std::is_void_v<Result>) {
      Verb(arguments...);
      errno = before;
    } else {
      const Result result = Verb(arguments...);
      if constexpr (std::is_pointer_v<Result>) {
        if (result != nullptr) errno = before;
      } else {
        errno = result == 0 ? before : result;
      }
      return result;
    }
  }
};

template <auto Verb>
inline constexpr auto ruled = &Ruled<Verb>::call;

}  // namespace urnic::provider
