// A device, a protection domain and regions in another process (ibv_import_device(3)), as a program does that
// hands its descriptor to a child. The test framework runs in the parent; what goes wrong in the child is the
// child's exit status and a line.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdio>
#include <functional>

#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kLength = 10000;

// Runs `work` in a child that ends without taking anything down.
void in_child(const std::function<void()>& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    try {
      work();
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      _exit(1);
    }
  }
  int status = 0;
  BOOST_REQUIRE(waitpid(pid, &status, 0) == pid);
  BOOST_REQUIRE(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 0);
}

void expect_success(const ibv_wc& completion) {
  require(completion.status == IBV_WC_SUCCESS, "a request ended with: {}",
          ibv_wc_status_str(completion.status));
}

void expect_pattern(std::span<const std::byte> bytes, std::uint64_t seed) {
  const auto wrong = difference(bytes, seed);
  require(!wrong, "{}", wrong.value_or(""));
}

struct Original {
  Pair pair;
  Memory left{pair.left_device.pd(), kLength};
  Memory place{pair.left_device.pd(), kLength, IBV_ACCESS_LOCAL_WRITE};  // short receives: by completion
  Memory right{pair.right_device.pd(), kLength};

  Original() { fill(left.bytes(0, kLength), 1); }

  void still_works() {
    fill(right.bytes(0, kLength), 9);
    ibv_sge segment = left.segment(0, 1000);
    pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, right.address(), right.rkey()));
    BOOST_TEST(pair.left.wait_send().status == IBV_WC_SUCCESS);
  }
};

// What a child has of it: the same PD and region, a QP of its own on them, connected with one elsewhere.
struct Import {
  explicit Import(const Original& original)
      : device(ibv_import_device(dup(original.pair.left_device.context()->cmd_fd)),
               original.pair.left_device.pd()->handle),
        region(ibv_import_mr(device.pd(), original.left.mr()->handle)),
        place(ibv_import_mr(device.pd(), original.place.mr()->handle)) {
    require(region != nullptr && place != nullptr, "ibv_import_mr: errno {}", errno);
    require(region->lkey == original.left.lkey() && region->rkey == original.left.rkey() &&
                region->length == kLength && region->addr == nullptr,
            "the region is another one");
    here.connect(there.address());
    there.connect(here.address());
  }

  Device device;
  ibv_mr* region;
  ibv_mr* place;
  Device other{device_names().second};
  Memory memory{other.pd(), kLength};
  Endpoint here{device, {}};
  Endpoint there{other, {}};
};

BOOST_FIXTURE_TEST_CASE(a_child_uses_its_parents_region, Original) {
  in_child([this] {
    auto& import = *new Import(*this);
    fill(left.bytes(0, kLength), 77);  // the child's copies: the one nobody must see, the other nobody change
    fill(place.bytes(0, kLength), 77);
    ibv_sge from{left.address(), kLength, import.region->lkey};
    import.here.post(rdma_request(IBV_WR_RDMA_WRITE, from, import.memory.address(), import.memory.rkey()));
    expect_success(import.here.wait_send());
    expect_pattern(import.memory.bytes(0, kLength), 1);
    // Short enough for a completion, and too long.
    for (const std::uint32_t length : {8u, 4000u}) {
      fill(import.memory.bytes(0, length), length);
      import.here.post_receive(1, {{ place.address(length), length, import.place->lkey }});
      ibv_sge sent = import.memory.segment(0, length);
      import.there.post(send_request(sent));
      expect_success(import.there.wait_send());
      expect_success(import.here.wait_receive());
    }
    expect_pattern(place.bytes(0, kLength), 77);
  });
  BOOST_TEST(!difference(place.bytes(8, 8), 8));
  BOOST_TEST(!difference(place.bytes(4000, 4000), 4000));
  still_works();
}

// An event names the object by its address, which means nothing in another process.
BOOST_FIXTURE_TEST_CASE(events_go_to_whose_queue_pair_it_is, Original) {
  in_child([this] {
    auto& import = *new Import(*this);
    ibv_sge segment = import.memory.segment(0, 8);
    import.there.post(rdma_request(IBV_WR_RDMA_WRITE, segment, left.address(), import.region->rkey + 1));
    require(import.there.wait_send().status == IBV_WC_REM_ACCESS_ERR, "a wrong key was taken");
    ibv_async_event event{};
    require(ibv_get_async_event(import.device.context(), &event) == 0, "no event");
    require(event.event_type == IBV_EVENT_QP_ACCESS_ERR && event.element.qp == import.here.qp(),
            "event {} of another object", static_cast<int>(event.event_type));
    ibv_ack_async_event(&event);
  });
  pollfd events{pair.left_device.context()->async_fd, POLLIN, 0};
  BOOST_TEST(poll(&events, 1, 0) == 0);
  still_works();
}

BOOST_FIXTURE_TEST_CASE(what_is_not_there_is_not_imported, Original) {
  ibv_context* imported = ibv_import_device(dup(pair.left_device.context()->cmd_fd));
  BOOST_REQUIRE(imported != nullptr);
  BOOST_TEST(ibv_import_pd(imported, 0xFFFF) == nullptr);
  BOOST_TEST(errno == EINVAL);
  ibv_pd* pd = ibv_import_pd(imported, pair.left_device.pd()->handle);
  BOOST_REQUIRE(pd != nullptr);
  BOOST_TEST(ibv_import_mr(pd, 0xFFFF) == nullptr);
  ibv_mr* mr = ibv_import_mr(pd, left.mr()->handle);
  BOOST_REQUIRE(mr != nullptr);
  ibv_unimport_mr(mr);
  ibv_unimport_pd(pd);
  BOOST_TEST(ibv_close_device(imported) == 0);
  still_works();
  BOOST_TEST(ibv_import_device(STDIN_FILENO) == nullptr);
}

}  // namespace
}  // namespace urnic::apps
