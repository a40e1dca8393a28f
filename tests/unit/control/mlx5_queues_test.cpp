// Queues in memory that the program has made (control/mlx5): how the device gets at it, and which it refuses.
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>

#include <array>
#include <boost/test/unit_test.hpp>

#include "device_model/engine/mlx5_rings/shared_receive_ring.hpp"
#include "tests/unit/control/mlx5_program.hpp"

namespace urnic::control::test {
namespace mlx5_queues {

constexpr std::uint32_t kEntries = 16;  // of each queue
constexpr std::size_t kKinds = 4;       // of queues
constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytes = 8 * kPage;
constexpr std::uint64_t kRecordAt = 7 * kPage;  // in Rings::memory

// A program with memory for queues, as libmlx5 makes it.
struct Rings {
  Machine machine;
  OpenMlx5Program program{machine};
  std::byte* const memory = static_cast<std::byte*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::uint32_t pd = program.allocate_pd();

  ~Rings() { munmap(memory, kBytes); }

  std::uint64_t at(std::uint64_t offset) const { return reinterpret_cast<std::uint64_t>(memory) + offset; }

  // Puts the pages that an answer offers in the place of the program's own.
  void exchange() {
    for (std::uint32_t i = 0; i < program.head.page_count; ++i) {
      const abi::QueuePages& pages = program.head.pages[i];
      void* const to = reinterpret_cast<void*>(pages.address);
      BOOST_REQUIRE(mmap(to, pages.length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                         program.reply().descriptors[i], static_cast<off_t>(pages.offset)) == to);
    }
  }

  // As the kernel stand-in: does what an answer asks for first, and sends the command again.
  int make(KernelCommand command) {
    const int error = program.run(command);
    if (error != 0 || program.head.page_action != abi::PageAction::queues_first) return error;
    exchange();
    command.flags |= abi::uverbs_pages_shared;
    return program.run(command);
  }
  // The first word of the answer is the queue's handle, in each command.
  std::uint32_t handle() const {
    std::uint32_t first = 0;
    std::memcpy(&first, program.core.data(), sizeof first);
    return first;
  }

