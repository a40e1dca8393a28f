// How memory accesses are joined, ordered and cut, seen by a memory that keeps a record of every call.
#include "device_model/engine/batch/memory_batch.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace urnic::engine::test {

namespace memory_batch {

// Calls are kept as text: "R 100+8 200+4" is one read call of two transfers.
class RecordingMemory final : public memory::ApplicationMemory {
 public:
  void read(std::span<memory::Transfer> batch) override { record("R", batch); }
  void write(std::span<memory::Transfer> batch) override {
    record("W", batch);
    for (memory::Transfer& transfer : batch) transfer.failed |= read_only.contains(transfer.address);
  }
  const char* way() const override { return "recording"; }

  std::vector<std::string> calls;
  std::set<std::uint64_t> unmapped;   // any transfer that touches one of these fails
  std::set<std::uint64_t> read_only;  // writes that begin at one of these fail

 private:
  void record(const char* kind, std::span<memory::Transfer> batch) {
    std::string call = kind;
    for (memory::Transfer& transfer : batch) {
      call += " " + std::to_string(transfer.address) + "+" + std::to_string(transfer.local.size());
      const auto hit = unmapped.lower_bound(transfer.address);
      transfer.failed = hit != unmapped.end() && *hit < transfer.address + transfer.local.size();
    }
    calls.push_back(call);
  }
};

struct Bench {
  RecordingMemory memory;
  ActionList list;
  MemoryBatch batch;
  std::vector<ActionStream*> failed;
  ActionStream stream;
  ActionStream other;
  std::byte local[65536]{};
  std::vector<std::uint64_t> originals = std::vector<std::uint64_t>(1024, 99);

  // Fetch-and-adds of 1; the memory reads as zeros.
  void add_atomics(std::uint32_t count, std::uint64_t address, ActionStream* from = nullptr) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto operands = static_cast<std::uint32_t>(list.atomics.size());
      list.atomics.push_back({transport::AtomicKind::fetch_add, 1, 0, &originals[operands]});
      add(AccessKind::atomic, address, 8, 0, false, from);
      list.memory.back().operands = operands;
    }
  }

  void add(AccessKind kind, std::uint64_t address, std::uint32_t length, std::size_t at, bool end = false,
           ActionStream* from = nullptr, memory::ApplicationMemory* where = nullptr) {
    MemoryAction action;
    action.kind = kind;
    action.message_end = end;
    action.length = length;
    action.memory = where != nullptr ? where : &memory;
    action.address = address;
    action.local = local + at;
    action.stream = from != nullptr ? from : &stream;
    action.tag.action = static_cast<std::uint32_t>(list.memory.size());
    list.memory.push_back(action);
  }
  void read(std::uint64_t address, std::uint32_t length, std::size_t at, ActionStream* from = nullptr) {
    add(AccessKind::read, address, length, at, false, from);
  }
  void write(std::uint64_t address, std::uint32_t length, std::size_t at, bool end = false,
             ActionStream* from = nullptr) {
    add(AccessKind::write, address, length, at, end, from);
  }
  void check(std::vector<std::string> expected) {
    batch.run(list, failed);
    BOOST_TEST(memory.calls == expected, boost::test_tools::per_element());
  }
};

}  // namespace memory_batch

BOOST_FIXTURE_TEST_SUITE(memory_batch, Bench)

BOOST_AUTO_TEST_CASE(packets_of_a_message_are_one_transfer) {
  for (std::uint32_t i = 0; i < 16; ++i) read(4096 + 1024 * i, 1024, 1024 * i);
  check({"R 4096+16384"});
}

BOOST_AUTO_TEST_CASE(joins_only_what_continues_on_both_sides) {
  read(4096, 1024, 0);
  read(5120, 1024, 2048);  // not here
  read(8192, 1024, 3072);  // not there
  check({"R 4096+1024 5120+1024 8192+1024"});
}

BOOST_AUTO_TEST_CASE(last_word_of_a_message_comes_behind_the_rest) {
  write(4096, 1024, 0);
  write(5120, 1024, 1024, true);
  check({"W 4096+2040 6136+8"});
}

BOOST_AUTO_TEST_CASE(last_word_is_an_aligned_one_also_of_an_odd_message) {
  write(4096, 1003, 0, true);  // ends at 5099, in the word at 5096
  check({"W 4096+1000 5096+3"});
}

