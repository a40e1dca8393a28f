// The staging arenas of an engine. Two are used in turn, or one again and again while what it holds leaves at
// once (data_path.cpp); the others hold payload that must stay in place: that of packets in the reorder
// buffer. An arena with such payload is put aside until all of it is released.
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
  // Two in turn, and ten that may be put aside; when ten are, held payload is copied instead. An arena's
  // memory is not touched before its first use.
  static constexpr std::uint32_t kArenas = 12;

  StagingArenas();
  StagingArenas(const StagingArenas&) = delete;
  StagingArenas& operator=(const StagingArenas&) = delete;

  // An empty arena: the one given back last, which is still cached.
  StagingArena& take();
  // The batch that used the arena is over. Kept payload stays in place.
  void give_back(StagingArena& arena);

  // Arenas in turn or put aside.
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
  // Arenas in turn with kept payload: an idle arena must replace each of them.
  std::uint32_t to_replace_ = 0;
};

}  // namespace urnic::engine
