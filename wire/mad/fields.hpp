// Reads and writes structs by tables of fields, so that a field's place is written down once for both
// directions. For the codecs of this folder only.
//
// A table is a function `visit_fields(visitor, message)` that calls `visitor(place, member)` for each field,
// or `visitor.part(place, member, shift)` for a piece of a member that is split. FieldReader and FieldWriter
// are the two visitors; SumOfFields checks a table while it is compiled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "wire/identifiers.hpp"
#include "wire/psn.hpp"

namespace urnic::wire::mad {

// A field's place: bits count from the most significant bit of the table's first byte.
struct Place {
  std::size_t first_bit;
  std::size_t width;
};

// `width` bits from byte `byte`, bit `bit` on; bit 0 is the byte's most significant one.
constexpr Place bits(std::size_t byte, std::size_t bit, std::size_t width) { return {byte * 8 + bit, width}; }
// `width` bits from the beginning of byte `byte` on.
constexpr Place bits(std::size_t byte, std::size_t width) { return bits(byte, 0, width); }
// The same place in a structure that begins at byte `base`.
constexpr Place operator+(Place place, std::size_t base) { return {place.first_bit + base * 8, place.width}; }

// A member as a number: integers, enumerations and the structs that have a `value`.
template <class Member>
constexpr std::uint64_t number(const Member& member) {
  if constexpr (std::is_same_v<Member, Psn>) {
    return member.value();
  } else if constexpr (std::is_class_v<Member>) {
    return member.value;
  } else {
    return static_cast<std::uint64_t>(member);
  }
}

template <class Member>
constexpr void set_number(Member& member, std::uint64_t value) {
  if constexpr (std::is_same_v<Member, Psn>) {
    member = Psn{static_cast<std::uint32_t>(value)};
  } else if constexpr (std::is_class_v<Member>) {
    member.value = static_cast<decltype(member.value)>(value);
  } else {
    member = static_cast<Member>(value);
  }
}

// Bytes of a MAD, in host memory as on the wire.
template <class Member>
inline constexpr bool kIsBytes = false;
template <std::size_t kSize>
inline constexpr bool kIsBytes<std::array<std::byte, kSize>> = true;

// One byte's share of a field.
struct Share {
  std::size_t byte;
  unsigned shift;  // how far the share's bits are from the byte's least significant bit
  unsigned mask;   // of the share, before it is shifted
  std::size_t width;
};

// The share of `place` that begins `done` bits behind its beginning.
constexpr Share share(Place place, std::size_t done) {
  const std::size_t bit = (place.first_bit + done) % 8;
  const std::size_t width = std::min(8 - bit, place.width - done);
  return {.byte = (place.first_bit + done) / 8,
          .shift = static_cast<unsigned>(8 - bit - width),
          .mask = (1U << width) - 1,
          .width = width};
}

// Fills members from bytes. The table must not reach behind `from`: see is_sound.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> from) : from_(from) {}

  template <class Member>
  void operator()(Place place, Member& member) const {
    if constexpr (std::is_same_v<Member, Gid>) {
      std::memcpy(member.bytes.data(), &from_[place.first_bit / 8], member.bytes.size());
    } else if constexpr (kIsBytes<Member>) {
      std::memcpy(member.data(), &from_[place.first_bit / 8], member.size());
    } else {
      set_number(member, read(place));
    }
  }

  // The field is `member`'s bits from `shift` on.
  template <class Member>
  void part(Place place, Member& member, unsigned shift) const {
    const std::uint64_t mask = ((std::uint64_t{1} << place.width) - 1) << shift;
    set_number(member, (number(member) & ~mask) | read(place) << shift);
  }

 private:
  std::uint64_t read(Place place) const {
    std::uint64_t value = 0;
    for (std::size_t done = 0; done < place.width;) {
      const Share piece = share(place, done);
      const unsigned bits_here = std::to_integer<unsigned>(from_[piece.byte]) >> piece.shift & piece.mask;
      value = value << piece.width | bits_here;
      done += piece.width;
    }
    return value;
  }

  std::span<const std::byte> from_;
};

// Writes members to bytes and leaves all bits without a field alone. The table must not reach behind `to`.
class FieldWriter {
 public:
  explicit FieldWriter(std::span<std::byte> to) : to_(to) {}

  template <class Member>
  void operator()(Place place, const Member& member) const {
    if constexpr (std::is_same_v<Member, Gid>) {
      std::memcpy(&to_[place.first_bit / 8], member.bytes.data(), member.bytes.size());
    } else if constexpr (kIsBytes<Member>) {
      std::memcpy(&to_[place.first_bit / 8], member.data(), member.size());
    } else {
      write(place, number(member));
    }
  }

  template <class Member>
  void part(Place place, const Member& member, unsigned shift) const {
    write(place, number(member) >> shift);
  }

 private:
  // The low bits of `value`, as many as the place has.
  void write(Place place, std::uint64_t value) const {
    for (std::size_t done = 0; done < place.width;) {
      const Share piece = share(place, done);
      done += piece.width;
      const auto bits_here = static_cast<unsigned>(value >> (place.width - done)) & piece.mask;
      const unsigned others = std::to_integer<unsigned>(to_[piece.byte]) & ~(piece.mask << piece.shift);
      to_[piece.byte] = static_cast<std::byte>(others | bits_here << piece.shift);
    }
  }

  std::span<std::byte> to_;
};

// Whether each bit of the first kBytes bytes has at most one field, none lies behind them, and whole members
// are as wide as their places: for static_assert.
template <std::size_t kBytes>
class SumOfFields {
 public:
  template <class Member>
  constexpr void operator()(Place place, const Member&) {
    using Plain = std::remove_const_t<Member>;
    if constexpr (std::is_same_v<Plain, Gid> || kIsBytes<Plain>) {
      sound_ = sound_ && place.first_bit % 8 == 0 && place.width == sizeof(Plain) * 8;
    } else {
      sound_ = sound_ && place.width <= sizeof(Plain) * 8;
    }
    take(place);
  }
  template <class Member>
  constexpr void part(Place place, const Member&, unsigned shift) {
    sound_ = sound_ && place.width + shift <= sizeof(Member) * 8 && place.width < 64;
    take(place);
  }
  constexpr bool is_sound() const { return sound_; }

 private:
  constexpr void take(Place place) {
    for (std::size_t bit = place.first_bit; bit < place.first_bit + place.width; ++bit) {
      if (bit >= taken_.size() || taken_[bit]) {
        sound_ = false;
        return;
      }
      taken_[bit] = true;
    }
  }

  std::array<bool, kBytes * 8> taken_{};
  bool sound_ = true;
};

// Whether the table of `Message` keeps to its first kBytes bytes.
template <class Message, std::size_t kBytes>
constexpr bool is_sound() {
  SumOfFields<kBytes> sum;
  const Message message{};
  visit_fields(sum, message);
  return sum.is_sound();
}

// `Message` or const Message: what a table takes, for reading or for writing.
template <class Candidate, class Message>
concept Either = std::is_same_v<std::remove_const_t<Candidate>, Message>;

}  // namespace urnic::wire::mad
