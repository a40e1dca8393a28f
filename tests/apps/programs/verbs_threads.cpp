// Many threads on one QP, on one completion queue, and creating and destroying objects at once.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>

#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/apps/programs/threads.hpp"

namespace urnic::apps {
namespace {

constexpr unsigned kThreads = 8;
constexpr std::uint64_t kRounds = 2000;
constexpr std::size_t kLength = 3001;

ibv_send_wr write_request(ibv_sge& segment, const Memory& target, std::size_t offset) {
  ibv_send_wr request = signaled_request(IBV_WR_RDMA_WRITE, segment);
  request.wr.rdma.remote_addr = target.address(offset);
  request.wr.rdma.rkey = target.rkey();
  return request;
}

// What each thread has been told of its requests, by whichever thread polled.
struct Progress {
  std::array<std::atomic<std::uint64_t>, kThreads> completed{};

  void take(const ibv_wc& completion) {
    require(completion.status == IBV_WC_SUCCESS, "{}", ibv_wc_status_str(completion.status));
    const std::uint64_t thread = completion.wr_id >> 32, round = completion.wr_id & 0xFFFFFFFF;
    require(thread < kThreads, "the completion of an unknown thread {}", thread);
    // A thread has one request under way, so its completions come in order, whichever thread polls them.
    const std::uint64_t before = completed[thread].exchange(round + 1);
    require(before == round, "thread {}: completion of round {} after {} of them", thread, round, before);
  }
};

// Polls for everybody until the own request is done.
void poll_until_done(ibv_cq* cq, Progress& progress, unsigned thread, std::uint64_t round) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (progress.completed[thread] <= round) {
    std::array<ibv_wc, 4> completions;
    const int count = ibv_poll_cq(cq, completions.size(), completions.data());
    require(count >= 0, "ibv_poll_cq returned {}", count);
    for (int i = 0; i < count; ++i) progress.take(completions[static_cast<std::size_t>(i)]);
    require(std::chrono::steady_clock::now() < deadline, "thread {}: no completion of round {}", thread,
            round);
  }
}

// Writes to the thread's own place and reads it back by RDMA from time to time.
void write_rounds(Endpoint& endpoint, const Memory& source, const Memory& target, Progress& progress,
                  unsigned thread) {
  const std::size_t place = thread * kLength;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const std::uint64_t seed = thread * kRounds + round;
    fill(source.bytes(place, kLength), seed);
    ibv_sge segment = source.segment(place, kLength);
    ibv_send_wr request = write_request(segment, target, place);
    request.wr_id = std::uint64_t{thread} << 32 | round;
    endpoint.post(request);
    poll_until_done(endpoint.send_cq(), progress, thread, round);
    const auto wrong = difference(target.bytes(place, kLength), seed);
    require(!wrong, "thread {}, round {}: {}", thread, round, wrong.value_or(""));
  }
}

BOOST_AUTO_TEST_CASE(many_threads_on_one_qp) {
  Pair pair;
  const Memory source(pair.left_device.pd(), kThreads * kLength);
  const Memory target(pair.right_device.pd(), kThreads * kLength);
  Progress progress;
  Threads threads;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    threads.start([&, thread] { write_rounds(pair.left, source, target, progress, thread); });
  }
  threads.join();
  for (const auto& completed : progress.completed) BOOST_TEST(completed == kRounds);
}

// Receives are posted by some threads while others poll and others send: each message arrives once.
BOOST_AUTO_TEST_CASE(many_threads_on_both_queues) {
  constexpr std::uint64_t messages = 8000;
  Pair pair;
  const Memory source(pair.left_device.pd(), 4096), target(pair.right_device.pd(), 128 * 64);
  std::atomic<std::uint64_t> to_post{0}, to_send{0}, sent{0}, received{0};
  std::atomic<std::int64_t> posted{0};
  std::vector<std::atomic<bool>> seen(messages);
  const auto post_receives = [&] {
    for (std::uint64_t i = to_post++; i < messages; i = to_post++) {
      const auto slot = static_cast<std::size_t>(i % 128);
      while (posted.load() - static_cast<std::int64_t>(received.load()) >= 100) std::this_thread::yield();
      ++posted;
      pair.right.post_receive(i, {target.segment(slot * 64, 64)});
    }
  };
  const auto send = [&] {
    for (std::uint64_t i = to_send++; i < messages; i = to_send++) {
      while (i >= sent.load() + 100) std::this_thread::yield();
      ibv_sge segment = source.segment(0, 64);
      ibv_send_wr request = signaled_request(IBV_WR_SEND_WITH_IMM, segment);
      request.imm_data = static_cast<std::uint32_t>(i);
      pair.left.post(request);
    }
  };
  const auto poll = [&](ibv_cq* cq, std::atomic<std::uint64_t>& count, bool is_receive) {
    const auto deadline = std::chrono::steady_clock::now() + 2 * kPatience;
    while (count < messages) {
      require(std::chrono::steady_clock::now() < deadline, "{} of {} completions came", count.load(),
              messages);
      ibv_wc completion{};
      if (ibv_poll_cq(cq, 1, &completion) != 1) continue;
      require(completion.status == IBV_WC_SUCCESS, "{}", ibv_wc_status_str(completion.status));
      if (is_receive) {
        require(completion.imm_data < messages, "immediate value {}", completion.imm_data);
        require(!seen[completion.imm_data].exchange(true), "message {} came twice", completion.imm_data);
      }
      ++count;
    }
  };
  Threads threads;
  for (int i = 0; i < 2; ++i) {
    threads.start(post_receives);
    threads.start(send);
    threads.start([&] { poll(pair.left.send_cq(), sent, false); });
    threads.start([&] { poll(pair.right.receive_cq(), received, true); });
  }
  threads.join();
  BOOST_TEST(sent == messages);
  BOOST_TEST(received == messages);
}

