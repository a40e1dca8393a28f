// Which of a process's memory is registered, and which of that is shared with the device process.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/control/objects/address_map.hpp"
#include "device_model/control/objects/shared_pages.hpp"
#include "device_model/control/objects/sharing_rule.hpp"

namespace urnic::control {

// Control thread only.
class MemorySharing {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // 0: that of the address space
  };

  MemorySharing() : rule_(SharingRule::Clock::now()) {}
  MemorySharing(const MemorySharing&) = delete;
  MemorySharing& operator=(const MemorySharing&) = delete;

  // A region of this memory, for as long as the result lives, which this outlives.
  class Registered {
   public:
    Registered() = default;
    Registered(MemorySharing& sharing, std::uint64_t address, std::uint64_t length);
    Registered(Registered&& other) noexcept;
    Registered& operator=(Registered&& other) noexcept;
    ~Registered();

   private:
    MemorySharing* sharing_ = nullptr;
    std::list<Range>::iterator place_;
  };

  // The whole pages of private memory, if they can be exchanged: the device process reaches none of them for
  // a region that is registered, which an exchange would disturb. Empty: there are none, or too many.
  std::optional<Range> exchangeable(std::uint64_t address, std::uint64_t length) const;
  // New pages for that range to become; null as from SharedPages::make.
  std::shared_ptr<SharedPages> make_pages(const Range& range, Account& account);
  // Those that are there already; null if there are none.
  std::shared_ptr<SharedPages> find_pages(const AddressMap::FilePlace& place);

  SharingRule& rule() { return rule_; }

 private:
  bool reaches(const Range& range) const;

  std::list<Range> registered_;
  std::vector<std::weak_ptr<SharedPages>> pages_;
  SharingRule rule_;
};

}  // namespace urnic::control
