// The exec family. posix_spawn needs no entry point: its child has a process number of its own.
#include <alloca.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/exec_notice.hpp"
#include "provider/kernel/real.hpp"

namespace urnic::kernel {

namespace {

// Announces the exec and calls it. Returns only if the exec fails.
template <typename Exec>
int announced(Exec exec) {
  announce_exec();
  const int result = exec();
  take_back_exec();
  return result;
}

// The number of arguments from `first` on, including the null pointer at the end.
size_t count(const char* first, va_list arguments) {
  size_t number = 1;
  va_list rest;
  va_copy(rest, arguments);
  for (const char* each = first; each != nullptr; each = va_arg(rest, const char*)) ++number;
  va_end(rest);
  return number;
}

void collect(const char* first, va_list& arguments, char** into) {
  for (const char* each = first; each != nullptr; each = va_arg(arguments, const char*)) {
    *into++ = const_cast<char*>(each);
  }
  *into = nullptr;
}

}  // namespace

extern "C" {

int entry_execve(const char* path, char* const* arguments, char* const* environment)
    URNIC_ENTRY_POINT("execve");
int entry_execve(const char* path, char* const* arguments, char* const* environment) {
  return announced([&] { return real::execve(path, arguments, environment); });
}

int entry_execv(const char* path, char* const* arguments) URNIC_ENTRY_POINT("execv");
int entry_execv(const char* path, char* const* arguments) {
  return announced([&] { return real::execve(path, arguments, environ); });
}

int entry_execvp(const char* file, char* const* arguments) URNIC_ENTRY_POINT("execvp");
int entry_execvp(const char* file, char* const* arguments) {
  return announced([&] { return real::execvpe(file, arguments, environ); });
}

int entry_execvpe(const char* file, char* const* arguments, char* const* environment)
    URNIC_ENTRY_POINT("execvpe");
int entry_execvpe(const char* file, char* const* arguments, char* const* environment) {
  return announced([&] { return real::execvpe(file, arguments, environment); });
}

int entry_fexecve(int descriptor, char* const* arguments, char* const* environment)
    URNIC_ENTRY_POINT("fexecve");
int entry_fexecve(int descriptor, char* const* arguments, char* const* environment) {
  return announced([&] { return real::fexecve(descriptor, arguments, environment); });
}

int entry_execveat(int directory, const char* path, char* const* arguments, char* const* environment,
                   int flags) URNIC_ENTRY_POINT("execveat");
int entry_execveat(int directory, const char* path, char* const* arguments, char* const* environment,
                   int flags) {
  return announced([&] { return real::execveat(directory, path, arguments, environment, flags); });
}

int entry_execl(const char* path, const char* first, ...) URNIC_ENTRY_POINT("execl");
int entry_execl(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  auto** const arguments = static_cast<char**>(alloca(count(first, rest) * sizeof(char*)));
  collect(first, rest, arguments);
  va_end(rest);
  return announced([&] { return real::execve(path, arguments, environ); });
}

int entry_execlp(const char* file, const char* first, ...) URNIC_ENTRY_POINT("execlp");
int entry_execlp(const char* file, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  auto** const arguments = static_cast<char**>(alloca(count(first, rest) * sizeof(char*)));
  collect(first, rest, arguments);
  va_end(rest);
  return announced([&] { return real::execvpe(file, arguments, environ); });
}

int entry_execle(const char* path, const char* first, ...) URNIC_ENTRY_POINT("execle");
int entry_execle(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  auto** const arguments = static_cast<char**>(alloca(count(first, rest) * sizeof(char*)));
  collect(first, rest, arguments);
  char* const* const environment = va_arg(rest, char* const*);  // behind the null pointer
  va_end(rest);
  return announced([&] { return real::execve(path, arguments, environment); });
}

}  // extern "C"

}  // namespace urnic::kernel