BOOST_AUTO_TEST_CASE(a_message_within_one_word_is_one_piece) {
  write(4099, 4, 0, true);
  write(4104, 8, 16, true);
  check({"W 4099+4 4104+8"});
}

BOOST_AUTO_TEST_CASE(words_are_never_torn_by_a_misaligned_beginning) {
  write(4093, 100, 0);
  write(4193, 95, 100, true);  // ends at 4288
  check({"W 4093+3 4096+184 4280+8"});
}

BOOST_AUTO_TEST_CASE(a_later_message_may_join_behind_the_last_word_of_the_one_before) {
  write(4096, 64, 0, true);
  write(4160, 64, 64, true);
  check({"W 4096+56 4152+64 4216+8"});
}

BOOST_AUTO_TEST_CASE(streams_that_do_not_depend_share_their_calls) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    read(4096 + 64 * i, 64, 64 * i);
    write(8192 + 128 * i, 64, 4096 + 128 * i, false, &other);
  }
  check({"R 4096+256", "W 8192+64 8320+64 8448+64 8576+64"});
}

BOOST_AUTO_TEST_CASE(a_stream_reads_what_it_has_written_before) {
  write(4096, 64, 0);
  read(4096, 64, 1024);
  check({"W 4096+64", "R 4096+64"});
}

BOOST_AUTO_TEST_CASE(a_stream_reads_before_it_overwrites) {
  read(4096, 64, 0);
  write(4096, 64, 1024);
  read(8192, 64, 2048);
  check({"R 4096+64", "W 4096+64", "R 8192+64"});
}

BOOST_AUTO_TEST_CASE(each_process_has_its_own_call) {
  RecordingMemory second;
  for (std::uint32_t i = 0; i < 3; ++i) {
    add(AccessKind::read, 4096 + 64 * i, 64, 64 * i);
    add(AccessKind::read, 4096 + 64 * i, 64, 8192 + 64 * i, false, &other, &second);
  }
  check({"R 4096+192"});
  BOOST_TEST(second.calls.size() == 1u);
}

