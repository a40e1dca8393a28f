#include "device_model/engine/batch/staging_arenas.hpp"

namespace urnic::engine {

StagingArenas::StagingArenas() : bytes_(new std::byte[kArenas * StagingArena::kBytes]) {
  for (std::uint32_t i = kArenas; i-- > 0;) {
    arenas_[i].arena = StagingArena(bytes_.get() + i * StagingArena::kBytes);
    idle_[idle_count_++] = i;
  }
}

// An idle arena always exists: `keep` makes sure.
StagingArena& StagingArenas::take() { return arenas_[idle_[--idle_count_]].arena; }

void StagingArenas::give_back(StagingArena& arena) {
  const auto index = static_cast<std::uint32_t>(arena.bytes() - bytes_.get()) / StagingArena::kBytes;
  if (arenas_[index].kept == 0) return make_idle(static_cast<std::uint32_t>(index));
  arenas_[index].aside = true;
  --to_replace_;
}

void StagingArenas::make_idle(std::uint32_t index) {
  arenas_[index].aside = false;
  arenas_[index].arena.clear();
  idle_[idle_count_++] = index;
}

std::optional<transport::PayloadKeeper::Place> StagingArenas::keep(std::span<const std::byte> payload) {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(payload.data()) - reinterpret_cast<std::uintptr_t>(bytes_.get());
  if (payload.empty() || offset >= kArenas * StagingArena::kBytes) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(offset / StagingArena::kBytes);
  Arena& home = arenas_[index];
  if (home.kept == 0) {
    if (idle_count_ <= to_replace_) return std::nullopt;
    ++to_replace_;
  }
  ++home.kept;
  return index;
}

void StagingArenas::release(Place place) {
  Arena& home = arenas_[place];
  if (--home.kept != 0) return;
  if (home.aside) {
    make_idle(place);
  } else {
    --to_replace_;
  }
}

}  // namespace urnic::engine
