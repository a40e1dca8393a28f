// Memory of queues that libmlx5 has made, on a device with the face mlx5: it becomes the device's in place,
// and the program notices nothing.
#include <infiniband/mlx5dv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "tests/apps/programs/device.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/apps/programs/threads.hpp"

namespace urnic::apps {
namespace {

constexpr int kEntries = 60;

struct Opened {
  Device device{device_names().first};
  ibv_context* context = device.context();
};

CqOwner make_cq(ibv_context* context) {
  CqOwner cq(ibv_create_cq(context, kEntries, nullptr, nullptr, 0));
  require(cq != nullptr, "ibv_create_cq: {}", std::strerror(errno));
  return cq;
}

mlx5dv_cq insides(ibv_cq* cq) {
  mlx5dv_cq known{};
  mlx5dv_obj object{};
  object.cq = {cq, &known};
  require(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ) == 0, "mlx5dv_init_obj");
  return known;
}

std::size_t bytes_of(const mlx5dv_cq& cq) { return std::size_t{cq.cqe_cnt} * cq.cqe_size; }

// How many mappings of this process are of memory for queues.
std::ptrdiff_t shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::ptrdiff_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("/memfd:urnic-queues") != line.npos;
  return count;
}

// As libmlx5 makes them before it names them: no CQE is there yet (opcode 15), and the consumer index is 0.
// The record's other word, which asks for events, is the device's to begin with.
void require_new(const mlx5dv_cq& cq) {
  const auto* const bytes = static_cast<const unsigned char*>(cq.buf);
  for (std::size_t i = 0; i < cq.cqe_cnt; ++i)
    require(bytes[i * cq.cqe_size + cq.cqe_size - 1] >> 4 == 15, "CQE {} is there", i);
  require(cq.dbrec[0] == 0, "the consumer index is {:x}", cq.dbrec[0]);
}

int in_child(int (*function)(const mlx5dv_cq&), const mlx5dv_cq& cq) {
  const pid_t child = fork();
  require(child >= 0, "fork: {}", std::strerror(errno));
  if (child == 0) _exit(function(cq));
  int status = 0;
  require(waitpid(child, &status, 0) == child, "waitpid: {}", std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Dirties what the next queue may get.
void come_and_go(ibv_context* context, unsigned times, unsigned at_once) {
  for (unsigned i = 0; i < times; ++i) {
    std::vector<CqOwner> queues;
    for (unsigned j = 0; j < at_once; ++j) {
      queues.push_back(make_cq(context));
      const mlx5dv_cq cq = insides(queues.back().get());
      require_new(cq);
      cq.dbrec[0] = cq.dbrec[1] = 0x01000000;  // the consumer has read one
    }
  }
}

// Memory that other processes may have, too, as an allocator of the program's own.
void* shared_memory(std::size_t size, void*) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}
void keep(void*, void*) {}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mlx5_queue_memory, Opened)

BOOST_AUTO_TEST_CASE(pages_are_shared_while_a_queue_is_in_them) {
  const auto before = shared_mappings();
  CqOwner first = make_cq(context);
  const auto with_first = shared_mappings();
  BOOST_TEST(with_first > before);
  require_new(insides(first.get()));
  CqOwner second = make_cq(context);  // its record is in the first one's page
  first.reset();
  require_new(insides(second.get()));
  BOOST_TEST(shared_mappings() > before);
  second.reset();
  BOOST_TEST(shared_mappings() == before);
}

BOOST_AUTO_TEST_CASE(threads_make_queues) {
  const auto before = shared_mappings();
  Threads threads;
  for (unsigned i = 0; i < 4; ++i) threads.start([&] { come_and_go(context, 10, 40); });
  threads.join();
  BOOST_TEST(shared_mappings() == before);
}

BOOST_AUTO_TEST_CASE(a_forked_child_has_a_copy) {
  const CqOwner queue = make_cq(context);
  const mlx5dv_cq cq = insides(queue.get());
  auto* const bytes = static_cast<unsigned char*>(cq.buf);
  bytes[0] = 77;
  const int end = in_child(
      [](const mlx5dv_cq& childs) {
        auto* const own = static_cast<unsigned char*>(childs.buf);
        if (own[0] != 77) return 1;
        std::fill_n(own, bytes_of(childs), static_cast<unsigned char>(88));
        childs.dbrec[0] = 88;
        return shared_mappings() == 0 ? 0 : 2;
      },
      cq);
  BOOST_TEST(end == 0);
  BOOST_TEST(bytes[0] == 77);
  BOOST_TEST(cq.dbrec[0] == 0u);
}

// A queue that is refused when its pages have been shared, and a device that is closed then: the next one
// gets the same memory.
BOOST_AUTO_TEST_CASE(pages_of_a_closed_device_are_used_again) {
  for (unsigned i = 0; i < 20; ++i) {
    const Device other(device_names().first);
    BOOST_TEST(ibv_create_cq(other.context(), kEntries, nullptr, nullptr, 1000) == nullptr);
    BOOST_TEST(errno == EINVAL);
  }
  for (unsigned i = 0; i < 20; ++i) {
    const Device other(device_names().first);
    require_new(insides(make_cq(other.context()).get()));
  }
}

BOOST_AUTO_TEST_CASE(queues_of_the_greatest_size) {
  const ibv_device_attr limits = device.attributes();
  const CqOwner cq(ibv_create_cq(context, limits.max_cqe, nullptr, nullptr, 0));
  BOOST_REQUIRE(cq != nullptr);
  BOOST_TEST(cq->cqe == limits.max_cqe);
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = static_cast<std::uint32_t>(limits.max_srq_wr);
  attributes.attr.max_sge = 1;
  ibv_srq* const srq = ibv_create_srq(device.pd(), &attributes);
  BOOST_REQUIRE(srq != nullptr);
  BOOST_TEST(ibv_destroy_srq(srq) == 0);
}

BOOST_AUTO_TEST_CASE(shared_memory_is_refused) {
  mlx5dv_ctx_allocators allocators{};
  allocators.alloc = shared_memory;
  allocators.free = keep;
  BOOST_REQUIRE(mlx5dv_set_context_attr(context, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &allocators) == 0);
  BOOST_TEST(ibv_create_cq(context, kEntries, nullptr, nullptr, 0) == nullptr);
  BOOST_TEST(errno == EOPNOTSUPP);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::apps
