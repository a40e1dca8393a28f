// Memory of queues that a program has made: which of its pages become the device's, and for how long.
#include "device_model/control/objects/queue_pages.hpp"

#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "device_model/control/mlx5/queue_memory.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "tests/unit/control/mlx5_program.hpp"

namespace urnic::control::test {
namespace queue_pages {

constexpr std::uint64_t kRing = 0x10000000;
constexpr std::uint64_t kRecords = 0x20000000;

struct Pages {
  Machine machine;
  OpenMlx5Program program{machine};
  QueuePages& pages = program.part().queue_pages;
  std::shared_ptr<Process> process = program.session().process;
  DescriptorExchange descriptors{};

  // As a handler does it, whose command comes with that flag.
  int hold(std::span<mlx5::QueueMemory> wanted, bool shared) {
    mlx5::Command command{program.session(), descriptors, {}, {}};
    command.pages_shared = shared;
    mlx5::note_exchange(program.session(), shared);
    int error = kNotYet;
    while (error == kNotYet) error = mlx5::hold_queue_memory(command, wanted);
    return error;
  }
  // With what the stand-in says of memory that it cannot exchange.
  int hold_refused(std::span<mlx5::QueueMemory> wanted) {
    mlx5::Command command{program.session(), descriptors, {}, {}};
    command.pages_refused = true;
    mlx5::note_exchange(program.session(), false);
    int error = kNotYet;
    while (error == kNotYet) error = mlx5::hold_queue_memory(command, wanted);
    return error;
  }
  // With what the stand-in does in between.
  int hold(std::span<mlx5::QueueMemory> wanted) {
    const int error = hold(wanted, false);
    return error == mlx5::kPagesFirst ? hold(wanted, true) : error;
  }
  std::vector<QueuePageBlock>& offered() { return program.session().queue_pages.offered; }
};

mlx5::QueueMemory ring(std::uint64_t length = 3 * 4096) { return {.range = {kRing, length}}; }
mlx5::QueueMemory record(std::uint64_t number = 0) {
  return {.range = {kRecords + number * 64, 8}, .is_record = true};
}

}  // namespace queue_pages

BOOST_FIXTURE_TEST_SUITE(queue_pages, Pages)

BOOST_AUTO_TEST_CASE(whole_pages_are_asked_for_first) {
  std::array wanted{ring(5000), record()};
  BOOST_TEST(hold(wanted, false) == mlx5::kPagesFirst);
  BOOST_REQUIRE(offered().size() == 2u);
  BOOST_TEST(offered()[0].address == kRing);
  BOOST_TEST(offered()[0].block.length() == 8192u);
  BOOST_TEST(offered()[0].block.offset() % 4096 == 0u);
  BOOST_TEST(offered()[1].address == kRecords);
  BOOST_TEST(offered()[1].block.length() == 4096u);
  abi::UverbsCommandReply reply{};
  mlx5::describe_offered(program.session(), descriptors, reply);
  BOOST_TEST((reply.page_action == abi::PageAction::queues_first));
  BOOST_TEST(reply.page_count == 2u);
  BOOST_TEST(descriptors.sent.size() == 2u);
  BOOST_TEST(pages.size() == 0u);  // not yet the device's
}

BOOST_AUTO_TEST_CASE(memory_is_the_blocks_at_the_programs_offset) {
  std::array wanted{ring(), record(3)};
  BOOST_TEST(hold(wanted, false) == mlx5::kPagesFirst);
  std::byte* const records = offered()[1].block.data();
  records[3 * 64] = std::byte{1};
  records[4 * 64] = std::byte{1};
  BOOST_TEST(hold(wanted, true) == 0);
  BOOST_TEST(wanted[1].held.data() == records + 3 * 64);
  BOOST_TEST(wanted[1].held.length() == 8u);
  BOOST_TEST((records[3 * 64] == std::byte{0}));  // a record begins with 0
  BOOST_TEST((records[4 * 64] == std::byte{1}));  // another queue's stays
  BOOST_TEST(pages.size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_next_queue_finds_the_page_of_its_record) {
  std::array first{ring(), record(0)};
  BOOST_TEST(hold(first) == 0);
  std::array second{record(1)};
  BOOST_TEST(hold(second, false) == 0);
  BOOST_TEST((second[0].held.data() == first[1].held.data() + 64));
}

BOOST_AUTO_TEST_CASE(two_records_in_one_page_are_one_page) {
  std::array wanted{record(0), record(1)};
  BOOST_TEST(hold(wanted, false) == mlx5::kPagesFirst);
  BOOST_TEST(offered().size() == 1u);
}

BOOST_AUTO_TEST_CASE(pages_go_back_when_no_queue_has_them) {
  std::array first{ring(), record(0)};
  std::array second{record(1)};
  BOOST_TEST(hold(first) == 0);
  BOOST_TEST(hold(second) == 0);
  first[0].held = {};
  first[1].held = {};
  abi::UverbsCommandReply reply{};
  mlx5::describe_returned(program.session(), descriptors, reply);
  BOOST_TEST((reply.page_action == abi::PageAction::queues_back));
  BOOST_REQUIRE(reply.page_count == 1u);
  BOOST_TEST(reply.pages[0].address == kRing);
  BOOST_TEST(pages.size() == 1u);
  // Until the program's next command, the block is nobody else's: the program still uses it.
  BOOST_TEST(program.session().queue_pages.returned.size() == 1u);
  mlx5::note_exchange(program.session(), false);
  BOOST_TEST(program.session().queue_pages.returned.empty());
  second[0].held = {};
  mlx5::describe_returned(program.session(), descriptors, reply);
  BOOST_TEST(pages.size() == 0u);
  std::array again{ring()};
  BOOST_TEST(hold(again, false) == mlx5::kPagesFirst);
}

BOOST_AUTO_TEST_CASE(an_offer_that_is_not_taken_up_is_withdrawn) {
  std::array wanted{ring()};
  BOOST_TEST(hold(wanted, false) == mlx5::kPagesFirst);
  BOOST_TEST(program.allocate_pd() != 0u);  // any other command
  BOOST_TEST(offered().empty());
  BOOST_TEST(hold(wanted, true) == EINVAL);  // there was no offer
  BOOST_TEST(pages.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_program_that_has_exchanged_other_pages_is_refused) {
  std::array wanted{ring()};
  BOOST_TEST(hold(wanted, false) == mlx5::kPagesFirst);
  std::array other{record()};
  BOOST_TEST(hold(other, true) == EINVAL);
  abi::UverbsCommandReply reply{};
  mlx5::describe_returned(program.session(), descriptors, reply);
  BOOST_TEST(reply.page_count == 1u);  // those that it has exchanged
}

BOOST_AUTO_TEST_CASE(memory_that_is_another_queues_in_part_is_refused) {
  std::array first{ring(2 * 4096)};
  BOOST_TEST(hold(first) == 0);
  std::array longer{ring(3 * 4096)};
  BOOST_TEST(hold(longer, false) == EINVAL);
  std::array before{mlx5::QueueMemory{.range = {kRing - 4096, 8192}}};
  BOOST_TEST(hold(before, false) == EINVAL);
  std::array part{mlx5::QueueMemory{.range = {kRing + 4096, 4096}}};
  BOOST_TEST(hold(part, false) == 0);
}

BOOST_AUTO_TEST_CASE(addresses_that_cannot_be_are_refused) {
  for (const QueuePages::Range range : {QueuePages::Range{0, 4096},
                                        {128, 8},
                                        {1ull << 47, 4096},
                                        {~0ull - 4095, 4096},
                                        {kRing, 0},
                                        {kRing, ~0ull},
                                        {(1ull << 47) - 4096, 4096},
                                        {(1ull << 47) - 4096, 8192}}) {
    std::array wanted{mlx5::QueueMemory{.range = range}};
    BOOST_TEST_CONTEXT(range.address << " " << range.length) {
      BOOST_TEST(hold(wanted, false) == EFAULT);
      BOOST_TEST(hold(wanted, true) == EFAULT);
    }
  }
}

BOOST_AUTO_TEST_CASE(addresses_are_a_process_own) {
  std::array wanted{ring()};
  BOOST_TEST(hold(wanted) == 0);
  Mlx5Program child(machine);
  BOOST_TEST(child.join(program.session().context->token) == 0);
  BOOST_TEST(!pages.hold(*child.session().process, {kRing, 4096}));
  std::vector<QueuePages::Range> missing;
  const std::array range{QueuePages::Range{kRing, 4096}};
  BOOST_TEST(pages.find_missing(*child.session().process, range, missing) == 0);
  BOOST_TEST(missing.size() == 1u);
  wanted[0].held = {};
  BOOST_TEST(pages.take_unused(*child.session().process, 4).empty());
  BOOST_TEST(pages.take_unused(*process, 4).size() == 1u);
}

// What a program shares already: the stand-in answers that it cannot exchange these pages.
struct SharedFile {
  static constexpr std::size_t kLength = 4 * 4096;

  explicit SharedFile(int flags = MAP_SHARED)
      : file(memfd_create("queue_pages_test", MFD_CLOEXEC)),
        is_sized(ftruncate(file.get(), kLength + 4096) == 0),
        place(static_cast<std::byte*>(
            mmap(nullptr, kLength, PROT_READ | PROT_WRITE, flags, file.get(), 4096))) {}
  ~SharedFile() { munmap(place, kLength); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  std::uint64_t address(std::size_t offset) const { return reinterpret_cast<std::uint64_t>(place) + offset; }

  memory::Descriptor file;
  bool is_sized;
  std::byte* place;
};

BOOST_AUTO_TEST_CASE(shared_memory_is_mapped_where_it_is) {
  const SharedFile shared;
  std::array wanted{mlx5::QueueMemory{.range = {shared.address(0), 5000}},
                    mlx5::QueueMemory{.range = {shared.address(3 * 4096 + 64), 8}, .is_record = true}};
  BOOST_TEST(hold(wanted, false) == mlx5::kPagesFirst);
  BOOST_REQUIRE(hold_refused(wanted) == 0);
  shared.place[4999] = std::byte{7};
  BOOST_TEST((wanted[0].held.data()[4999] == std::byte{7}));
  wanted[1].held.data()[7] = std::byte{8};
  BOOST_TEST((shared.place[3 * 4096 + 64 + 7] == std::byte{8}));
  BOOST_TEST(pages.size() == 2u);
  // Nothing is to be given back to the program.
  for (mlx5::QueueMemory& each : wanted) each.held = {};
  abi::UverbsCommandReply reply{};
  mlx5::describe_returned(program.session(), descriptors, reply);
  BOOST_TEST(reply.page_count == 0u);
  BOOST_TEST(pages.size() == 0u);
}

// As libmlx5 makes them where huge pages are wanted.
BOOST_AUTO_TEST_CASE(a_segment_of_system_v_is_attached) {
  constexpr std::size_t kLength = 4 * 4096;
  const int identifier = shmget(IPC_PRIVATE, kLength, IPC_CREAT | 0600);
  auto* const place = static_cast<std::byte*>(shmat(identifier, nullptr, 0));
  BOOST_REQUIRE(shmctl(identifier, IPC_RMID, nullptr) == 0);  // it ends with its last user
  BOOST_REQUIRE(place != reinterpret_cast<void*>(-1));
  std::array wanted{mlx5::QueueMemory{.range = {reinterpret_cast<std::uint64_t>(place) + 4096, 5000}}};
  BOOST_REQUIRE(hold_refused(wanted) == 0);
  place[4096 + 4999] = std::byte{7};
  BOOST_TEST((wanted[0].held.data()[4999] == std::byte{7}));
  shmdt(place);
  BOOST_TEST((wanted[0].held.data()[4999] == std::byte{7}));
}

// As libmlx5's with rings in huge pages: its records are private memory.
BOOST_AUTO_TEST_CASE(what_is_not_shared_is_offered_again) {
  const SharedFile shared;
  std::array wanted{mlx5::QueueMemory{.range = {shared.address(0), 5000}}, record()};
  BOOST_TEST(hold(wanted, false) == mlx5::kPagesFirst);
  BOOST_TEST(offered().size() == 2u);
  BOOST_TEST(hold_refused(wanted) == mlx5::kPagesFirst);
  BOOST_REQUIRE(offered().size() == 1u);
  BOOST_TEST(offered()[0].address == kRecords);
  BOOST_TEST(hold(wanted, true) == 0);
  // Refused once more, it is over.
  std::array other{mlx5::QueueMemory{.range = {kRecords + 8192, 8}, .is_record = true}};
  BOOST_TEST(hold_refused(other) == EOPNOTSUPP);
}

BOOST_AUTO_TEST_CASE(shared_memory_counts_as_the_programs) {
  const SharedFile shared;
  Account& account = *program.session().account;
  const std::uint64_t before = account.used(Resource::shared_memory);
  std::array wanted{mlx5::QueueMemory{.range = {shared.address(0), 8192}}};
  BOOST_TEST(hold_refused(wanted) == 0);
  BOOST_TEST(account.used(Resource::shared_memory) == before + 8192);
}

BOOST_AUTO_TEST_CASE(memory_that_is_no_shared_files_is_refused) {
  const SharedFile is_private(MAP_PRIVATE);
  std::array wanted{mlx5::QueueMemory{.range = {is_private.address(0), 4096}}};
  BOOST_TEST(hold_refused(wanted) == EOPNOTSUPP);
  std::array nowhere{ring()};
  BOOST_TEST(hold_refused(nowhere) == EOPNOTSUPP);
  BOOST_TEST(pages.size() == 0u);
}

BOOST_AUTO_TEST_CASE(large_memory_is_made_in_portions) {
  std::array wanted{ring(1 << 20), mlx5::QueueMemory{.range = {kRecords, 1 << 20}}};
  mlx5::Command command{program.session(), descriptors, {}, {}};
  unsigned portions = 0;
  while (mlx5::hold_queue_memory(command, wanted) == kNotYet) ++portions;
  BOOST_TEST(portions >= 16u);
  BOOST_TEST(offered().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_program_cannot_take_more_than_its_share) {
  std::array wanted{mlx5::QueueMemory{.range = {kRing, 1ull << 40}}};
  mlx5::Command command{program.session(), descriptors, {}, {}};
  BOOST_CHECK_THROW(mlx5::hold_queue_memory(command, wanted), std::system_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