// A program that sees the last of three writes sees the one before, wherever that went.
BOOST_AUTO_TEST_CASE(a_stream_writes_to_several_memories_in_its_order) {
  RecordingMemory second;
  write(104, 8, 0);
  add(AccessKind::write, 200, 8, 8, false, nullptr, &second);
  write(304, 8, 16);
  write(400, 8, 24, false, &other);  // does not hang on these
  check({"W 104+8", "W 304+8 400+8"});
  BOOST_TEST(second.calls == std::vector<std::string>{"W 200+8"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(more_transfers_and_processes_than_a_batch_holds) {
  std::vector<RecordingMemory> many(40);
  for (std::uint32_t i = 0; i < 40; ++i) add(AccessKind::write, 8 * i, 8, 16 * i, true, nullptr, &many[i]);
  for (std::uint32_t i = 0; i < 1500; ++i) write(4096 + 16 * i, 8, 16 * i, true);
  batch.run(list, failed);
  for (const RecordingMemory& one : many) BOOST_TEST(one.calls.size() == 1u);
  BOOST_TEST(memory.calls.size() == 3u);
}

BOOST_AUTO_TEST_CASE(exactly_the_packet_that_fails_is_found_in_a_joined_transfer) {
  for (std::uint32_t i = 0; i < 4; ++i) read(4096 + 1024 * i, 1024, 1024 * i);
  memory.unmapped = {4096 + 2048 + 5};
  check({"R 4096+4096", "R 4096+1024", "R 5120+1024", "R 6144+1024"});
  BOOST_REQUIRE(failed.size() == 1u);
  BOOST_TEST(failed[0] == &stream);
  BOOST_TEST(stream.failed_tag.action == 2u);
  BOOST_TEST(!stream.discards(2));  // emitted before the third access
  BOOST_TEST(stream.discards(3));
}

BOOST_AUTO_TEST_CASE(the_failed_part_of_a_joined_write_with_pieces) {
  write(4093, 1000, 0);
  write(5093, 1000, 1000, true);
  memory.unmapped = {5200};
  batch.run(list, failed);
  BOOST_REQUIRE(failed.size() == 1u);
  BOOST_TEST(stream.failed_tag.action == 1u);
}

BOOST_AUTO_TEST_CASE(a_failed_stream_goes_no_further_and_others_do) {
  write(4096, 8, 0);
  read(4096, 8, 64);
  read(8192, 8, 128, &other);
  memory.unmapped = {4096};
  check({"W 4096+8", "R 8192+8"});
  BOOST_TEST(failed.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_first_failure_of_a_stream_counts) {
  write(8192, 8, 0);  // fails in the writes, which go second
  read(4096, 8, 64, &other);
  memory.unmapped = {4096, 8192};
  batch.run(list, failed);
  BOOST_TEST(failed.size() == 2u);
  BOOST_TEST(stream.failed_at == 0u);
  BOOST_TEST(other.failed_at == 1u);

  ActionStream both;
  list.memory.clear();
  failed.clear();
  add(AccessKind::read, 4096, 8, 0, false, &both);
  add(AccessKind::write, 8192, 8, 64, false, &both);
  batch.run(list, failed);
  BOOST_TEST(failed.size() == 1u);
  BOOST_TEST(both.failed_at == 0u);
}

BOOST_AUTO_TEST_CASE(atomics_on_a_word_read_and_write_it_once) {
  add_atomics(5, 4096);
  add_atomics(2, 8200, &other);
  add_atomics(1, 4096);
  check({"R 4096+8 8200+8", "W 4096+8 8200+8"});
  const std::uint64_t expected[] = {0, 1, 2, 3, 4, 0, 1, 5};
  BOOST_TEST(std::vector(originals.begin(), originals.begin() + 8) == expected,
             boost::test_tools::per_element());
}

// A page that is mapped twice has two names for each word: an operation by the one name must find what one by
// the other has done.
BOOST_AUTO_TEST_CASE(atomics_on_words_that_may_be_the_same_do_not_share) {
  RecordingMemory process;
  add_atomics(1, 4096);
  add_atomics(1, 8192, &other);
  check({"R 4096+8", "W 4096+8", "R 8192+8", "W 8192+8"});

  list.memory.clear();
  list.atomics.clear();
  memory.calls.clear();
  add_atomics(1, 4096);
  add_atomics(1, 4096, &other);
  list.memory.back().memory = &process;
  add_atomics(1, 4096);
  check({"R 4096+8", "W 4096+8", "R 4096+8", "W 4096+8"});
  BOOST_TEST(process.calls.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_compare_that_fails_writes_nothing) {
  add_atomics(1, 4096);
  list.atomics[0] = {transport::AtomicKind::compare_swap, 5, 1, &originals[0]};
  check({"R 4096+8"});
}

BOOST_AUTO_TEST_CASE(atomics_keep_their_place_in_their_stream) {
  read(8192, 8, 0);
  add_atomics(1, 4096);
  read(4096, 8, 64);
  add_atomics(1, 4096);
  write(4096, 8, 128);
  add_atomics(1, 4096);
  check({"R 8192+8", "R 4096+8", "W 4096+8", "R 4096+8", "R 4096+8", "W 4096+8", "W 4096+8", "R 4096+8",
         "W 4096+8"});
}

BOOST_AUTO_TEST_CASE(atomics_of_many_words_and_streams) {
  for (std::uint32_t i = 0; i < 300; ++i) add_atomics(1, 4096 + 8 * i, i % 2 != 0 ? &other : &stream);
  batch.run(list, failed);
  BOOST_TEST(memory.calls.size() == 6u);
  BOOST_TEST(failed.empty());
}

BOOST_AUTO_TEST_CASE(an_atomic_behind_a_failed_one_is_not_done) {
  memory.unmapped = {4096};
  add_atomics(1, 8200);
  add_atomics(1, 4096);
  add_atomics(1, 12304);
  add_atomics(1, 16408, &other);
  check({"R 8200+8 4096+8 12304+8 16408+8", "W 8200+8 16408+8"});
  BOOST_REQUIRE(failed.size() == 1u);
  BOOST_TEST(stream.failed_at == 1u);
}

BOOST_AUTO_TEST_CASE(an_atomic_that_cannot_write_fails) {
  memory.read_only = {4096};
  add_atomics(2, 4096);
  batch.run(list, failed);
  BOOST_REQUIRE(failed.size() == 1u);
  BOOST_TEST(stream.failed_at == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
