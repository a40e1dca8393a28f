// What is hostile or wrong in messages, and whose objects are whose.
#include <sys/wait.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <random>
#include <thread>

#include "device_model/memory/mem_file_memory.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace dispatching {

struct WithMachine {
  Machine machine;
};

BOOST_FIXTURE_TEST_SUITE(dispatching, WithMachine)

BOOST_AUTO_TEST_CASE(nonsense_in_the_header_closes_the_connection) {
  OpenProgram program(machine);
  const auto is_accepted = [&](auto change) {
    Message message = make_message(ControlOpcode::allocate_pd, abi::Empty{});
    abi::RequestHeader header{};
    std::memcpy(&header, message.storage.data(), sizeof header);
    change(header, message);
    std::memcpy(message.storage.data(), &header, sizeof header);
    return program.dispatch_raw(message);
  };
  BOOST_TEST(is_accepted([](auto&, auto&) {}));
  BOOST_TEST(!is_accepted([](auto& header, auto&) { header.magic ^= 1; }));
  BOOST_TEST(!is_accepted([](auto& header, auto&) { header.length += 1; }));
  BOOST_TEST(!is_accepted([](auto& header, auto&) { header.length = ~0u; }));
  BOOST_TEST(!is_accepted([](auto&, auto& message) { message.length = sizeof(abi::RequestHeader) - 1; }));
  BOOST_TEST(!is_accepted([](auto&, auto& message) { message.length = 1; }));
}

BOOST_AUTO_TEST_CASE(wrong_lengths_are_refused) {
  OpenProgram program(machine);
  abi::HandleReply reply{};
  struct Longer {
    abi::CreateCqRequest request;
    std::uint64_t more;
  };
  abi::CreateCqReply cq{};
  BOOST_TEST(program.call(ControlOpcode::create_cq, Longer{}, cq) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::create_cq, abi::HandleRequest{}, cq) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::allocate_pd, abi::CreateCqRequest{}, reply) == EINVAL);
}

BOOST_AUTO_TEST_CASE(unknown_opcodes_are_refused) {
  OpenProgram program(machine);
  for (const std::uint32_t opcode : {0u, 6u, 9u, 17u, 34u, 35u, 0xFFFFFFFFu}) {
    BOOST_TEST(program.call(static_cast<ControlOpcode>(opcode), abi::Empty{}) == EINVAL, opcode);
  }
}

// It would write where its own state is.
BOOST_AUTO_TEST_CASE(the_device_process_is_no_program) {
  DirectProgram program(machine);
  program.session().refuse_own_process = true;
  BOOST_TEST(program.open() == EINVAL);
  program.session().refuse_own_process = false;
  BOOST_TEST(program.open() == 0);
  BOOST_TEST(is_of_own_process(own_pidfd().get(), -1));
  BOOST_TEST(is_of_own_process(-1, own_memory().get()));
  BOOST_TEST(!is_of_own_process(-1, -1));
}

BOOST_AUTO_TEST_CASE(a_thread_of_the_device_process_is_no_program_either) {
  std::atomic<pid_t> number{0};
  std::atomic<bool> done{false};
  std::thread thread([&] {
    number = gettid();
    while (!done) sched_yield();
  });
  while (number == 0) sched_yield();
  const std::string path = "/proc/self/task/" + std::to_string(number) + "/mem";
  const memory::Descriptor memory(open(path.c_str(), O_RDWR | O_CLOEXEC));
  BOOST_TEST(is_of_own_process(-1, memory.get()));
  done = true;
  thread.join();
}

BOOST_AUTO_TEST_CASE(another_process_is_a_program) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const memory::Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  const std::string path = "/proc/" + std::to_string(child) + "/mem";
  const memory::Descriptor memory(open(path.c_str(), O_RDWR | O_CLOEXEC));
  BOOST_TEST(!is_of_own_process(pidfd.get(), memory.get()));
  BOOST_TEST(is_of_own_process(pidfd.get(), own_memory().get()));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// What it has sent to a program and gets back.
BOOST_AUTO_TEST_CASE(descriptors_of_the_device_are_no_memory_and_no_pipe) {
  DirectProgram program(machine);
  BOOST_REQUIRE(program.open() == 0);
  const auto opened = program.reply().descriptors;  // doorbells, status page, wake-up
  BOOST_REQUIRE(opened.size() == 3);
  for (const int own : opened) {
    BOOST_TEST(!memory::is_mem_file(own));
    std::vector<memory::Descriptor> ends;
    ends.push_back(duplicate(own));
    ends.push_back(duplicate(own));
    Message message = make_message(ControlOpcode::add_completion_channel, abi::AddCompletionChannelRequest{},
                                   std::move(ends));
    BOOST_TEST(program.dispatch_raw(message));
    BOOST_TEST(message.descriptors.size() == 2u);  // not taken
  }
}

