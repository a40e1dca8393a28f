// Two contexts that share protection domains and what lives in them.
#include <sys/mman.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>

#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace import_commands {

std::array<memory::Descriptor, 2> make_sockets() {
  int ends[2];
  BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  return {memory::Descriptor(ends[0]), memory::Descriptor(ends[1])};
}

// A program that opens a context which shares another's objects.
struct Importer : DirectProgram {
  using DirectProgram::DirectProgram;
  Pipe events = make_pipe();

  int import(const abi::ContextToken& token, std::uint32_t version = abi::kControlVersion) {
    abi::OpenSharedContextRequest request{};
    request.open.version = version;
    request.token = token;
    std::vector<memory::Descriptor> descriptors;
    descriptors.push_back(own_pidfd());
    descriptors.push_back(own_memory());
    descriptors.push_back(duplicate(events.read_end.get()));
    descriptors.push_back(duplicate(events.write_end.get()));
    return call(ControlOpcode::open_shared_context, request, opened, std::move(descriptors));
  }
};

struct Sharing {
  Machine machine;
  OpenProgram original{machine};
  Importer importer{machine};
  alignas(4096) std::array<std::byte, 4096> memory{};
  abi::RegisterMrReply mr{};

  ServedDevice& device() { return *machine.fabric.devices()[0]; }
  void import() { BOOST_REQUIRE(importer.import(original.opened.token) == 0); }
  int reg(DirectProgram& program) {
    return program.register_mr(original.pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE, mr);
  }
};

BOOST_FIXTURE_TEST_SUITE(import_commands, Sharing)

BOOST_AUTO_TEST_CASE(who_may_send_on_the_connection_is_told_the_token) {
  auto sockets = make_sockets();
  std::vector<memory::Descriptor> descriptors;
  descriptors.push_back(std::move(sockets[1]));
  Message message = make_message(ControlOpcode::tell_token, abi::Empty{}, std::move(descriptors));
  BOOST_REQUIRE(original.dispatch_raw(message));
  BOOST_TEST(original.reply().length == 0u);  // nobody else's answer is mistaken for it
  abi::ContextToken token{};
  BOOST_REQUIRE(recv(sockets[0].get(), &token, sizeof token, 0) == sizeof token);
  BOOST_TEST((std::memcmp(&token, &original.opened.token, sizeof token) == 0));
}

BOOST_AUTO_TEST_CASE(a_socket_that_takes_nothing_is_not_waited_for) {
  auto sockets = make_sockets();
  char filler[1024] = {};
  while (send(sockets[1].get(), filler, sizeof filler, MSG_DONTWAIT) > 0) {
  }
  std::vector<memory::Descriptor> descriptors;
  descriptors.push_back(duplicate(sockets[1].get()));
  Message full = make_message(ControlOpcode::tell_token, abi::Empty{}, std::move(descriptors));
  BOOST_TEST(original.dispatch_raw(full));
  descriptors.clear();
  descriptors.push_back(own_memory());
  Message no_socket = make_message(ControlOpcode::tell_token, abi::Empty{}, std::move(descriptors));
  BOOST_TEST(original.dispatch_raw(no_socket));
  Message none = make_message(ControlOpcode::tell_token, abi::Empty{});
  BOOST_TEST(original.dispatch_raw(none));
}

BOOST_AUTO_TEST_CASE(objects_are_shared_under_their_handles) {
  import();
  BOOST_REQUIRE(reg(original) == 0);
  abi::HandleReply pd{};
  BOOST_TEST(importer.call(ControlOpcode::import_pd, abi::HandleRequest{original.pd, 0}, pd) == 0);
  abi::ImportMrReply region{};
  BOOST_REQUIRE(importer.call(ControlOpcode::import_mr, abi::HandleRequest{mr.handle, 0}, region) == 0);
  BOOST_TEST(region.lkey == mr.lkey);
  BOOST_TEST(region.length == memory.size());
  abi::RegisterMrReply second = mr;
  BOOST_REQUIRE(reg(importer) == 0);
  BOOST_TEST(mr.handle != second.handle);
  BOOST_TEST(original.call(ControlOpcode::import_mr, abi::HandleRequest{mr.handle, 0}, region) == 0);
  // Either may end what either has made.
  BOOST_TEST(importer.call(ControlOpcode::deregister_mr, second.handle) == 0);
  BOOST_TEST(original.call(ControlOpcode::deregister_mr, mr.handle) == 0);
  BOOST_TEST(importer.call(ControlOpcode::deallocate_pd, original.pd) == 0);
}

