// Reads /proc/self/maps, mapping by mapping.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "provider/freestanding/calls.hpp"

namespace urnic::provider {

struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  bool readable;
  bool writable;
  bool is_shared;
  bool is_private_memory;  // no file's, and not shared
  std::uint64_t offset;    // in the file
  std::uint64_t inode;     // 0: no file's
  char name[64];           // as much of it as fits
};

// Reads lines "begin-end rwxp offset device inode path" from `file`, which stays the caller's.
class MapReader {
 public:
  explicit MapReader(int file) : file_(file) {}

  // False at the end of the file, or after an error (then `error` is not 0).
  bool next(Mapping& mapping) {
    mapping.begin = hex();
    mapping.end = hex();
    mapping.readable = get() == 'r';
    mapping.writable = get() == 'w';
    get();
    mapping.is_shared = get() == 's';
    get();
    mapping.offset = hex();
    hex();  // device: two numbers with a colon between them
    hex();
    mapping.inode = decimal();
    mapping.is_private_memory = !mapping.is_shared && mapping.inode == 0;
    std::size_t length = 0;
    int c = last_;
    for (; c != '\n' && c >= 0; c = get()) {
      if ((c != ' ' || length != 0) && length < sizeof mapping.name - 1)
        mapping.name[length++] = static_cast<char>(c);
    }
    mapping.name[length] = '\0';
    return c >= 0;
  }

  // The codes behind "VmFlags" of /proc/self/smaps.
  struct Flags {
    static constexpr std::size_t kMost = 48;
    char names[kMost][2];
    std::size_t count;
  };
  // For /proc/self/smaps, in the place of `page_size`.
  void flags(Flags& flags) {
    flags.count = 0;
    while (peek() >= 'A' && peek() <= 'Z') {
      if (!is_named("VmFlags")) continue;
      while (last_ != '\n' && last_ >= 0) {
        const int first = get();
        if (first < 'a' || first > 'z') continue;
        const int second = get();
        if (flags.count < Flags::kMost) {
          flags.names[flags.count][0] = static_cast<char>(first);
          flags.names[flags.count++][1] = static_cast<char>(second);
        }
      }
    }
  }

  // For /proc/self/smaps, which has lines "Name: number kB" after each mapping's line: the size of the
  // mapping's pages in KiB; 0 if no line gives it. Call after each `next`.
  std::uint64_t page_size() {
    std::uint64_t size = 0;
    while (peek() >= 'A' && peek() <= 'Z') {
      const std::uint64_t number = detail("KernelPageSize");
      if (number != 0) size = number;
    }
    return size;
  }

  int error() const { return error_; }

 private:
  int peek() { return position_ == size_ && !refill() ? -1 : static_cast<unsigned char>(buffer_[position_]); }

  // Reads a line's name, and all of the line if it has another one.
  bool is_named(const char* name) {
    bool named = true;
    int c;
    while ((c = get()) != ':' && c != '\n' && c >= 0) {
      named = named && *name == c;
      if (named) ++name;
    }
    named = named && *name == '\0' && c == ':';
    while (!named && c != '\n' && c >= 0) c = get();
    return named;
  }

  // Reads a line. Its number if the line is called `name`, else 0.
  std::uint64_t detail(const char* name) {
    std::uint64_t number = 0;
    if (!is_named(name)) return number;
    for (int c = get(); c != '\n' && c >= 0; c = get()) {
      if (c >= '0' && c <= '9') number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return number;
  }

  int get() {
    if (position_ == size_ && !refill()) return last_ = -1;
    return last_ = static_cast<unsigned char>(buffer_[position_++]);
  }

  bool refill() {
    ssize_t got;
    while ((got = read_file(file_, buffer_, sizeof buffer_)) < 0 && errno == EINTR) {
    }
    if (got < 0) error_ = errno;
    position_ = 0;
    size_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return size_ != 0;
  }

  // Reads a hexadecimal number and the character behind it.
  std::uint64_t hex() {
    std::uint64_t value = 0;
    for (;;) {
      const int c = get();
      if (c >= '0' && c <= '9') {
        value = value * 16 + static_cast<std::uint64_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        value = value * 16 + static_cast<std::uint64_t>(c - 'a' + 10);
      } else {
        return value;
      }
    }
  }

  // Reads a decimal number and the character behind it.
  std::uint64_t decimal() {
    std::uint64_t value = 0;
    int c;
    while ((c = get()) >= '0' && c <= '9') value = value * 10 + static_cast<std::uint64_t>(c - '0');
    return value;
  }

  int file_;
  int error_ = 0;
  int last_ = 0;  // the last character that was read; -1: none was left
  char buffer_[4096];
  std::size_t position_ = 0;
  std::size_t size_ = 0;
};

}  // namespace urnic::provider
