// What programs do to a device with the face mlx5 without queues, by the distribution's libibverbs and
// libmlx5: commands by write(2) and ioctl(2), doorbell pages by mmap(2), from threads and forked children.
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/apps/programs/device.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

struct Opened {
  Device device{device_names().first};
  ibv_context* context = device.context();
  alignas(4096) std::array<char, 8192> memory{};
};

ibv_ah_attr address(const Device& device) {
  ibv_ah_attr attributes{};
  attributes.is_global = 1;
  attributes.port_num = 1;
  attributes.grh.sgid_index = kGidIndex;
  attributes.grh.hop_limit = 64;
  attributes.grh.dgid = device.gid();
  return attributes;
}

// Registers and deregisters memory of its own.
void use_memory(ibv_pd* pd, unsigned times) {
  std::vector<char> memory(3 * 4096);
  std::uint32_t last = 0;
  for (unsigned i = 0; i < times; ++i) {
    const MrOwner region(ibv_reg_mr(pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE));
    require(region != nullptr, "ibv_reg_mr: {}", std::strerror(errno));
    require(region->lkey != last, "the key of a region that is gone: {}", last);
    last = region->lkey;
  }
}

// The child's end: 0 if it was a good one.
template <typename Function>
int in_child(Function function) {
  const pid_t child = fork();
  require(child >= 0, "fork: {}", std::strerror(errno));
  if (child == 0) {
    int status = 0;
    try {
      function();
    } catch (const std::exception& error) {
      fmt::print(stderr, "the child failed: {}\n", error.what());
      status = 1;
    }
    _exit(status);
  }
  int status = 0;
  require(waitpid(child, &status, 0) == child, "waitpid: {}", std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// A command as the kernel's ABI has it, with all its parts in the program's hands: ib_uverbs_query_device,
// and others that look like it.
struct QueryDevice {
  struct {
    ib_uverbs_cmd_hdr header;
    std::uint64_t response;
  } written{};
  ib_uverbs_query_device_resp answer{};

  explicit QueryDevice(std::uint32_t number = IB_USER_VERBS_CMD_QUERY_DEVICE) {
    written.header.command = number;
    written.header.in_words = sizeof written / 4;
    written.header.out_words = sizeof answer / 4;
    written.response = reinterpret_cast<std::uint64_t>(&answer);
  }
  // 0 or an errno.
  int write_to(const ibv_context* context, std::size_t length = sizeof written) const {
    return write(context->cmd_fd, &written, length) < 0 ? errno : 0;
  }
};

void* map(const ibv_context* context, std::uint64_t page) {
  return mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, context->cmd_fd, static_cast<off_t>(page * 4096));
}

// The kernel's ioctl for a command of write(2).
struct Invocation {
  ib_uverbs_attr attributes[8]{};
  std::uint16_t count = 0;

  void add(std::uint16_t id, std::uint64_t data, std::uint16_t length) {
    attributes[count].attr_id = id;
    attributes[count].len = length;
    attributes[count].flags = UVERBS_ATTR_F_MANDATORY;
    attributes[count++].data = data;
  }
  int run(const ibv_context* context, std::uint16_t object = UVERBS_OBJECT_DEVICE,
          std::uint16_t method = UVERBS_METHOD_INVOKE_WRITE) {
    alignas(8) std::array<std::byte, sizeof(ib_uverbs_ioctl_hdr) + sizeof attributes> bytes{};
    ib_uverbs_ioctl_hdr header{};
    header.object_id = object;
    header.method_id = method;
    header.num_attrs = count;
    header.length = static_cast<std::uint16_t>(sizeof header + count * sizeof attributes[0]);
    header.driver_id = RDMA_DRIVER_MLX5;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, attributes, count * sizeof attributes[0]);
    const int result = ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, bytes.data());
    std::memcpy(attributes, bytes.data() + sizeof header, count * sizeof attributes[0]);
    return result == 0 ? 0 : errno;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(mlx5_commands)

BOOST_FIXTURE_TEST_CASE(objects_without_queues, Opened) {
  const MrOwner region(
      ibv_reg_mr(device.pd(), memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
  BOOST_REQUIRE(region != nullptr);
  BOOST_TEST(region->lkey != 0u);
  BOOST_TEST(ibv_rereg_mr(region.get(), IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
                          IBV_ACCESS_LOCAL_WRITE) == 0);
  const MwOwner window(ibv_alloc_mw(device.pd(), IBV_MW_TYPE_2));
  BOOST_REQUIRE(window != nullptr);
  BOOST_TEST(window->rkey != region->rkey);
  ibv_ah_attr attributes = address(device);
  ibv_ah* const handle = ibv_create_ah(device.pd(), &attributes);
  BOOST_REQUIRE(handle != nullptr);
  BOOST_TEST(ibv_destroy_ah(handle) == 0);
  const ChannelOwner channel(ibv_create_comp_channel(context));
  BOOST_REQUIRE(channel != nullptr);
  ibv_xrcd_init_attr domain{};
  domain.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  domain.fd = -1;
  domain.oflags = O_CREAT;
  ibv_xrcd* const xrcd = ibv_open_xrcd(context, &domain);
  BOOST_REQUIRE(xrcd != nullptr);
  BOOST_TEST(ibv_close_xrcd(xrcd) == 0);
  domain.fd = 10'000;
  BOOST_TEST(ibv_open_xrcd(context, &domain) == nullptr);
  BOOST_TEST(errno == EBADF);
}

BOOST_FIXTURE_TEST_CASE(refusals_come_back, Opened) {
  BOOST_TEST(ibv_reg_mr(device.pd(), memory.data(), memory.size(), IBV_ACCESS_REMOTE_WRITE) == nullptr);
  BOOST_TEST(errno == EINVAL);
  BOOST_TEST(ibv_reg_mr(device.pd(), reinterpret_cast<void*>(4096), 4096, IBV_ACCESS_LOCAL_WRITE) == nullptr);
  BOOST_TEST(errno == EFAULT);
}

BOOST_FIXTURE_TEST_CASE(the_gid_table, Opened) {
  std::array<ibv_gid_entry, 16> entries;
  BOOST_TEST(ibv_query_gid_table(context, entries.data(), entries.size(), 0) == 2);
  BOOST_TEST(entries[1].gid_type == static_cast<std::uint32_t>(IBV_GID_TYPE_ROCE_V2));
  BOOST_TEST(std::memcmp(entries[1].gid.raw, device.gid().raw, sizeof(ibv_gid)) == 0);
}

BOOST_FIXTURE_TEST_CASE(threads_share_a_context, Opened) {
  std::vector<std::thread> threads;
  std::array<std::string, 4> failures;
  for (std::string& failure : failures) {
    threads.emplace_back([&] {
      try {
        use_memory(device.pd(), 200);
      } catch (const std::exception& error) {
        failure = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) BOOST_TEST(failure.empty(), failure);
}

// The child's regions are in the child's memory; the parent's answers stay the parent's.
BOOST_FIXTURE_TEST_CASE(a_forked_child_gives_commands, Opened) {
  std::thread parent([&] { use_memory(device.pd(), 300); });
  const int end = in_child([&] {
    use_memory(device.pd(), 100);
    require(map(context, 0) != MAP_FAILED, "mmap: {}", std::strerror(errno));
    const int grandchild = in_child([&] { use_memory(device.pd(), 100); });
    require(grandchild == 0, "the grandchild: {}", grandchild);
    use_memory(device.pd(), 1);
  });
  parent.join();
  BOOST_TEST(end == 0);
  use_memory(device.pd(), 1);
}

BOOST_AUTO_TEST_CASE(devices_open_and_close) {
  { const Device first(device_names().first); }
  const std::size_t before = open_descriptors();
  for (unsigned i = 0; i < 50; ++i) {
    const Device one(device_names().first);
    const Device other(device_names().second);
    use_memory(one.pd(), 1);
    use_memory(other.pd(), 1);
  }
  BOOST_TEST(open_descriptors() == before);
}

BOOST_FIXTURE_TEST_CASE(asynchronous_events_have_a_descriptor, Opened) {
  pollfd entry{context->async_fd, POLLIN, 0};
  BOOST_TEST(poll(&entry, 1, 0) == 0);
}

BOOST_FIXTURE_TEST_CASE(commands_that_lie_are_refused, Opened) {
  const QueryDevice right;
  BOOST_TEST(right.write_to(context) == 0);
  BOOST_TEST(right.answer.vendor_part_id == 4125u);
  QueryDevice shorter;
  shorter.written.header.in_words = 2;
  BOOST_TEST(shorter.write_to(context) == EINVAL);
  BOOST_TEST(shorter.write_to(context, 8) == ENOSPC);
  BOOST_TEST(shorter.write_to(context, 4) == EINVAL);
  QueryDevice no_room;
  no_room.written.header.out_words = 1;
  BOOST_TEST(no_room.write_to(context) == ENOSPC);
  QueryDevice nowhere;
  nowhere.written.response = 4096;  // nothing is there
  BOOST_TEST(nowhere.write_to(context) == EFAULT);
  BOOST_TEST(QueryDevice(200).write_to(context) == EOPNOTSUPP);
  BOOST_TEST(QueryDevice(IB_USER_VERBS_CMD_GET_CONTEXT).write_to(context) == EINVAL);  // there is one
  BOOST_TEST(write(context->cmd_fd, reinterpret_cast<void*>(4096), 16) == -1);
  BOOST_TEST(errno == EFAULT);
  use_memory(device.pd(), 1);  // the context is as it was
}

BOOST_FIXTURE_TEST_CASE(commands_come_by_ioctl_too, Opened) {
  ib_uverbs_alloc_pd_resp made{};
  ib_uverbs_alloc_pd request{};
  Invocation allocate;
  allocate.add(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_ALLOC_PD, 8);
  allocate.add(UVERBS_ATTR_CORE_IN, 0, sizeof request);  // 8 bytes are in the attribute itself
  allocate.add(UVERBS_ATTR_CORE_OUT, reinterpret_cast<std::uint64_t>(&made), sizeof made);
  BOOST_TEST(allocate.run(context) == 0);
  BOOST_TEST(made.pd_handle != 0u);
  BOOST_TEST((allocate.attributes[2].flags & UVERBS_ATTR_F_VALID_OUTPUT) != 0);
  Invocation free;
  free.add(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_DEALLOC_PD, 8);
  free.add(UVERBS_ATTR_CORE_IN, made.pd_handle, sizeof(ib_uverbs_dealloc_pd));
  BOOST_TEST(free.run(context) == 0);
  BOOST_TEST(free.run(context) == EINVAL);
}

// Work queues, a table of them, a QP that spreads frames over it, a rule that leads to the QP.
BOOST_FIXTURE_TEST_CASE(receive_side_scaling, Opened) {
  const CqOwner cq(ibv_create_cq(context, 100, nullptr, nullptr, 0));
  BOOST_REQUIRE(cq != nullptr);
  std::array<ibv_wq*, 4> queues{};
  for (ibv_wq*& queue : queues) {
    ibv_wq_init_attr wanted{};
    wanted.wq_type = IBV_WQT_RQ;
    wanted.max_wr = 16;
    wanted.max_sge = 1;
    wanted.pd = device.pd();
    wanted.cq = cq.get();
    queue = ibv_create_wq(context, &wanted);
    BOOST_REQUIRE(queue != nullptr);
    ibv_wq_attr ready{};
    ready.attr_mask = IBV_WQ_ATTR_STATE;
    ready.wq_state = IBV_WQS_RDY;
    BOOST_TEST(ibv_modify_wq(queue, &ready) == 0);
  }
  ibv_rwq_ind_table_init_attr spread{};
  spread.log_ind_tbl_size = 2;
  spread.ind_tbl = queues.data();
  ibv_rwq_ind_table* const table = ibv_create_rwq_ind_table(context, &spread);
  BOOST_REQUIRE(table != nullptr);
  std::array<std::uint8_t, 40> key;
  key.fill(0x6D);
  ibv_qp_init_attr_ex wanted{};
  wanted.qp_type = IBV_QPT_RAW_PACKET;
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
  wanted.pd = device.pd();
  wanted.rwq_ind_tbl = table;
  wanted.rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, static_cast<std::uint8_t>(key.size()), key.data(),
                         IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4};
  ibv_qp* const qp = ibv_create_qp_ex(context, &wanted);
  BOOST_REQUIRE(qp != nullptr);
  struct {
    ibv_flow_attr attributes{};
    ibv_flow_spec_eth ethernet{};
  } rule;
  rule.attributes.size = sizeof rule;
  rule.attributes.num_of_specs = 1;
  rule.attributes.port = 1;
  rule.ethernet.type = IBV_FLOW_SPEC_ETH;
  rule.ethernet.size = sizeof rule.ethernet;
  std::memset(rule.ethernet.mask.dst_mac, 0xFF, sizeof rule.ethernet.mask.dst_mac);
  rule.ethernet.val.dst_mac[0] = 2;
  ibv_flow* const flow = ibv_create_flow(qp, &rule.attributes);
  BOOST_REQUIRE(flow != nullptr);
  BOOST_TEST(ibv_destroy_wq(queues[0]) == EBUSY);
  BOOST_TEST(ibv_destroy_flow(flow) == 0);
  BOOST_TEST(ibv_destroy_qp(qp) == 0);
  BOOST_TEST(ibv_destroy_rwq_ind_table(table) == 0);
  for (ibv_wq* const queue : queues) BOOST_TEST(ibv_destroy_wq(queue) == 0);
}

BOOST_FIXTURE_TEST_CASE(memory_is_brought_in, Opened) {
  constexpr std::size_t kLength = 1 << 20;
  auto* const pages = static_cast<unsigned char*>(
      mmap(nullptr, kLength, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const MrOwner region(
      ibv_reg_mr(device.pd(), pages, kLength, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
  BOOST_REQUIRE(region != nullptr);
  ibv_sge range{reinterpret_cast<std::uint64_t>(pages), kLength, region->lkey};
  const auto advise = [&](std::uint32_t flags) {
    return ibv_advise_mr(device.pd(), IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, flags, &range, 1);
  };
  BOOST_TEST(advise(IBV_ADVISE_MR_FLAG_FLUSH) == 0);
  std::array<unsigned char, kLength / 4096> present{};
  BOOST_REQUIRE(mincore(pages, kLength, present.data()) == 0);
  BOOST_TEST(std::count(present.begin(), present.end(), 0) == 0);
  BOOST_TEST(advise(0) == 0);
  BOOST_TEST(advise(1 << 5) == EINVAL);
  range.lkey ^= 0x100;
  BOOST_TEST(advise(IBV_ADVISE_MR_FLAG_FLUSH) != 0);
  Invocation nowhere;
  nowhere.add(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, device.pd()->handle, 0);
  nowhere.add(UVERBS_ATTR_ADVISE_MR_SGE_LIST, 4096, sizeof range);
  BOOST_TEST(nowhere.run(context, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR) == EFAULT);
  munmap(pages, kLength);
}

BOOST_FIXTURE_TEST_CASE(ioctls_that_lie_are_refused, Opened) {
  Invocation none;
  BOOST_TEST(none.run(context) == EINVAL);
  none.add(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_QUERY_DEVICE, 8);
  BOOST_TEST(none.run(context) == ENOSPC);
  BOOST_TEST(none.run(context, UVERBS_OBJECT_DEVICE, 77) == EPROTONOSUPPORT);
  BOOST_TEST(none.run(context, 99) == EPROTONOSUPPORT);
  none.add(77, 0, 8);
  BOOST_TEST(none.run(context) == EPROTONOSUPPORT);
  BOOST_TEST(ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, nullptr) == -1);
  Invocation bad;
  bad.add(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_ALLOC_PD, 8);
  bad.add(UVERBS_ATTR_CORE_IN, 4096, 16);  // nothing is there
  bad.add(UVERBS_ATTR_CORE_OUT, 4096, 8);
  BOOST_TEST(bad.run(context) == EFAULT);
}

// A method that goes to the device process attribute by attribute: UVERBS_METHOD_DM_ALLOC.
struct Allocation : Invocation {
  std::uint64_t start = ~std::uint64_t{0};
  std::uint16_t page = 0xFFFF;

  explicit Allocation(std::uint64_t length = 4096) {
    add(UVERBS_ATTR_ALLOC_DM_HANDLE, 0, 0);
    add(UVERBS_ATTR_ALLOC_DM_LENGTH, length, 8);
    add(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0, 4);
    add(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, reinterpret_cast<std::uint64_t>(&start), sizeof start);
    add(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, reinterpret_cast<std::uint64_t>(&page), sizeof page);
  }
  int run(const ibv_context* context) {
    return Invocation::run(context, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
  }
  std::uint32_t handle() const { return static_cast<std::uint32_t>(attributes[0].data); }
};

int free_dm(const ibv_context* context, std::uint64_t handle) {
  Invocation method;
  method.add(UVERBS_ATTR_FREE_DM_HANDLE, handle, 0);
  return method.run(context, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE);
}

BOOST_FIXTURE_TEST_CASE(methods_answer_in_their_attributes, Opened) {
  Allocation made;
  BOOST_REQUIRE(made.run(context) == 0);
  BOOST_TEST(made.handle() != 0u);
  BOOST_TEST(made.start == 0u);
  BOOST_TEST(made.page != 0xFFFFu);
  BOOST_TEST((made.attributes[3].flags & UVERBS_ATTR_F_VALID_OUTPUT) != 0);
  BOOST_TEST((made.attributes[1].flags & UVERBS_ATTR_F_VALID_OUTPUT) == 0);
  BOOST_TEST(free_dm(context, made.handle()) == 0);
  BOOST_TEST(free_dm(context, made.handle()) == EINVAL);
  Allocation optional;
  optional.add(99, 1, 8);
  optional.attributes[5].flags = 0;
  BOOST_REQUIRE(optional.run(context) == 0);  // what is not known may be left out
  BOOST_TEST(free_dm(context, optional.handle()) == 0);
}

BOOST_FIXTURE_TEST_CASE(methods_that_lie_are_refused, Opened) {
  Allocation unknown;
  unknown.add(99, 1, 8);
  BOOST_TEST(unknown.run(context) == EPROTONOSUPPORT);
  Allocation twice;
  twice.add(UVERBS_ATTR_ALLOC_DM_LENGTH, 4096, 8);
  BOOST_TEST(twice.run(context) == EINVAL);
  Allocation long_number;
  long_number.attributes[1].data = 4096;  // nothing is there
  long_number.attributes[1].len = 16;
  BOOST_TEST(long_number.run(context) == EFAULT);
  Allocation endless;
  endless.attributes[1].data = reinterpret_cast<std::uint64_t>(memory.data());
  endless.attributes[1].len = 8192;
  BOOST_TEST(endless.run(context) == EINVAL);
  Allocation nowhere;
  nowhere.attributes[3].data = 4096;
  BOOST_TEST(nowhere.run(context) == EFAULT);
  Allocation too_much(std::uint64_t{1} << 40);
  BOOST_TEST(too_much.run(context) == EINVAL);
  BOOST_TEST(too_much.start == ~std::uint64_t{0});
}

// libibverbs makes queues by write(2) in a context of the program's own, and by these methods in an imported
// one.
BOOST_FIXTURE_TEST_CASE(queues_are_no_methods_outside_of_imported_contexts, Opened) {
  Invocation none;
  BOOST_TEST(none.run(context, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE) == EPROTONOSUPPORT);
  BOOST_TEST(none.run(context, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE) == EPROTONOSUPPORT);
  none.add(UVERBS_ATTR_UHW_IN, 4096, 56);  // nothing is there
  BOOST_TEST(none.run(context, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE) == EPROTONOSUPPORT);
}

BOOST_FIXTURE_TEST_CASE(doorbell_pages, Opened) {
  auto* const first = static_cast<volatile std::uint64_t*>(map(context, 0));
  auto* const second = static_cast<volatile std::uint64_t*>(map(context, 1));
  BOOST_REQUIRE(first != MAP_FAILED);
  BOOST_REQUIRE(second != MAP_FAILED);
  auto* const again = static_cast<volatile std::uint64_t*>(map(context, std::uint64_t{3} << 8));
  BOOST_REQUIRE(again != MAP_FAILED);
  first[500] = 77;
  BOOST_TEST(again[500] == 77u);  // the same page, named as one that is not cached
  BOOST_TEST(second[500] != 77u);
  BOOST_TEST(map(context, 200) == MAP_FAILED);
  BOOST_TEST(errno == EINVAL);
  BOOST_TEST(map(context, 4 << 8) == MAP_FAILED);
  BOOST_TEST(errno == EINVAL);
  BOOST_TEST(map(context, 5 << 8) == MAP_FAILED);  // the clock, to be written
  BOOST_TEST(errno == EPERM);
}

BOOST_AUTO_TEST_CASE(a_node_without_a_context_has_no_pages) {
  ibv_device** const devices = ibv_get_device_list(nullptr);
  const int node = open((std::string("/dev/infiniband/") + devices[0]->dev_name).c_str(), O_RDWR | O_CLOEXEC);
  ibv_free_device_list(devices);
  BOOST_REQUIRE(node >= 0);
  BOOST_TEST(mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, node, 0) == MAP_FAILED);
  BOOST_TEST(errno == ENODEV);
  close(node);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::apps
