// Programs spin on words of a message (the host's placement rule: aligned 8-byte words are never torn). One
// process looks while the other transfers, by both ways through the kernel.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "device_model/memory/bytewise_copies.hpp"
#include "tests/unit/memory/child_process.hpp"

namespace urnic::memory::test {

namespace {

void fill_words(const Pages& pages, std::uint64_t value) {
  for (std::size_t at = 0; at < pages.all().size(); at += sizeof value)
    std::memcpy(pages.all().data() + at, &value, sizeof value);
}

// Words that one process writes while the other looks at them. They begin at offset `there` in a page of the
// child and at `here` in one of ours.
struct Words {
  std::size_t here, there;
};

// Distances at which processors may copy bytewise, and others.
constexpr Words kWords[] = {{64, 64}, {64, 72}, {72, 64},  {0, 8},    {0, 16},   {0, 24},  {0, 32},
                            {0, 40},  {40, 0},  {0, 4064}, {0, 4072}, {0, 4088}, {8, 4088}};
constexpr std::size_t kWatched = 64;
constexpr std::uint64_t kOld = 0, kNew = ~std::uint64_t{0}, kEnd = 1;
constexpr int kRounds = 10000;

bool is_torn(std::uint64_t word) { return word != kOld && word != kNew && word != kEnd; }

// The first word that must not be torn (memory/README.md, torn words), of a transfer to or from offset
// `there` of a page.
std::size_t first_written_whole(Way way, std::size_t there) {
  return way == Way::mem_file && there > 0 && there < kBytewiseDistance ? (kBytewiseDistance - there) / 8 : 0;
}
std::size_t first_read_whole(Way way, std::size_t there) {
  const std::size_t left = kPageBytes - there;
  return way == Way::mem_file && left < kBytewiseDistance ? left / 8 : 0;
}

std::atomic<std::uint64_t>* words_at(std::byte* place) {
  return reinterpret_cast<std::atomic<std::uint64_t>*>(place);
}

bool any_torn(const std::atomic<std::uint64_t>* words, std::size_t first) {
  return std::any_of(words + first, words + kWatched,
                     [](const auto& word) { return is_torn(word.load(std::memory_order_relaxed)); });
}

char watch(const std::atomic<std::uint64_t>* words, std::size_t first) {
  while (!any_torn(words, first)) {
    if (words[kWatched - 1].load(std::memory_order_relaxed) == kEnd) return 'y';
  }
  return 'n';
}

char change(std::atomic<std::uint64_t>* words) {
  for (bool old = false; words[kWatched].load(std::memory_order_relaxed) != kEnd; old = !old) {
    for (std::size_t i = 0; i < kWatched; ++i) words[i].store(old ? kOld : kNew, std::memory_order_relaxed);
  }
  return 'y';
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torn_words)

BOOST_AUTO_TEST_CASE(aligned_words_are_not_written_torn) {
  for (const Way way : kWays) {
    for (const Words& at : kWords) {
      Pages there(2), here(2);
      ChildProcess child([&] { fill_words(there, kOld); },
                         [&](char) {
                           return watch(words_at(there.page(0) + at.there),
                                        first_written_whole(way, at.there));
                         });
      auto memory = reach(child, way);
      Transfer batch[] = {{there.address(0, at.there), {here.page(0) + at.here, kWatched * 8}}};
      child.start('w');
      for (int i = 0; i < kRounds; ++i) {
        fill_words(here, i % 2 == 0 ? kNew : kOld);
        memory->write(batch);
      }
      fill_words(here, kEnd);
      memory->write(batch);
      BOOST_TEST(child.finish() == 'y', memory->way() << " from " << at.here << " to " << at.there);
    }
  }
}

// Read as the engine reads: to the same offset within 64 bytes (StagingArena::align_like).
BOOST_AUTO_TEST_CASE(aligned_words_are_not_read_torn) {
  for (const Way way : kWays) {
    for (const Words& at : kWords) {
      Pages there(2), here(2);
      ChildProcess child([&] { fill_words(there, kOld); },
                         [&](char) { return change(words_at(there.page(0) + at.there)); });
      auto memory = reach(child, way);
      std::byte* const place = here.page(0) + at.there % 64;
      Transfer batch[] = {{there.address(0, at.there), {place, kWatched * 8}}};
      child.start('c');
      int torn = 0;
      for (int i = 0; i < kRounds; ++i) {
        memory->read(batch);
        torn += any_torn(words_at(place), first_read_whole(way, at.there)) ? 1 : 0;
      }
      std::uint64_t end = kEnd;
      Transfer last[] = {
          {there.address(0, at.there + kWatched * 8), std::as_writable_bytes(std::span(&end, 1))}};
      memory->write(last);
      BOOST_TEST(child.finish() == 'y');
      BOOST_TEST(torn == 0, memory->way() << " from " << at.there);
    }
  }
}

// Transfers that are made from another place, or cut, to keep words whole: the same bytes arrive, and a
// transfer whose end cannot be reached fails as a whole.
BOOST_AUTO_TEST_CASE(long_transfers_at_any_distance_arrive_whole_or_fail) {
  constexpr std::size_t kLength = 40'000;
  constexpr std::size_t kPages = 11;
  for (const Way way : kWays) {
    for (const std::size_t distance : {0u, 1u, 8u, 15u, 16u, 40u, 63u, 64u, 4088u}) {
      Pages there(2 * kPages), here(2 * kPages);
      ChildProcess child([&] { munmap(there.page(kPages), kPages * Pages::kBytes); });
      auto memory = reach(child, way);
      const auto sent = here.all().first(kLength);
      const auto back = here.all().subspan(kPages * Pages::kBytes + distance % 64, kLength);
      for (std::size_t i = 0; i < kLength; ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 256);
      Transfer write[] = {{there.address(0, distance), sent}};
      Transfer read[] = {{there.address(0, distance), back}};
      memory->write(write);
      memory->read(read);
      BOOST_TEST((!write[0].failed && !read[0].failed));
      BOOST_TEST(std::equal(back.begin(), back.end(), sent.begin()), memory->way() << " at " << distance);
      std::byte one[1] = {std::byte{5}};
      Transfer beyond[] = {{there.address(kPages - 1, distance), sent}, {there.address(0), one}};
      memory->write(beyond);
      BOOST_TEST(beyond[0].failed);
      BOOST_TEST(!beyond[1].failed);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
