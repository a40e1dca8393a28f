// fork and system() while transfers run, with and without ibv_fork_init, and children that go on with what
// they inherited. `verbs_fork -- DEVICE DEVICE fork-init` calls ibv_fork_init first.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tests/apps/programs/async_events.hpp"
#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/apps/programs/threads.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kLength = 20'000;

struct ForkInit {
  ForkInit() {
    const auto& suite = boost::unit_test::framework::master_test_suite();
    if (suite.argc <= 3 || std::strcmp(suite.argv[3], "fork-init") != 0) return;
    BOOST_TEST_MESSAGE("with ibv_fork_init");
    BOOST_REQUIRE_EQUAL(ibv_fork_init(), 0);
  }
};
BOOST_TEST_GLOBAL_FIXTURE(ForkInit);

// The child's end, whatever it was: 0 if it was a good one.
int wait_for(pid_t child) {
  int status = 0;
  require(waitpid(child, &status, 0) == child, "waitpid: {}", std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Runs `function` in a child; its failures go to stderr.
template <typename Function>
pid_t in_child(Function function) {
  const pid_t child = fork();
  require(child >= 0, "fork: {}", std::strerror(errno));
  if (child > 0) return child;
  int status = 0;
  try {
    function();
  } catch (const std::exception& error) {
    fmt::print(stderr, "the child failed: {}\n", error.what());
    status = 1;
  }
  _exit(status);
}

// Carries the address of an object from one process to the other.
class Pipe {
 public:
  Pipe() { require(pipe(ends_) == 0, "pipe: {}", std::strerror(errno)); }
  ~Pipe() {
    for (const int end : ends_) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  template <typename Object>
  void put(Object* object) {
    require(write(ends_[1], &object, sizeof object) == sizeof object, "write: {}", std::strerror(errno));
  }
  template <typename Object>
  Object* get() {
    Object* object = nullptr;
    require(read(ends_[0], &object, sizeof object) == sizeof object, "read: {}", std::strerror(errno));
    return object;
  }

 private:
  int ends_[2];
};

void write_once(Endpoint& from, const Memory& source, const Memory& target, std::uint64_t seed) {
  fill(source.bytes(0, kLength), seed);
  ibv_sge segment = source.segment(0, kLength);
  ibv_send_wr request = signaled_request(IBV_WR_RDMA_WRITE, segment);
  request.wr.rdma.remote_addr = target.address();
  request.wr.rdma.rkey = target.rkey();
  from.post(request);
  const ibv_wc completion = from.wait_send();
  require(completion.status == IBV_WC_SUCCESS, "{}", ibv_wc_status_str(completion.status));
  const auto wrong = difference(target.bytes(0, kLength), seed);
  require(!wrong, "write {}: {}", seed, wrong.value_or(""));
}

// Transfers that go on until told to end, in a thread.
struct RunningTransfers {
  Pair pair;
  Memory source{pair.left_device.pd(), kLength};
  Memory target{pair.right_device.pd(), kLength};
  std::atomic<std::uint64_t> done{0};
  Threads threads;

  RunningTransfers() {
    threads.start([this] {
      while (!threads.stop()) write_once(pair.left, source, target, done++);
    });
    while (done < 10 && !threads.failed()) std::this_thread::yield();
  }

  // Waits until more has been transferred, so that what was done before is seen not to have ended it.
  void see_progress() {
    const std::uint64_t before = done;
    while (done < before + 10 && !threads.failed()) std::this_thread::yield();
  }
};

BOOST_FIXTURE_TEST_CASE(system_while_transfers_run, RunningTransfers) {
  for (int i = 0; i < 50; ++i) {
    BOOST_REQUIRE_EQUAL(system("exit 7") >> 8, 7);
    see_progress();
  }
  threads.finish();
}

// The child has a copy of the parent's memory as it was; what is written there later by the device is the
// parent's alone, on pages that both still share too.
BOOST_FIXTURE_TEST_CASE(fork_while_transfers_run, RunningTransfers) {
  Pages own(1 << 16);
  fill({own.data(), own.size()}, 99);
  for (int i = 0; i < 50; ++i) {
    const pid_t child = in_child([&] {
      const auto wrong = difference({own.data(), own.size()}, 99);
      require(!wrong, "the child's memory: {}", wrong.value_or(""));
      std::memset(own.data(), 0, own.size());
    });
    see_progress();
    BOOST_TEST(wait_for(child) == 0);
  }
  const auto wrong = difference({own.data(), own.size()}, 99);
  BOOST_TEST(!wrong, wrong.value_or(""));
  threads.finish();
}

// The child's end is not the parent's: the connection that both hold belongs to the parent.
BOOST_AUTO_TEST_CASE(child_that_cleans_up) {
  Pair pair;
  const Memory source(pair.left_device.pd(), kLength), target(pair.right_device.pd(), kLength);
  write_once(pair.left, source, target, 1);
  const pid_t child = in_child([&] { ibv_close_device(pair.left_device.context()); });
  BOOST_TEST(wait_for(child) == 0);
  write_once(pair.left, source, target, 2);
}

// With libmlx5 queues are private memory of the process that makes them, as on a ConnectX: a child of fork
// has a copy of them as they were, or with ibv_fork_init nothing at all.
boost::test_tools::assertion_result children_have_the_queues(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result have(!is_driven_by_libmlx5());
  have.message() << "libmlx5's queues are their own process's";
  return have;
}

// A child that polls what its parent posted: the data belongs into the parent's memory, of which the child
// has a copy, or with ibv_fork_init nothing at all. The first two have arrived before the child is made, the
// others after it is known to the device.
BOOST_AUTO_TEST_CASE(child_that_polls_the_parents_receives,
                     *boost::unit_test::precondition(children_have_the_queues)) {
  constexpr std::size_t kSmall = 8;
  constexpr std::uint64_t kMessages = 6;
  Pair pair;
  const Memory source(pair.left_device.pd(), kSmall);
  const Memory target(pair.right_device.pd(), kMessages * kSmall, IBV_ACCESS_LOCAL_WRITE);
  const auto send = [&](std::uint64_t message) {
    fill(source.bytes(0, kSmall), message);
    ibv_sge segment = source.segment(0, kSmall);
    ibv_send_wr request = signaled_request(IBV_WR_SEND, segment);
    pair.left.post(request);
    const ibv_wc completion = pair.left.wait_send();
    require(completion.status == IBV_WC_SUCCESS, "{}", ibv_wc_status_str(completion.status));
  };
  // All before the child is made: which request a receive is of, each process knows of its own.
  for (std::uint64_t message = 0; message < kMessages; ++message) {
    pair.right.post_receive(message, {target.segment(message * kSmall, kSmall)});
  }
  send(0);
  send(1);
  const pid_t child = in_child([&] {
    for (std::uint64_t message = 0; message < kMessages; ++message) {
      const ibv_wc received = pair.right.wait_receive();
      require(received.status == IBV_WC_SUCCESS && received.wr_id == message && received.byte_len == kSmall,
              "receive {}: {}", received.wr_id, ibv_wc_status_str(received.status));
    }
  });
  for (std::uint64_t message = 2; message < kMessages; ++message) send(message);
  BOOST_TEST(wait_for(child) == 0);
  for (std::uint64_t message = 0; message < kMessages; ++message) {
    const auto wrong = difference(target.bytes(message * kSmall, kSmall), message);
    BOOST_TEST(!wrong, "message " << message << ": " << wrong.value_or(""));
  }
}

// Both make a QP after the fork, at the same address, and with events that nobody reads. Each waits for the
// end of its own events only when it destroys its QP.
BOOST_AUTO_TEST_CASE(events_of_objects_at_one_address) {
  const Device device(device_names().first);
  Pipe from_child, from_parent;
  const auto with_an_event = [&](auto then) {
    Endpoint endpoint(device, {});
    endpoint.connect(endpoint.address());
    ibv_qp_attr drain{};
    drain.qp_state = IBV_QPS_SQD;
    drain.en_sqd_async_notify = 1;
    require(ibv_modify_qp(endpoint.qp(), &drain, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0, "to SQD");
    require(becomes_readable(device.context()->async_fd, kPatience), "no event");
    then(endpoint);
  };
  ibv_qp* childs = nullptr;
  const pid_t child = in_child([&] {
    with_an_event([&](const Endpoint& endpoint) {
      from_child.put(endpoint.qp());
      require(from_parent.get<ibv_qp>() != nullptr, "the parent has no QP");
    });
  });
  with_an_event([&](const Endpoint& endpoint) {
    childs = from_child.get<ibv_qp>();
    BOOST_TEST(childs == endpoint.qp());  // else this tests nothing
  });
  from_parent.put(childs);
  BOOST_TEST(wait_for(child) == 0);
}

// As above, with CQs on one channel. The parent has read its event, and the child's is in the channel, when
// the parent destroys its CQ: that waits for one acknowledgement, and takes nothing out.
BOOST_AUTO_TEST_CASE(completion_events_of_queues_at_one_address) {
  const Device device(device_names().first);
  const std::unique_ptr<ibv_comp_channel, Destroyer<ibv_destroy_comp_channel>> channel(
      ibv_create_comp_channel(device.context()));
  BOOST_REQUIRE(channel);
  Pipe from_child, from_parent;
  // A receive that is flushed makes an event.
  const auto with_an_event = [&](auto then) {
    const CqOwner cq(ibv_create_cq(device.context(), 4, nullptr, channel.get(), 0));
    require(cq != nullptr && ibv_req_notify_cq(cq.get(), 0) == 0, "no CQ: {}", std::strerror(errno));
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = cq.get();
    attributes.cap = {1, 1, 1, 1, 0};
    attributes.qp_type = IBV_QPT_RC;
    const QpOwner qp(ibv_create_qp(device.pd(), &attributes));
    require(qp != nullptr, "no QP: {}", std::strerror(errno));
    ibv_qp_attr init{};
    init.qp_state = IBV_QPS_INIT;
    init.port_num = 1;
    require(ibv_modify_qp(qp.get(), &init,
                          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
            "to INIT");
    ibv_recv_wr receive{};
    ibv_recv_wr* refused = nullptr;
    require(ibv_post_recv(qp.get(), &receive, &refused) == 0, "no receive");
    ibv_qp_attr error{};
    error.qp_state = IBV_QPS_ERR;
    require(ibv_modify_qp(qp.get(), &error, IBV_QP_STATE) == 0, "to ERR");
    require(becomes_readable(channel->fd, kPatience), "no event");
    then(cq.get());
  };
  const auto read_event = [&](const ibv_cq* cq) {
    require(becomes_readable(channel->fd, kPatience), "no event");
    ibv_cq* reported = nullptr;
    void* ignored = nullptr;
    require(ibv_get_cq_event(channel.get(), &reported, &ignored) == 0 && reported == cq, "not the event");
    ibv_ack_cq_events(reported, 1);
    require(!becomes_readable(channel->fd, std::chrono::milliseconds(0)), "one event more");
  };
  const pid_t child = in_child([&] {
    require(from_parent.get<ibv_cq>() != nullptr, "the parent has no CQ");
    with_an_event([&](ibv_cq* cq) {
      from_child.put(cq);
      require(from_parent.get<ibv_cq>() != nullptr, "the parent's CQ has not gone");
      read_event(cq);
    });
  });
  ibv_cq* childs = nullptr;
  with_an_event([&](ibv_cq* cq) {
    read_event(cq);
    from_parent.put(cq);
    childs = from_child.get<ibv_cq>();
    BOOST_TEST(childs == cq);  // else this tests nothing
  });
  from_parent.put(childs);
  BOOST_TEST(wait_for(child) == 0);
}

// What rdma-core's own tests do: the context is opened before the fork, all the rest is made after it.
BOOST_AUTO_TEST_CASE(child_that_goes_on_with_the_context) {
  const DeviceNames names = device_names();
  const Device left(names.first), right(names.second);
  const auto transfer = [&](std::uint64_t seed) {
    const PdOwner left_pd(ibv_alloc_pd(left.context()));
    require(left_pd != nullptr, "no protection domain");
    const Memory source(left.pd(), kLength), target(right.pd(), kLength);
    Endpoint from(left, {}), to(right, {});
    from.connect(to.address());
    to.connect(from.address());
    for (std::uint64_t i = 0; i < 20; ++i) write_once(from, source, target, seed + i);
  };
  const pid_t child = in_child([&] { transfer(1000); });
  transfer(2000);
  BOOST_TEST(wait_for(child) == 0);
  transfer(3000);
}

}  // namespace
}  // namespace urnic::apps
