// The staging arenas of an engine. Two are in use by turns; the others are there for payload that has to stay
// where it is: of packets that wait behind a hole. An arena with such payload is put aside until nobody needs
// it any more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "device_model/engine/batch/staging_arena.hpp"
#include "device_model/transport/payload_keeper.hpp"

namespace urnic::engine {

class StagingArenas final : public transport::PayloadKeeper {
 public:
  // Two in turn, and ten that may be put aside; when they are, nothing more is kept, and who waits is copied.
  // Memory is touched when an arena is used for the first time.
  static constexpr std::uint32_t kArenas = 12;

  StagingArenas();
  StagingArenas(const StagingArenas&) = delete;
  StagingArenas& operator=(const StagingArenas&) = delete;

  // An empty arena; the one that was given back last, which is still in the cache.
  StagingArena& take();
  // The batch that used the arena is over. What is kept in it stays.
  void give_back(StagingArena& arena);

  // In turn, or put aside.
  std::uint32_t in_use() const { return kArenas - idle_count_; }

  std::optional<Place> keep(std::span<const std::byte> payload) override;
  void release(Place place) override;

 private:
  struct Arena {
    StagingArena arena;
    std::uint32_t kept = 0;  // payloads
    bool aside = false;      // its batch is over
  };

  void make_idle(std::uint32_t index);

  std::unique_ptr<std::byte[]> bytes_;
  std::array<Arena, kArenas> arenas_;
  // Indices of idle arenas, the one to use next at the end.
  std::array<std::uint32_t, kArenas> idle_{};
  std::uint32_t idle_count_ = 0;
  // Arenas in turn with something kept: each will need an idle one in its stead.
  std::uint32_t to_replace_ = 0;
};

}  // namespace urnic::engine
