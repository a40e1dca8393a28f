#include "device_model/link/random_impairments.hpp"

namespace urnic::link {

namespace {

// Each question about a packet has its own hash: changing one setting leaves the other answers as they were.
enum class Question : std::uint64_t { loss = 1, duplicate, reorder, corrupt, corruption, jitter, marking };

std::uint64_t draw(std::uint64_t packet, Question question) {
  return mix(packet + static_cast<std::uint64_t>(question) * 0xD1B54A32D192ED03u);
}

// Most chances are impossible: a call would cost more than the answer.
[[gnu::always_inline]] inline bool happens(const Chance& chance, std::uint64_t packet, Question question) {
  return chance.possible() && chance.happens(draw(packet, question));
}

// Maps 64 random bits evenly to 0 … `highest`.
std::uint64_t spread(std::uint64_t bits, std::uint64_t highest) {
  const auto above = static_cast<unsigned __int128>(highest) + 1;
  return static_cast<std::uint64_t>((bits * above) >> 64);
}

}  // namespace

RandomImpairments::RandomImpairments(const LinkSettings& settings, std::uint32_t device, Direction direction)
    : key_(mix(mix(settings.seed, device), static_cast<std::uint64_t>(direction))),
      sender_key_(mix(mix(key_, sender_))),
      loss_(settings.loss),
      duplicate_(settings.duplicate),
      reorder_(settings.reorder),
      corrupt_(settings.corrupt),
      jitter_(static_cast<std::uint64_t>(settings.jitter.count())) {}

std::uint64_t RandomImpairments::key_of(const PacketIdentity& packet) {
  const std::uint64_t sender = std::uint64_t{packet.device} << 32 | packet.queue_pair;
  if (sender != sender_) {
    sender_ = sender;
    sender_key_ = mix(mix(key_, sender));
  }
  return mix(sender_key_ ^ packet.count);  // mix(mix(key_, sender), packet.count)
}

bool RandomImpairments::loses(const PacketIdentity& packet) {
  return loss_.possible() && happens(loss_, key_of(packet), Question::loss);
}

std::uint64_t RandomImpairments::marking(const PacketIdentity& packet) {
  return draw(key_of(packet), Question::marking);
}

PacketImpairments RandomImpairments::of(const PacketIdentity& packet) {
  const std::uint64_t key = key_of(packet);
  PacketImpairments random;
  random.lost = happens(loss_, key, Question::loss);
  random.duplicated = happens(duplicate_, key, Question::duplicate);
  random.reordered = happens(reorder_, key, Question::reorder);
  random.corrupted = happens(corrupt_, key, Question::corrupt);
  if (random.corrupted) random.corruption = draw(key, Question::corruption);
  if (jitter_ != 0)
    random.jitter =
        transport::Nanoseconds(static_cast<std::int64_t>(spread(draw(key, Question::jitter), jitter_)));
  return random;
}

}  // namespace urnic::link
