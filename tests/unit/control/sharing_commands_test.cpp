// Private memory becomes shared when it is registered: what is offered, and what comes of it.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string_view>

#include "device_model/memory/mapped_memory.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace sharing_commands {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 8;
constexpr std::uint32_t kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

Configuration configuration(const char* way) {
  return parse_configuration(std::string("[engine]\nprivate_memory = \"") + way + "\"\n", "lab.toml");
}

struct Sharing {
  Machine machine{Fabric(configuration("shared")), {}};
  OpenProgram program{machine};
  std::byte* pages = static_cast<std::byte*>(
      mmap(nullptr, kPages* kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  abi::RegisterMrReply mr{};
  abi::DeregisterMrReply ended{};

  ~Sharing() { munmap(pages, kPages * kPage); }

  std::uint64_t address(std::size_t offset) const { return reinterpret_cast<std::uint64_t>(pages) + offset; }
  int ask(std::size_t offset, std::size_t length, abi::Sharing sharing, std::uint32_t access = kAll) {
    abi::RegisterMrRequest request{address(offset), length, address(offset), program.pd, access};
    request.sharing = sharing;
    mr = {};
    return program.call(ControlOpcode::register_mr, request, mr);
  }
  // The file of the pages that came with the latest reply.
  memory::Descriptor file() {
    const auto& descriptors = program.reply().descriptors;
    BOOST_REQUIRE(descriptors.size() == 1u);
    return duplicate(descriptors[0]);
  }
  // As the provider, with the offer of the latest reply.
  void exchange() {
    const memory::Descriptor file = this->file();
    auto* const place = reinterpret_cast<std::byte*>(mr.pages.address);
    BOOST_REQUIRE(pwrite(file.get(), place, mr.pages.length, 0) == static_cast<ssize_t>(mr.pages.length));
    BOOST_REQUIRE(
        mmap(place, mr.pages.length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0) == place);
  }
  void share(std::size_t offset, std::size_t length) {
    BOOST_REQUIRE(ask(offset, length, abi::Sharing::willing) == 0);
    BOOST_REQUIRE(mr.pages.length != 0u);
    exchange();
    BOOST_REQUIRE(ask(offset, length, abi::Sharing::shared) == 0);
    BOOST_REQUIRE(mr.handle != 0u);
  }
  int deregister(std::uint32_t handle) {
    ended = {};
    return program.call(ControlOpcode::deregister_mr, abi::HandleRequest{handle, 0}, ended);
  }
  memory::ApplicationMemory& memory_of(std::uint32_t handle) {
    return *program.session().context->regions.find(handle)->spec.memory;
  }
  std::string_view way() { return memory_of(mr.handle).way(); }
};

BOOST_FIXTURE_TEST_SUITE(sharing_commands, Sharing)

BOOST_AUTO_TEST_CASE(whole_pages_inside_of_the_region_are_offered) {
  BOOST_REQUIRE(ask(100, 3 * kPage, abi::Sharing::willing) == 0);
  BOOST_TEST(mr.handle == 0u);
  BOOST_TEST(mr.pages.address == address(kPage));
  BOOST_TEST(mr.pages.length == 2 * kPage);
  BOOST_TEST(machine.fabric.devices()[0]->memory_regions.used() == 0u);
  BOOST_TEST(machine.fabric.quotas().used(Resource::shared_memory) == 2 * kPage);
}

BOOST_AUTO_TEST_CASE(shared_pages_are_mapped_and_the_edges_reached_as_before) {
  share(100, 3 * kPage);
  BOOST_TEST(way() == "mapped");
  BOOST_TEST(memory::MappedMemory::count() == 1u);
  std::array<std::byte, 4 * kPage> from{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i * 7);
  memory::Transfer transfer{address(100), std::span(from).first(3 * kPage), false};
  memory_of(mr.handle).write({&transfer, 1});
  BOOST_TEST(!transfer.failed);
  BOOST_TEST(std::memcmp(pages + 100, from.data(), 3 * kPage) == 0);
  BOOST_TEST((pages[99] == std::byte{} && pages[100 + 3 * kPage] == std::byte{}));
  const std::byte* const place = memory_of(mr.handle).in_place(address(kPage), 2 * kPage);
  BOOST_REQUIRE(place != nullptr);
  BOOST_TEST(std::memcmp(place, pages + kPage, 2 * kPage) == 0);
  BOOST_TEST(memory_of(mr.handle).in_place(address(kPage) - 1, 2) == nullptr);
}

BOOST_AUTO_TEST_CASE(pages_stay_shared_until_the_last_region_ends) {
  share(0, 4 * kPage);
  const std::uint32_t first = mr.handle;
  // A second region of the same pages is mapped at once.
  BOOST_REQUIRE(ask(kPage, kPage, abi::Sharing::willing) == 0);
  BOOST_TEST(mr.pages.length == 0u);
  BOOST_TEST(way() == "mapped");
  BOOST_TEST(deregister(first) == 0);
  BOOST_TEST(ended.unneeded.length == 0u);
  BOOST_TEST(machine.fabric.quotas().used(Resource::shared_memory) == 4 * kPage);
  BOOST_TEST(deregister(mr.handle) == 0);
  BOOST_TEST(ended.unneeded.address == address(0));
  BOOST_TEST(ended.unneeded.length == 4 * kPage);
  file();
  BOOST_TEST(memory::MappedMemory::count() == 0u);
  ask(0, 1, abi::Sharing::unwilling);  // what was kept for the reply is given back with the next request
  BOOST_TEST(machine.fabric.quotas().used(Resource::shared_memory) == 0u);
}

BOOST_AUTO_TEST_CASE(a_region_that_moves_away_gives_its_pages_back) {
  share(0, kPage);
  abi::ReregisterMrRequest change{mr.handle, IBV_REREG_MR_CHANGE_TRANSLATION, {}};
  change.change = {address(4 * kPage), kPage, address(4 * kPage), 0, 0};
  BOOST_REQUIRE(program.call(ControlOpcode::reregister_mr, change, mr) == 0);
  BOOST_TEST(mr.pages.address == address(0));
  BOOST_TEST(mr.pages.length == kPage);
  BOOST_TEST(way() != "mapped");
}

BOOST_AUTO_TEST_CASE(what_is_not_offered) {
  const auto offered = [&](std::size_t offset, std::size_t length, std::uint32_t access = kAll) {
    BOOST_REQUIRE(ask(offset, length, abi::Sharing::willing, access) == 0);
    const std::uint64_t pages_offered = mr.pages.length;
    if (pages_offered != 0) BOOST_REQUIRE(ask(offset, length, abi::Sharing::refused_by_kernel, access) == 0);
    BOOST_TEST(deregister(mr.handle) == 0);
    return pages_offered;
  };
  BOOST_TEST(offered(0, kPage) == kPage);
  BOOST_TEST(offered(1, 2 * kPage - 2) == 0u);  // no whole page
  BOOST_TEST(offered(0, kPage, kAll | IBV_ACCESS_ON_DEMAND) == 0u);
  BOOST_REQUIRE(ask(0, kPage, abi::Sharing::unwilling) == 0);
  BOOST_TEST(mr.pages.length == 0u);
  const std::uint32_t other = mr.handle;
  // The device writes there for another region.
  BOOST_REQUIRE(ask(0, 2 * kPage, abi::Sharing::willing) == 0);
  BOOST_TEST(mr.pages.length == 0u);
  BOOST_TEST(deregister(mr.handle) == 0);
  BOOST_TEST(offered(kPage, kPage) == kPage);
  BOOST_TEST(deregister(other) == 0);
  mprotect(pages + 2 * kPage, kPage, PROT_READ);
  BOOST_TEST(offered(2 * kPage, kPage, 0) == 0u);
  BOOST_TEST(offered(kPage, 2 * kPage, 0) == 0u);  // two mappings
}

BOOST_AUTO_TEST_CASE(an_offer_that_is_refused_is_forgotten) {
  BOOST_REQUIRE(ask(0, kPage, abi::Sharing::willing) == 0);
  BOOST_REQUIRE(ask(0, kPage, abi::Sharing::refused_for_threads) == 0);
  BOOST_TEST(mr.pages.length == 0u);
  BOOST_TEST(way() != "mapped");
  BOOST_TEST(machine.fabric.quotas().used(Resource::shared_memory) == 0u);
  BOOST_TEST(machine.fabric.sharing_counters().refused_for_threads == 1u);
  BOOST_TEST(machine.fabric.sharing_counters().shared == 0u);
  // Nor is there one for a request that comes without it, or has another region.
  BOOST_REQUIRE(ask(kPage, kPage, abi::Sharing::shared) == 0);
  BOOST_TEST(way() != "mapped");
  BOOST_REQUIRE(ask(2 * kPage, kPage, abi::Sharing::willing) == 0);
  BOOST_REQUIRE(ask(3 * kPage, kPage, abi::Sharing::shared) == 0);
  BOOST_TEST(way() != "mapped");
}

// Otherwise they would stay shared for ever.
BOOST_AUTO_TEST_CASE(pages_that_cannot_be_mapped_are_given_back_at_once) {
  BOOST_REQUIRE(ask(2 * kPage, kPage, abi::Sharing::willing) == 0);
  BOOST_REQUIRE(ask(3 * kPage, kPage, abi::Sharing::shared) == 0);  // none of the region's
  BOOST_TEST(mr.handle != 0u);
  BOOST_TEST(mr.pages.address == address(2 * kPage));
  BOOST_TEST(mr.pages.length == kPage);
  share(0, kPage);
  BOOST_TEST(mr.pages.length == 0u);
}

// The pages exist already, and no region may use them that does not share them.
BOOST_AUTO_TEST_CASE(a_file_of_the_device_process_is_no_programs_shared_memory) {
  share(0, kPage);
  const memory::Descriptor file =
      duplicate(program.session().context->regions.find(mr.handle)->pages->descriptor());
  auto* const elsewhere =
      static_cast<std::byte*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
  const auto place = reinterpret_cast<std::uint64_t>(elsewhere);
  const abi::RegisterMrRequest request{place, kPage, place, program.pd, kAll};
  BOOST_REQUIRE(program.call(ControlOpcode::register_mr, request, mr) == 0);
  BOOST_TEST(way() != "mapped");
  munmap(elsewhere, kPage);
}

BOOST_AUTO_TEST_CASE(a_program_without_room_keeps_its_memory_private) {
  Configuration small = configuration("shared");
  small.allowances[static_cast<std::size_t>(Resource::shared_memory)] = {2 * kPage, 16 * kPage};
  Fabric fabric(small);
  const auto account = fabric.quotas().account(1);
  const auto made = SharedPages::make(0x10000, 2 * kPage, *account);
  BOOST_TEST(made != nullptr);
  BOOST_TEST(SharedPages::make(0x20000, kPage, *account) == nullptr);
  BOOST_TEST(fabric.quotas().refusals() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(the_setting_of_private_memory) {
  BOOST_TEST((configuration("copied").private_memory == PrivateMemory::copied));
  BOOST_TEST((configuration("when_it_pays").private_memory == PrivateMemory::shared_when_it_pays));
  BOOST_TEST((configuration("shared").private_memory == PrivateMemory::shared));
  BOOST_TEST((default_configuration().private_memory == PrivateMemory::shared_when_it_pays));
}

}  // namespace sharing_commands
}  // namespace urnic::control::test