  // With its ring and its record there.
  template <class Answer, class DriverAnswer, class Core, class Driver>
  KernelCommand command(std::uint32_t number, const Core& core, Driver driver, std::uint64_t ring,
                        std::uint64_t record) const {
    driver.buf_addr = at(ring);
    driver.db_addr = at(record);
    return {.number = number,
            .core = bytes_of(core),
            .driver = bytes_of(driver),
            .core_room = sizeof(Answer),
            .driver_room = sizeof(DriverAnswer)};
  }
  // `change` writes into the driver's part.
  template <class Driver, class Change>
  static KernelCommand with(KernelCommand command, const Change& change) {
    Driver driver{};
    std::memcpy(&driver, command.driver.data(), sizeof driver);
    change(driver);
    command.driver = bytes_of(driver);
    return command;
  }
  KernelCommand cq(std::uint64_t ring = 0, std::uint64_t record = kRecordAt) const {
    ib_uverbs_create_cq core{};
    core.cqe = kEntries - 1;
    core.comp_channel = -1;
    mlx5_ib_create_cq driver{};
    driver.cqe_size = 64;
    return command<ib_uverbs_create_cq_resp, mlx5_ib_create_cq_resp>(IB_USER_VERBS_CMD_CREATE_CQ, core,
                                                                     driver, ring, record);
  }
  KernelCommand srq(std::uint64_t ring, std::uint64_t record) const {
    ib_uverbs_create_srq core{};
    core.pd_handle = pd;
    core.max_wr = kEntries - 1;
    core.max_sge = 1;
    mlx5_ib_create_srq driver{};
    return command<ib_uverbs_create_srq_resp, mlx5_ib_create_srq_resp>(IB_USER_VERBS_CMD_CREATE_SRQ, core,
                                                                       driver, ring, record);
  }
  KernelCommand qp(std::uint64_t ring, std::uint64_t record, std::uint32_t cq_handle) const {
    ib_uverbs_create_qp core{};
    core.pd_handle = pd;
    core.send_cq_handle = core.recv_cq_handle = cq_handle;
    core.max_send_wr = core.max_recv_wr = kEntries;
    core.max_send_sge = core.max_recv_sge = 1;
    core.qp_type = IBV_QPT_RC;
    mlx5_ib_create_qp driver{};
    driver.sq_wqe_count = driver.rq_wqe_count = kEntries;
    driver.rq_wqe_shift = 4;
    return command<ib_uverbs_create_qp_resp, mlx5_ib_create_qp_resp>(IB_USER_VERBS_CMD_CREATE_QP, core,
                                                                     driver, ring, record);
  }
  KernelCommand wq(std::uint64_t ring, std::uint64_t record, std::uint32_t cq_handle) const {
    ib_uverbs_ex_create_wq core{};
    core.wq_type = IBV_WQT_RQ;
    core.pd_handle = pd;
    core.cq_handle = cq_handle;
    core.max_wr = kEntries;
    core.max_sge = 1;
    mlx5_ib_create_wq driver{};
    driver.rq_wqe_count = kEntries;
    driver.rq_wqe_shift = 6;
    return command<ib_uverbs_ex_create_wq_resp, mlx5_ib_create_wq_resp>(
        extended(IB_USER_VERBS_EX_CMD_CREATE_WQ), core, driver, ring, record);
  }
  // All commands that make a queue, with its ring and its record there.
  std::array<KernelCommand, kKinds> all(std::uint64_t ring, std::uint64_t record,
                                        std::uint32_t cq_handle) const {
    return {cq(ring, record), srq(ring, record), qp(ring, record, cq_handle), wq(ring, record, cq_handle)};
  }
  // A CQ for others.
  std::uint32_t make_cq() {
    BOOST_REQUIRE(make(cq()) == 0);
    return handle();
  }
  int destroy_cq(std::uint32_t which) {
    ib_uverbs_destroy_cq_resp ended{};
    return program.run(IB_USER_VERBS_CMD_DESTROY_CQ, ib_uverbs_destroy_cq{0, which, 0}, ended);
  }
};

}  // namespace mlx5_queues

BOOST_AUTO_TEST_SUITE(mlx5_queues)

BOOST_FIXTURE_TEST_CASE(each_kind_is_made_in_memory_of_the_program, Rings) {
  const std::uint32_t others = make_cq();
  for (std::size_t i = 0; i < kKinds; ++i) {
    const KernelCommand command = all((i + 1) * kPage, kRecordAt + (i + 1) * 64, others)[i];
    BOOST_TEST_CONTEXT("command " << command.number) {
      BOOST_TEST(make(command) == 0);
      BOOST_TEST((program.head.page_action == abi::PageAction::none));
    }
  }
  const auto counts = program.session().context->counts();
  BOOST_TEST(counts.cq == 2u);
  BOOST_TEST(counts.srq == 1u);
  BOOST_TEST(counts.qp == 2u);
}

// A queue whose doorbells are in a page that the program has allocated (UAR_OBJ_ALLOC).
BOOST_FIXTURE_TEST_CASE(queues_name_a_page_that_is_allocated, Rings) {
  const std::uint32_t others = make_cq();
  const std::uint32_t page = program.part().allocate_uar().value();
  const auto queue_pair = [&](std::uint32_t on) {
    return make(with<mlx5_ib_create_qp>(qp(kPage, kRecordAt + 64, others), [&](mlx5_ib_create_qp& driver) {
      driver.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX;
      driver.bfreg_index = on;
    }));
  };
  BOOST_TEST(queue_pair(0) == EINVAL);  // it belongs to nobody alone
  BOOST_TEST(queue_pair(page + 1) == EINVAL);
  BOOST_TEST(queue_pair(0xFFFFFFFF) == EINVAL);
  BOOST_TEST(queue_pair(page) == 0);
  const auto queue = [&](std::uint16_t on) {
    return make(with<mlx5_ib_create_cq>(cq(2 * kPage, kRecordAt + 128), [&](mlx5_ib_create_cq& driver) {
      driver.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
      driver.uar_page_index = on;
    }));
  };
  BOOST_TEST(queue(0) == EINVAL);
  BOOST_TEST(queue(static_cast<std::uint16_t>(page + 1)) == EINVAL);
  BOOST_TEST(queue(static_cast<std::uint16_t>(page)) == 0);
}

// A queue pair of a thread domain: its doorbell is a register of a page that the program has mapped for it.
BOOST_FIXTURE_TEST_CASE(queue_pairs_name_a_register_of_a_dedicated_page, Rings) {
  const std::uint32_t others = make_cq();
  const auto queue_pair = [&](std::uint32_t on, std::uint32_t more_flags = 0) {
    return make(with<mlx5_ib_create_qp>(qp(kPage, kRecordAt + 64, others), [&](mlx5_ib_create_qp& driver) {
      driver.flags = MLX5_QP_FLAG_BFREG_INDEX | more_flags;
      driver.bfreg_index = on;
    }));
  };
  BOOST_TEST(queue_pair(2) == EINVAL);  // not mapped yet
  abi::MapPagesReply mapped{};
  const std::uint64_t second = std::uint64_t{MLX5_IB_MMAP_ALLOC_WC << 8 | 1} * kPage;
  BOOST_REQUIRE(program.call(ControlOpcode::map_pages, abi::MapPagesRequest{second, kPage, PROT_WRITE, 0},
                             mapped) == 0);
  BOOST_TEST(mapped.offset == (program.part().static_uars() + 1) * kPage);
  BOOST_TEST(queue_pair(1) == EINVAL);
  BOOST_TEST(queue_pair(4) == EINVAL);
  BOOST_TEST(queue_pair(0xFFFFFFFF) == EINVAL);
  BOOST_TEST(queue_pair(3, MLX5_QP_FLAG_UAR_PAGE_INDEX) == EINVAL);
  BOOST_REQUIRE(queue_pair(3) == 0);
  mlx5_ib_create_qp_resp driver{};
  std::memcpy(&driver, program.driver.data(), sizeof driver);
  BOOST_TEST(driver.bfreg_index ==
             (program.part().static_uars() + 1) * engine::UarPages::kRegistersPerPage + 1);
}

// The engine stores whole words into rings and records: into one that is not aligned, a store would not be
// atomic, and on some machines would end the process.
BOOST_FIXTURE_TEST_CASE(rings_and_records_are_aligned, Rings) {
  const std::uint32_t others = make_cq();
  const auto before = program.session().context->counts();
  for (const std::uint64_t off : {1u, 4u, 8u, 32u, 43u}) {
    for (const KernelCommand& command : all(kPage + off, kRecordAt + 64, others)) {
      BOOST_TEST_CONTEXT("command " << command.number << ", ring at " << off) {
        BOOST_TEST(make(command) == EINVAL);
      }
    }
  }
  for (const std::uint64_t off : {1u, 2u, 4u, 7u}) {
    for (const KernelCommand& command : all(kPage, kRecordAt + 64 + off, others)) {
      BOOST_TEST_CONTEXT("command " << command.number << ", record at " << off) {
        BOOST_TEST(make(command) == EINVAL);
      }
    }
  }
  ib_uverbs_resize_cq resize{};
  resize.cq_handle = others;
  resize.cqe = 2 * kEntries - 1;
  mlx5_ib_resize_cq driver{};
  driver.cqe_size = 64;
  KernelCommand command{.number = IB_USER_VERBS_CMD_RESIZE_CQ,
                        .core = bytes_of(resize),
                        .core_room = sizeof(ib_uverbs_resize_cq_resp)};
  driver.buf_addr = at(kPage + 8);
  command.driver = bytes_of(driver);
  BOOST_TEST(make(command) == EINVAL);
  driver.buf_addr = at(kPage + 64);
  command.driver = bytes_of(driver);
  BOOST_TEST(make(command) == 0);
  const auto after = program.session().context->counts();
  BOOST_TEST(after.cq == before.cq);
  BOOST_TEST(after.srq == before.srq);
  BOOST_TEST(after.qp == before.qp);
}

BOOST_FIXTURE_TEST_CASE(memory_outside_of_user_space_is_refused, Rings) {
  const std::uint32_t others = make_cq();
  const std::uint64_t far = (std::uint64_t{1} << 63) - at(0);
  for (const KernelCommand& command : all(far, kRecordAt + 64, others)) {
    BOOST_TEST_CONTEXT("command " << command.number) { BOOST_TEST(make(command) == EFAULT); }
  }
}

// The program says that it has not exchanged them, and it has no file of them.
BOOST_FIXTURE_TEST_CASE(private_memory_that_stays_cannot_be_used, Rings) {
  KernelCommand command = cq();
  command.flags |= abi::uverbs_pages_refused;
  BOOST_TEST(program.run(command) == EOPNOTSUPP);
  // It says that it has exchanged what it was not offered.
  command.flags = abi::uverbs_pages_shared;
  BOOST_TEST(program.run(command) == EINVAL);
  BOOST_TEST(program.session().context->counts().cq == 0u);
}

BOOST_FIXTURE_TEST_CASE(pages_go_back_with_the_last_queue_in_them, Rings) {
  const std::uint32_t first = make_cq();
  BOOST_REQUIRE(make(cq(64 * kEntries, kRecordAt + 64)) == 0);  // the same pages
  const std::uint32_t second = handle();
  BOOST_TEST(destroy_cq(first) == 0);
  BOOST_TEST((program.head.page_action == abi::PageAction::none));
  BOOST_TEST(destroy_cq(second) == 0);
  BOOST_TEST((program.head.page_action == abi::PageAction::queues_back));
  BOOST_TEST(program.head.page_count == 2u);
  BOOST_TEST(program.reply().descriptors.size() == 2u);
  BOOST_TEST(destroy_cq(second) == EINVAL);
}

// A ring over pages of which the device has only some: they cannot be one piece any more.
BOOST_FIXTURE_TEST_CASE(a_ring_half_in_pages_of_another_queue_is_refused, Rings) {
  make_cq();  // has page 0
  ib_uverbs_create_cq core{};
  core.cqe = 63;
  core.comp_channel = -1;
  mlx5_ib_create_cq driver{};
  driver.buf_addr = at(kPage / 2);
  driver.db_addr = at(kRecordAt + 64);
  driver.cqe_size = 64;
  KernelCommand command = cq();
  command.core = bytes_of(core);
  command.driver = bytes_of(driver);
  BOOST_TEST(make(command) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(sizes_of_a_cq, Rings) {
  const auto make_with = [&](std::uint32_t cqe, std::uint32_t cqe_size) {
    ib_uverbs_create_cq core{};
    core.cqe = cqe;
    core.comp_channel = -1;
    mlx5_ib_create_cq driver{};
    driver.buf_addr = at(0);
    driver.db_addr = at(kRecordAt);
    driver.cqe_size = cqe_size;
    KernelCommand command = cq();
    command.core = bytes_of(core);
    command.driver = bytes_of(driver);
    return make(command);
  };
  for (const std::uint32_t wrong : {0u, 1u, 32u, 63u, 96u, 256u, 0xFFFFFFFFu}) {
    BOOST_TEST(make_with(15, wrong) == EINVAL);
  }
  for (const std::uint32_t wrong : {2u, 14u, 16u, (1u << 24) - 1, 0xFFFFFFFEu, 0xFFFFFFFFu}) {
    BOOST_TEST(make_with(wrong, 64) == EINVAL);
  }
  BOOST_TEST(make_with(15, 128) == 0);
}

// libmlx5 fills a WQE with segments, up to 512 bytes, and has one WQE more than asked for.
BOOST_FIXTURE_TEST_CASE(sizes_of_an_srq, Rings) {
  const auto make_with = [&](std::uint32_t max_wr, std::uint32_t max_sge) {
    KernelCommand wanted = srq(0, kRecordAt);
    ib_uverbs_create_srq core{};
    std::memcpy(&core, wanted.core.data(), sizeof core);
    core.max_wr = max_wr;
    core.max_sge = max_sge;
    wanted.core = bytes_of(core);
    return make(wanted);
  };
  for (const auto& [max_wr, max_sge] :
       {std::pair(15u, 32u), {15u, 0xFFFFFFFFu}, {0xFFFFFFFFu, 1u}, {engine::mlx5::kMostSharedSlots, 1u}})
    BOOST_TEST(make_with(max_wr, max_sge) == EINVAL);
  for (const auto& [max_wr, max_sge] : {std::pair(15u, 31u), {0u, 1u}, {15u, 0u}}) {
    BOOST_TEST(make_with(max_wr, max_sge) == 0);
    ib_uverbs_create_srq_resp told{};
    std::memcpy(&told, program.core.data(), sizeof told);
    BOOST_TEST(told.max_wr == max_wr);
    BOOST_TEST(told.max_sge == max_sge);
    ib_uverbs_destroy_srq_resp ended{};
    BOOST_TEST(
        program.run(IB_USER_VERBS_CMD_DESTROY_SRQ, ib_uverbs_destroy_srq{0, told.srq_handle, 0}, ended) == 0);
  }
}

// DPDK's driver makes no receive queue without it.
BOOST_FIXTURE_TEST_CASE(a_cq_may_allow_compression_in_an_offered_format, Rings) {
  const auto make_with = [&](std::uint8_t enabled, std::uint8_t format) {
    return make(with<mlx5_ib_create_cq>(cq(), [&](mlx5_ib_create_cq& driver) {
      driver.cqe_comp_en = enabled;
      driver.cqe_comp_res_format = format;
    }));
  };
  for (const unsigned wrong : {0u, unsigned{MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX}, 3u, 8u, 128u}) {
    BOOST_TEST(make_with(1, static_cast<std::uint8_t>(wrong)) == EINVAL);
  }
  BOOST_TEST(make_with(1, MLX5_IB_CQE_RES_FORMAT_HASH) == 0);
  destroy_cq(handle());
  BOOST_TEST(make_with(1, MLX5_IB_CQE_RES_FORMAT_CSUM) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