BOOST_AUTO_TEST_CASE(only_what_is_there_is_imported) {
  import();
  abi::HandleReply pd{};
  abi::ImportMrReply region{};
  BOOST_TEST(importer.call(ControlOpcode::import_pd, abi::HandleRequest{99, 0}, pd) == EINVAL);
  BOOST_TEST(importer.call(ControlOpcode::import_mr, abi::HandleRequest{99, 0}, region) == EINVAL);
  OpenProgram stranger(machine);
  BOOST_REQUIRE(reg(original) == 0);
  BOOST_TEST(stranger.call(ControlOpcode::import_mr, abi::HandleRequest{mr.handle, 0}, region) == EINVAL);
}

BOOST_AUTO_TEST_CASE(queues_are_each_ones_own) {
  import();
  const std::uint32_t cq = importer.create_cq();
  BOOST_REQUIRE(importer.create_qp(original.pd, cq).handle != 0);
  BOOST_TEST(original.session().context->qps.size() == 0u);
  BOOST_TEST(original.call(ControlOpcode::deallocate_pd, original.pd) == EBUSY);
  importer.session().context.reset();
  BOOST_TEST(original.call(ControlOpcode::deallocate_pd, original.pd) == 0);
}

BOOST_AUTO_TEST_CASE(objects_live_as_long_as_the_last_who_shares_them) {
  import();
  BOOST_REQUIRE(reg(original) == 0);
  original.session().context.reset();
  BOOST_TEST(device().memory_regions.used() == 1u);
  abi::ImportMrReply region{};
  BOOST_TEST(importer.call(ControlOpcode::import_mr, abi::HandleRequest{mr.handle, 0}, region) == 0);
  importer.session().context.reset();
  BOOST_TEST(device().memory_regions.used() == 0u);
  BOOST_TEST(device().protection_domains.used() == 0u);
}

// What is received must not be left to a process whose memory it is not.
BOOST_AUTO_TEST_CASE(both_have_more_than_one_process) {
  BOOST_TEST(!original.session().context->several_processes());
  import();
  BOOST_TEST(original.session().context->several_processes());
  BOOST_TEST(importer.session().context->several_processes());
}

BOOST_AUTO_TEST_CASE(asynchronous_events_have_a_channel_that_can_be_asked_for) {
  BOOST_TEST(original.call(ControlOpcode::async_channel, abi::Empty{}) == EINVAL);
  import();
  BOOST_REQUIRE(importer.call(ControlOpcode::async_channel, abi::Empty{}) == 0);
  BOOST_REQUIRE(importer.reply().descriptors.size() == 1);
  BOOST_TEST(inode_of(importer.reply().descriptors[0]) == inode_of(importer.events.read_end.get()));
  BOOST_TEST(inode_of(importer.reply().descriptors[0]) != inode_of(original.async_events().read_end.get()));
}

BOOST_AUTO_TEST_CASE(tokens_and_versions_must_fit) {
  abi::ContextToken wrong = original.opened.token;
  wrong.bytes[0] ^= 1;
  BOOST_TEST(importer.import(wrong) == EINVAL);
  BOOST_TEST(importer.import(original.opened.token, abi::kControlVersion + 1) == EPROTO);
  Importer elsewhere(machine, 1);  // another device
  BOOST_TEST(elsewhere.import(original.opened.token) == EINVAL);
  import();
  BOOST_TEST(importer.import(original.opened.token) == EINVAL);  // has a context already
}

// ibv_reg_dmabuf_mr(3). No kernel need have a dma-buf to give to this test: what is none is refused.
BOOST_AUTO_TEST_CASE(only_a_dma_buf_is_registered_as_one) {
  abi::RegisterDmaBufMrRequest request{0, 4096, 0, original.pd, IBV_ACCESS_LOCAL_WRITE};
  const auto reg = [&](std::vector<memory::Descriptor> descriptors) {
    return original.call(ControlOpcode::register_dma_buf_mr, request, mr, std::move(descriptors));
  };
  const auto file = [] {
    std::vector<memory::Descriptor> descriptors;
    descriptors.emplace_back(memfd_create("none", MFD_CLOEXEC));
    BOOST_REQUIRE(ftruncate(descriptors[0].get(), 8192) == 0);
    return descriptors;
  };
  BOOST_TEST(reg(file()) == EINVAL);
  BOOST_TEST(reg({}) == EINVAL);
  request.iova = 1;
  BOOST_TEST(reg(file()) == EINVAL);
  request.iova = 0;
  request.access = IBV_ACCESS_ON_DEMAND;
  BOOST_TEST(reg(file()) == EINVAL);
  BOOST_TEST(device().memory_regions.used() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace import_commands
}  // namespace urnic::control::test
