// A hostile program on devices with the face mlx5 (README.md). It never polls its completions by libmlx5,
// which would believe what they say. Ends with status 0 after --seconds, in the middle of its work.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>

#include "command_line/command_line.hpp"
#include "tests/security/mlx5_scribbler/lane.hpp"

namespace urnic::mlx5_scribbler {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> devices{"mlx5_0", "mlx5_1"};
  std::uint64_t seed = 1;
  double seconds = 1;
};

struct Counts {
  std::uint64_t posts = 0;
  std::uint64_t words = 0;
  std::uint64_t doorbells = 0;
  std::uint64_t new_lanes = 0;
};

constexpr std::size_t kLanes = 6;
constexpr std::size_t kFirstRegister = 0x800;  // of a page; before it are the CQ's
constexpr std::size_t kMostWords = 16;

template <class Word>
std::atomic_ref<Word> word(std::span<std::byte> memory, std::size_t index) {
  return std::atomic_ref(*reinterpret_cast<Word*>(memory.data() + index * sizeof(Word)));
}

class Scribbler {
 public:
  explicit Scribbler(const Options& options)
      : chance_(options.seed), first_(options.devices.at(0)), second_(options.devices.at(1)) {
    for (std::size_t i = 0; i < kLanes; ++i) lanes_.push_back(new_lane(static_cast<Service>(i % kServices)));
  }

  void act() {
    Lane& lane = *lanes_[chance_.below(kLanes)];
    const std::uint32_t side = chance_.below(2);
    End& end = *lane.ends[side];
    switch (chance_.below(12)) {
      case 0:
      case 1:
      case 2:
        return post(end, *lane.ends[1 - side]);
      case 3:
      case 4:
        return scribble(end.rings()[chance_.below(end.rings().size())]);
      case 5:
        return copy_entry(end.rings()[chance_.below(end.rings().size())]);
      case 6:
        return bend_request(end.rings()[1]);
      case 7:
      case 8:
        return bend_record(end.records()[chance_.below(end.records().size())]);
      case 9:
      case 10:
        return ring(end);
      default:
        return change(lane, end);
    }
  }

  const Counts& counts() const { return counts_; }

 private:
  std::unique_ptr<Lane> new_lane(Service service) {
    ++counts_.new_lanes;
    auto lane = std::make_unique<Lane>(first_, second_, service);
    // Into an SRQ only now: later, libmlx5 would follow links that are nonsense.
    for (const auto& end : lane->ends) end->post_receives(chance_);
    return lane;
  }

  void post(End& end, End& peer) {
    if (end.service() != Service::reliable_with_srq) end.post_receives(chance_);
    for (std::uint32_t left = chance_.from(1, 8); left != 0; --left) end.post(chance_, peer);
    ++counts_.posts;
  }

  // Words that nobody ever writes there, or that are nearly right.
  void scribble(const Ring& ring) {
    const std::size_t words = ring.entries.size() / sizeof(std::uint64_t);
    const std::size_t begin = chance_.below(words);
    const std::size_t end = std::min(words, begin + chance_.from(1, kMostWords));
    const std::uint32_t way = chance_.below(5);
    for (std::size_t i = begin; i < end; ++i) {
      auto place = word<std::uint64_t>(ring.entries, i);
      if (way == 0) place = chance_.number();
      if (way == 1) place ^= std::uint64_t{1} << chance_.below(64);
      if (way == 2) place = 0;
      if (way == 3) place = ~std::uint64_t{0};
      if (way == 4) place += chance_.below(64);
    }
    counts_.words += end - begin;
  }

  // A request or a completion where another one was, as a program's own error would leave it.
  void copy_entry(const Ring& ring) {
    const std::size_t entries = ring.entries.size() / ring.stride;
    const std::size_t from = chance_.below(entries) * ring.stride;
    const std::size_t to = chance_.below(entries) * ring.stride;
    std::memmove(ring.entries.data() + to, ring.entries.data() + from, ring.stride);
    counts_.words += ring.stride / sizeof(std::uint64_t);
  }

  // The first words of a send request: its opcode, its place, its queue pair and its length; or the words of
  // a segment.
  void bend_request(const Ring& sends) {
    const std::size_t at = chance_.below(sends.entries.size() / sends.stride) * sends.stride;
    auto place = word<std::uint32_t>(sends.entries, at / 4 + chance_.below(chance_.once_in(2) ? 2 : 16));
    const std::uint32_t byte = 8 * chance_.below(4);
    place = (place & ~(0xFFu << byte)) | chance_.below(256) << byte;
    ++counts_.words;
  }

  // Both words are big endian. One that runs a little ahead is the worst: the device then reads what is
  // there.
  void bend_record(std::span<std::byte> record) {
    auto place = word<std::uint32_t>(record, chance_.below(2));
    const std::uint32_t now = __builtin_bswap32(place);
    std::uint32_t next = chance_.word();
    if (!chance_.once_in(4)) next = now + chance_.below(32);
    if (chance_.once_in(8)) next = now - chance_.below(32);
    place = __builtin_bswap32(next);
    ++counts_.words;
  }

  void ring(End& end) {
    const bool arms = chance_.once_in(4);
    const std::size_t words = (arms ? kFirstRegister : end.registers().size() - kFirstRegister) / 8;
    const std::size_t at = chance_.below(words) + (arms ? 0 : kFirstRegister / 8);
    word<std::uint64_t>(end.registers(), at) = chance_.once_in(2) ? 1 : chance_.number();
    ++counts_.doorbells;
  }

  void change(Lane& lane, End& end) {
    if (chance_.once_in(4) && end.service() != Service::reliable_with_srq) {
      auto place =
          std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& each) { return each.get() == &lane; });
      const Service service = end.service();
      place->reset();
      *place = new_lane(service);
    } else if (chance_.once_in(4)) {
      end.to_state(IBV_QPS_ERR);
    } else {
      usleep(chance_.below(500));
    }
  }

  Chance chance_;
  apps::Device first_;
  apps::Device second_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Counts counts_;
};

[[noreturn]] void run(const Options& options) {
  Scribbler scribbler(options);
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  while (Clock::now() < end) scribbler.act();
  const Counts& counts = scribbler.counts();
  fmt::print("{{\"posts\": {}, \"words\": {}, \"doorbells\": {}, \"lanes\": {}}}\n", counts.posts,
             counts.words, counts.doorbells, counts.new_lanes);
  std::fflush(stdout);
  // Its queues are for the device to end.
  _exit(0);
}

}  // namespace
}  // namespace urnic::mlx5_scribbler

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app("A hostile program on devices with the face mlx5", "mlx5_scribbler");
  urnic::mlx5_scribbler::Options options;
  app.add_option("--devices", options.devices, "both ends are on").expected(2, 2).show_default();
  app.add_option("--seed", options.seed, "of its decisions").show_default();
  app.add_option("--seconds", options.seconds, "after which it ends").show_default();
  app.footer("Example: urnic run --face mlx5 -- mlx5_scribbler --seconds 5");
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    urnic::mlx5_scribbler::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "mlx5_scribbler: {}\n", error.what());
    return 1;
  }
}