// Each thread has a QP of its own; all complete to one queue, and all poll it.
BOOST_AUTO_TEST_CASE(many_threads_on_one_cq) {
  const DeviceNames names = device_names();
  const Device left(names.first), right(names.second);
  const CqOwner shared(ibv_create_cq(left.context(), 1024, nullptr, nullptr, 0));
  BOOST_REQUIRE(shared != nullptr);
  const EndpointOptions options;
  std::vector<std::unique_ptr<Endpoint>> lefts, rights;
  for (unsigned i = 0; i < kThreads; ++i) {
    lefts.push_back(std::make_unique<Endpoint>(left, options, shared.get(), shared.get()));
    rights.push_back(std::make_unique<Endpoint>(right, options));
    lefts[i]->connect(rights[i]->address());
    rights[i]->connect(lefts[i]->address());
  }
  const Memory source(left.pd(), kThreads * kLength), target(right.pd(), kThreads * kLength);
  Progress progress;
  Threads threads;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    threads.start([&, thread] { write_rounds(*lefts[thread], source, target, progress, thread); });
  }
  threads.join();
}

// One life of every kind of object: created, used, destroyed.
void live_once(const Device& left, const Device& right, std::uint64_t seed) {
  const Memory source(left.pd(), kLength), target(right.pd(), kLength);
  EndpointOptions options;
  options.sleeps = seed % 2 == 0;
  options.capacity.max_send_wr = 1 + static_cast<std::uint32_t>(seed % 64);
  Endpoint from(left, options), to(right, options);
  from.connect(to.address());
  to.connect(from.address());
  fill(source.bytes(0, kLength), seed);
  ibv_sge segment = source.segment(0, kLength);
  from.post(write_request(segment, target, 0));
  const ibv_wc completion = from.wait_send();
  require(completion.status == IBV_WC_SUCCESS, "{}", ibv_wc_status_str(completion.status));
  const auto wrong = difference(target.bytes(0, kLength), seed);
  require(!wrong, "{}", wrong.value_or(""));
  // Some are destroyed with work under way.
  if (seed % 3 == 0) from.post(write_request(segment, target, 0));
}

BOOST_AUTO_TEST_CASE(objects_come_and_go_on_one_context) {
  const DeviceNames names = device_names();
  const Device left(names.first), right(names.second);
  Threads threads;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    threads.start([&, thread] {
      for (std::uint64_t round = 0; round < 60; ++round) live_once(left, right, thread * 1000 + round);
    });
  }
  threads.join();
}

BOOST_AUTO_TEST_CASE(contexts_come_and_go) {
  const DeviceNames names = device_names();
  Threads threads;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    threads.start([&, thread] {
      for (std::uint64_t round = 0; round < 15; ++round) {
        const Device left(names.first), right(names.second);
        live_once(left, right, thread * 1000 + round);
      }
    });
  }
  threads.join();
}

// A parent domain whose thread domain says that one thread at a time uses what is made with it
// (ibv_alloc_td(3)). A ConnectX has a doorbell page for each.
struct ThreadDomain {
  explicit ThreadDomain(const Device& device) {
    ibv_td_init_attr nothing{};
    td = ibv_alloc_td(device.context(), &nothing);
    BOOST_REQUIRE(td != nullptr);
    ibv_parent_domain_init_attr attributes{};
    attributes.pd = device.pd();
    attributes.td = td;
    pd = ibv_alloc_parent_domain(device.context(), &attributes);
    BOOST_REQUIRE(pd != nullptr);
  }
  ~ThreadDomain() {
    ibv_dealloc_pd(pd);
    ibv_dealloc_td(td);
  }
  ThreadDomain(const ThreadDomain&) = delete;
  ThreadDomain& operator=(const ThreadDomain&) = delete;

  ibv_td* td = nullptr;
  ibv_pd* pd = nullptr;
};

BOOST_AUTO_TEST_CASE(queue_pairs_of_thread_domains_send) {
  const Device left(device_names().first);
  const Device right(device_names().second);
  const Memory source(left.pd(), kLength);
  const Memory target(right.pd(), kLength);
  for (std::uint64_t round = 0; round < 2; ++round) {
    std::array<std::unique_ptr<ThreadDomain>, 5> domains;
    for (auto& each : domains) {
      each = std::make_unique<ThreadDomain>(left);
      EndpointOptions options;
      options.pd = each->pd;
      Endpoint here(left, options);
      Endpoint there(right, {});
      here.connect(there.address());
      there.connect(here.address());
      for (std::uint64_t seed = 1; seed < 20; ++seed) {
        fill(source.bytes(0, kLength), seed);
        ibv_sge segment = source.segment(0, kLength);
        here.post(write_request(segment, target, 0));
        BOOST_REQUIRE_EQUAL(here.wait_send().status, IBV_WC_SUCCESS);
        BOOST_TEST(!difference(target.bytes(0, kLength), seed));
      }
    }
  }
}

}  // namespace
}  // namespace urnic::apps
