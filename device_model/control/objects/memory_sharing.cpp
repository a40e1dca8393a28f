#include "device_model/control/objects/memory_sharing.hpp"

#include <algorithm>
#include <utility>

#include "device_model/memory/page_size.hpp"

namespace urnic::control {
namespace {

// The program waits for the exchange, and there is the range twice meanwhile.
constexpr std::uint64_t kMostExchanged = 64 << 20;

}  // namespace

MemorySharing::Registered::Registered(MemorySharing& sharing, std::uint64_t address, std::uint64_t length)
    : sharing_(&sharing),
      place_(sharing.registered_.insert(sharing.registered_.end(), {address, address + length})) {}

MemorySharing::Registered::Registered(Registered&& other) noexcept
    : sharing_(std::exchange(other.sharing_, nullptr)), place_(other.place_) {}

MemorySharing::Registered& MemorySharing::Registered::operator=(Registered&& other) noexcept {
  std::swap(sharing_, other.sharing_);
  std::swap(place_, other.place_);
  return *this;
}

MemorySharing::Registered::~Registered() {
  if (sharing_ != nullptr) sharing_->registered_.erase(place_);
}

// Ends are compared less one, because the last one may be 2^64.
bool MemorySharing::reaches(const Range& range) const {
  return std::any_of(registered_.begin(), registered_.end(), [&](const Range& each) {
    return each.begin <= range.end - 1 && range.begin <= each.end - 1;
  });
}

std::optional<MemorySharing::Range> MemorySharing::exchangeable(std::uint64_t address,
                                                                std::uint64_t length) const {
  const std::uint64_t page = memory::page_bytes();
  const Range whole{(address + page - 1) / page * page, (address + length) / page * page};
  if (whole.begin >= whole.end || whole.end - whole.begin > kMostExchanged) return {};
  return reaches(whole) ? std::nullopt : std::optional(whole);
}

std::shared_ptr<SharedPages> MemorySharing::make_pages(const Range& range, Account& account) {
  auto made = SharedPages::make(range.begin, range.end - range.begin, account);
  if (made == nullptr) return nullptr;
  std::erase_if(pages_, [](const std::weak_ptr<SharedPages>& each) { return each.expired(); });
  pages_.push_back(made);
  return made;
}

std::shared_ptr<SharedPages> MemorySharing::find_pages(const AddressMap::FilePlace& place) {
  if (place.is_segment()) return nullptr;  // its identifier may be some file's inode number
  for (const std::weak_ptr<SharedPages>& each : pages_) {
    auto pages = each.lock();
    if (pages != nullptr && pages->number() == place.file) return pages;
  }
  return nullptr;
}

}  // namespace urnic::control
