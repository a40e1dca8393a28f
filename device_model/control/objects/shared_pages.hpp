// Pages of a program's private memory that became shared memory when a region was registered: a file in
// memory that the device process has made and the program has mapped in the place of its pages. They stay
// shared as long as a region needs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/control/fabric/quotas.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/descriptor_facts.hpp"
#include "device_model/memory/process_memory.hpp"

namespace urnic::control {

class SharedPages {
 public:
  // Whole pages at `address` in the program. Sealed: its size stays, so the device process never meets a page
  // that is missing. Null: no such file could be made, or `account` has no room for it.
  static std::shared_ptr<SharedPages> make(std::uint64_t address, std::uint64_t length, Account& account);

  std::uint64_t address() const { return address_; }
  std::uint64_t length() const { return length_; }
  std::uint64_t end() const { return address_ + length_; }
  int descriptor() const { return file_.get(); }
  const std::optional<memory::FileNumber>& number() const { return number_; }

  // The program's bytes [address, address + length), of which those in these pages are mapped; the others are
  // reached by `otherwise`, which outlives the result. Null: they cannot be mapped.
  std::unique_ptr<memory::ApplicationMemory> map(std::uint64_t address, std::uint64_t length,
                                                 memory::ApplicationMemory& otherwise) const;

 private:
  SharedPages(memory::Descriptor file, std::uint64_t address, std::uint64_t length, Account& account);

  const memory::Descriptor file_;
  const std::optional<memory::FileNumber> number_;
  const std::uint64_t address_;
  const std::uint64_t length_;
  const Charge bytes_charge_;
  const Charge descriptor_charge_;
};

// The name of the files, as memfd_create takes it: no program's own file is one of them.
inline constexpr const char* kSharedPagesName = "urnic-memory";

}  // namespace urnic::control