BOOST_AUTO_TEST_CASE(nothing_works_before_the_context_is_open) {
  DirectProgram program(machine);
  BOOST_TEST(program.allocate_pd() == 0u);
  abi::QueryDeviceReply device{};
  BOOST_TEST(program.call(ControlOpcode::query_device, abi::Empty{}, device) == EINVAL);
  BOOST_TEST(program.open() == 0);
  BOOST_TEST(program.open() == EINVAL);  // once only
  BOOST_TEST(program.call(ControlOpcode::query_device, abi::Empty{}, device) == 0);
}

BOOST_AUTO_TEST_CASE(opening_gives_doorbells_status_and_wake_event) {
  DirectProgram program(machine);
  BOOST_REQUIRE(program.open() == 0);
  BOOST_TEST(program.reply().descriptors.size() == 3u);
  const int status = program.reply().descriptors[1];
  BOOST_TEST(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, status, 0) == MAP_FAILED);
  BOOST_TEST(ftruncate(program.reply().descriptors[0], 0) == -1);
}

BOOST_AUTO_TEST_CASE(descriptors_that_are_something_else_are_refused) {
  const auto open_with = [&](std::size_t wrong, auto make_wrong) {
    DirectProgram program(machine);
    Pipe pipe = make_pipe();
    std::vector<memory::Descriptor> descriptors;
    descriptors.push_back(own_pidfd());
    descriptors.push_back(own_memory());
    descriptors.push_back(std::move(pipe.read_end));
    descriptors.push_back(std::move(pipe.write_end));
    descriptors[wrong] = make_wrong();
    abi::OpenContextRequest request{};
    request.version = abi::kControlVersion;
    return program.call(ControlOpcode::open_context, request, program.opened, std::move(descriptors));
  };
  const auto null_device = [] { return memory::Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC)); };
  BOOST_TEST(open_with(0, own_pidfd) == 0);
  BOOST_TEST(open_with(0, null_device) == EINVAL);
  BOOST_TEST(open_with(2, null_device) == EINVAL);
  BOOST_TEST(open_with(3, null_device) == EINVAL);
  BOOST_TEST(open_with(2, [] { return std::move(make_pipe().read_end); }) == EINVAL);  // of another pipe
  BOOST_TEST(open_with(3, [] { return std::move(make_pipe().write_end); }) == EINVAL);
  BOOST_TEST(machine.contexts.empty());
}

// valgrind and filters of system calls refuse pidfd_open: the kernel knows the peer of a connection.
BOOST_AUTO_TEST_CASE(a_program_without_a_pidfd_is_known_by_its_connection) {
  const auto open_without = [](DirectProgram& program) {
    Pipe pipe = make_pipe();
    std::vector<memory::Descriptor> descriptors;
    descriptors.push_back(own_memory());
    descriptors.push_back(std::move(pipe.read_end));
    descriptors.push_back(std::move(pipe.write_end));
    abi::OpenContextRequest request{};
    request.version = abi::kControlVersion;
    return program.call(ControlOpcode::open_context, request, program.opened, std::move(descriptors));
  };
  DirectProgram unknown(machine);
  BOOST_TEST(open_without(unknown) == EINVAL);
  DirectProgram known(machine);
  known.session().peer_pidfd = own_pidfd;
  BOOST_TEST(open_without(known) == 0);
  BOOST_TEST(known.session().process->pid() == getpid());
}

BOOST_AUTO_TEST_CASE(missing_and_superfluous_descriptors_are_refused) {
  DirectProgram program(machine);
  abi::OpenContextRequest request{};
  request.version = abi::kControlVersion;
  BOOST_TEST(program.call(ControlOpcode::open_context, request, program.opened) == EINVAL);
  std::vector<memory::Descriptor> many;
  for (int i = 0; i < 5; ++i) many.push_back(own_pidfd());
  BOOST_TEST(program.call(ControlOpcode::open_context, request, program.opened, std::move(many)) == EINVAL);
}

BOOST_AUTO_TEST_CASE(another_protocol_version_is_refused) {
  DirectProgram program(machine);
  abi::OpenContextRequest request{};
  request.version = abi::kControlVersion + 1;
  std::vector<memory::Descriptor> descriptors;
  for (int i = 0; i < 4; ++i) descriptors.push_back(own_pidfd());
  BOOST_TEST(program.call(ControlOpcode::open_context, request, program.opened, std::move(descriptors)) ==
             EPROTO);
}

BOOST_AUTO_TEST_CASE(handles_of_another_program_name_nothing) {
  OpenProgram mine(machine);
  OpenProgram other(machine);
  // The same numbers exist in both contexts, so make ones that do not.
  for (int i = 0; i < 3; ++i) mine.allocate_pd();
  const std::uint32_t pd = mine.allocate_pd();
  const std::uint32_t cq = [&] {
    mine.create_cq();
    return mine.create_cq();
  }();
  const abi::CreateQpReply qp = mine.create_qp(pd, cq);
  BOOST_REQUIRE(qp.handle != 0u);
  BOOST_TEST(other.call(ControlOpcode::deallocate_pd, pd) == EINVAL);
  abi::DestroyReply destroyed{};
  BOOST_TEST(other.call(ControlOpcode::destroy_cq, abi::HandleRequest{cq, 0}, destroyed) == EINVAL);
  BOOST_TEST(other.call(ControlOpcode::destroy_qp, abi::HandleRequest{qp.handle, 0}, destroyed) == EINVAL);
  abi::QueryQpReply query{};
  BOOST_TEST(other.call(ControlOpcode::query_qp, abi::HandleRequest{qp.handle, 0}, query) == EINVAL);
  BOOST_TEST(other.create_qp(pd, other.cq).handle == 0u);
  BOOST_TEST(other.create_qp(other.pd, cq).handle == 0u);
  BOOST_TEST(mine.call(ControlOpcode::destroy_qp, abi::HandleRequest{qp.handle, 0}, destroyed) == 0);
}

BOOST_AUTO_TEST_CASE(a_handle_does_not_come_back_for_another_object) {
  OpenProgram program(machine);
  const std::uint32_t pd = program.allocate_pd();
  BOOST_REQUIRE(program.call(ControlOpcode::deallocate_pd, pd) == 0);
  BOOST_TEST(program.allocate_pd() != pd);
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, pd) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_forked_child_joins_by_token_only) {
  OpenProgram parent(machine);
  {
    DirectProgram child(machine);
    BOOST_REQUIRE(child.join(parent.opened.token) == 0);
    BOOST_TEST(child.call(ControlOpcode::deallocate_pd, parent.pd) == 0);
  }
  DirectProgram stranger(machine);
  abi::ContextToken guess = parent.opened.token;
  guess.bytes[15] ^= 1;
  BOOST_TEST(stranger.join(guess) == EINVAL);
  BOOST_TEST(stranger.join(abi::ContextToken{}) == EINVAL);
  DirectProgram elsewhere(machine, 1);
  BOOST_TEST(elsewhere.join(parent.opened.token) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_context_lives_until_its_last_connection_closes) {
  DirectProgram child(machine);
  {
    OpenProgram parent(machine);
    BOOST_REQUIRE(parent.create_qp(parent.pd, parent.cq).handle != 0u);
    BOOST_REQUIRE(child.join(parent.opened.token) == 0);
  }
  BOOST_TEST(machine.contexts.all().size() == 1u);
  BOOST_TEST(machine.fabric.devices()[0]->queue_pairs.used() == 1u);
  child.session().context.reset();
  BOOST_TEST(machine.contexts.empty());
  BOOST_TEST(machine.fabric.devices()[0]->queue_pairs.used() == 0u);
  BOOST_TEST(machine.fabric.devices()[0]->completion_queues.used() == 0u);
  BOOST_TEST(machine.fabric.devices()[0]->protection_domains.used() == 0u);
}

BOOST_AUTO_TEST_CASE(each_connection_is_told_of_an_arena_once) {
  OpenProgram parent(machine);
  abi::CreateCqReply cq{};
  const abi::CreateCqRequest request{1, 0, 16, 0};
  BOOST_REQUIRE(parent.call(ControlOpcode::create_cq, request, cq) == 0);
  BOOST_TEST(cq.ring.arena_is_new == 0u);
  BOOST_TEST(parent.reply().descriptors.empty());
  DirectProgram child(machine);
  BOOST_REQUIRE(child.join(parent.opened.token) == 0);
  BOOST_REQUIRE(child.call(ControlOpcode::create_cq, request, cq) == 0);
  BOOST_TEST(cq.ring.arena_is_new == 1u);
  BOOST_TEST(cq.indices.arena_is_new == 0u);  // the same arena, in the same reply
  BOOST_TEST(child.reply().descriptors.size() == 1u);
}

BOOST_AUTO_TEST_CASE(random_messages_harm_nobody) {
  OpenProgram bystander(machine);
  const abi::CreateQpReply qp = bystander.create_qp(bystander.pd, bystander.cq);
  OpenProgram program(machine);
  std::mt19937 random(42);
  for (int round = 0; round < 20'000; ++round) {
    Message message;
    message.length = sizeof(abi::RequestHeader) + random() % 200;
    for (std::size_t i = 0; i < message.length; ++i) {
      message.storage[i] = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 4);
    }
    const abi::RequestHeader header{abi::kControlMagic, static_cast<std::uint32_t>(random() % 40),
                                    static_cast<std::uint32_t>(message.length), 1};
    if (header.opcode == 20 || header.opcode == 22 || header.opcode == 30)
      continue;  // memory by the gigabyte
    std::memcpy(message.storage.data(), &header, sizeof header);
    BOOST_REQUIRE(program.dispatch_raw(message));
  }
  abi::QueryQpReply query{};
  BOOST_TEST(bystander.call(ControlOpcode::query_qp, abi::HandleRequest{qp.handle, 0}, query) == 0);
}

// The room that it had is free then.
BOOST_AUTO_TEST_CASE(a_program_waits_until_what_it_has_closed_is_gone) {
  OpenProgram program(machine);
  Message message = make_message(ControlOpcode::allocate_pd, abi::Empty{});
  program.session().account->begin_ending();
  BOOST_TEST((program.dispatch_once(message) == Dispatched::not_yet));
  program.session().account->finish_ending();
  BOOST_TEST((program.dispatch_once(message) == Dispatched::answered));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace dispatching
}  // namespace urnic::control::test
