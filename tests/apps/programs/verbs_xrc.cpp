// Extended reliable connections: one target QP that two processes have open, each with an SRQ of its own.
// The test framework runs in the parent, which has made the target and has the initiator, too.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>

#include "tests/apps/programs/async_events.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

using XrcdOwner = std::unique_ptr<ibv_xrcd, Destroyer<ibv_close_xrcd>>;
using SrqOwner = std::unique_ptr<ibv_srq, Destroyer<ibv_destroy_srq>>;

constexpr std::size_t kPart = 4096;
constexpr std::uint32_t kPsn = 0xFFFFF0;
constexpr std::uint8_t kPort = 1;

ibv_xrcd* try_open_domain(const Device& device, int file, int flags) {
  ibv_xrcd_init_attr attributes{};
  attributes.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  attributes.fd = file;
  attributes.oflags = flags;
  return ibv_open_xrcd(device.context(), &attributes);
}

XrcdOwner open_domain(const Device& device, int file, int flags = O_CREAT) {
  XrcdOwner xrcd(try_open_domain(device, file, flags));
  require(xrcd != nullptr, "no XRC domain: {}", std::strerror(errno));
  return xrcd;
}

CqOwner create_cq(const Device& device) {
  CqOwner cq(ibv_create_cq(device.context(), 64, nullptr, nullptr, 0));
  require(cq != nullptr, "no CQ: {}", std::strerror(errno));
  return cq;
}

SrqOwner create_srq(const Device& device, ibv_xrcd* xrcd, ibv_cq* cq) {
  ibv_srq_init_attr_ex attributes{};
  attributes.attr = {16, 1, 0};
  attributes.comp_mask =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  attributes.srq_type = IBV_SRQT_XRC;
  attributes.pd = device.pd();
  attributes.xrcd = xrcd;
  attributes.cq = cq;
  SrqOwner srq(ibv_create_srq_ex(device.context(), &attributes));
  require(srq != nullptr, "no SRQ: {}", std::strerror(errno));
  return srq;
}

QpOwner create_target(const Device& device, ibv_xrcd* xrcd) {
  ibv_qp_init_attr_ex attributes{};
  attributes.qp_type = IBV_QPT_XRC_RECV;
  attributes.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  attributes.xrcd = xrcd;
  QpOwner qp(ibv_create_qp_ex(device.context(), &attributes));
  require(qp != nullptr, "no target: {}", std::strerror(errno));
  return qp;
}

ibv_qp* try_open_target(const Device& device, ibv_xrcd* xrcd, std::uint32_t number) {
  ibv_qp_open_attr attributes{};
  attributes.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  attributes.qp_num = number;
  attributes.xrcd = xrcd;
  attributes.qp_type = IBV_QPT_XRC_RECV;
  return ibv_open_qp(device.context(), &attributes);
}

QpOwner create_initiator(const Device& device, ibv_cq* cq) {
  ibv_qp_init_attr_ex attributes{};
  attributes.qp_type = IBV_QPT_XRC_SEND;
  attributes.send_cq = cq;
  attributes.cap = {32, 0, 1, 0, 0};
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
  attributes.pd = device.pd();
  QpOwner qp(ibv_create_qp_ex(device.context(), &attributes));
  require(qp != nullptr, "no initiator: {}", std::strerror(errno));
  return qp;
}

void modify(ibv_qp* qp, ibv_qp_attr attributes, int mask) {
  const int error = ibv_modify_qp(qp, &attributes, mask | IBV_QP_STATE);
  require(error == 0, "ibv_modify_qp to {}: {}", static_cast<int>(attributes.qp_state), std::strerror(error));
}

// To RTS, with the attributes that its half of a connection has.
void connect(ibv_qp* qp, std::uint32_t peer, const ibv_gid& peer_gid) {
  const bool sends = qp->qp_type == IBV_QPT_XRC_SEND;
  ibv_qp_attr a{};
  a.port_num = kPort;
  a.qp_access_flags = sends ? 0 : IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  a.path_mtu = IBV_MTU_1024;
  a.dest_qp_num = peer;
  a.rq_psn = a.sq_psn = kPsn;
  a.max_dest_rd_atomic = a.max_rd_atomic = 4;
  a.min_rnr_timer = 1;
  a.timeout = 14;
  a.retry_cnt = a.rnr_retry = 7;
  a.ah_attr.is_global = 1;
  a.ah_attr.port_num = kPort;
  a.ah_attr.grh.dgid = peer_gid;
  a.ah_attr.grh.sgid_index = kGidIndex;
  a.ah_attr.grh.hop_limit = 64;
  a.qp_state = IBV_QPS_INIT;
  modify(qp, a, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  a.qp_state = IBV_QPS_RTR;
  const int of_target = sends ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  modify(qp, a, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | of_target);
  a.qp_state = IBV_QPS_RTS;
  const int of_initiator = sends ? IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0;
  modify(qp, a, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN | of_initiator);
}

std::uint32_t number_of(ibv_srq* srq) {
  std::uint32_t number = 0;
  require(ibv_get_srq_num(srq, &number) == 0, "the SRQ has no number");
  return number;
}

// A program with an SRQ in the domain of `file`.
struct Receiver {
  Device device{device_names().second};
  XrcdOwner xrcd;
  CqOwner cq = create_cq(device);
  SrqOwner srq;
  Memory memory{device.pd(), 16 * kPart};

  explicit Receiver(int file)
      : xrcd(open_domain(device, file)), srq(create_srq(device, xrcd.get(), cq.get())) {}

  void post(std::uint64_t id) {
    ibv_sge segment = memory.segment(id * kPart, kPart);
    ibv_recv_wr request{};
    request.wr_id = id;
    request.sg_list = &segment;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    require(ibv_post_srq_recv(srq.get(), &request, &bad) == 0, "ibv_post_srq_recv failed");
  }
  void expect(std::uint64_t id, std::size_t length, std::uint32_t qpn) {
    const ibv_wc received = wait_completion(cq.get());
    require(received.status == IBV_WC_SUCCESS, "received: {}", ibv_wc_status_str(received.status));
    require(received.wr_id == id && received.byte_len == length && received.qp_num == qpn,
            "receive {} of {} bytes at QP {}", received.wr_id, received.byte_len, received.qp_num);
    const auto wrong = difference(memory.bytes(id * kPart, length), id);
    require(!wrong, "{}", wrong.value_or(""));
  }
};

// What runs in the other process.
struct Child {
  pid_t process;
  int socket;

  explicit Child(const std::function<void(int)>& run) {
    std::array<int, 2> ends{};
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "socketpair");
    process = fork();
    if (process == 0) {
      close(ends[0]);
      int status = 0;
      try {
        run(ends[1]);
      } catch (const std::exception& error) {
        fmt::print(stderr, "in the other process: {}\n", error.what());
        status = 1;
      }
      _exit(status);
    }
    close(ends[1]);
    socket = ends[0];
  }
  ~Child() {
    kill(process, SIGKILL);
    close(socket);
    if (!ended) waitpid(process, nullptr, 0);
  }
  int wait() {
    int status = 0;
    waitpid(process, &status, 0);
    ended = true;
    return status;
  }
  bool ended = false;
};

void tell(int socket, std::uint32_t value) {
  require(write(socket, &value, sizeof value) == sizeof value, "the other process is gone");
}
std::uint32_t hear(int socket) {
  std::uint32_t value = 0;
  require(recv(socket, &value, sizeof value, MSG_WAITALL) == sizeof value, "the other process is gone");
  return value;
}

// Opens the target whose number it hears, tells its SRQ's number, and receives a message each time it hears
// of one.
void receive_in_other_process(int file, int socket) {
  const std::uint32_t number = hear(socket);
  Receiver receiver(file);
  QpOwner target(try_open_target(receiver.device, receiver.xrcd.get(), number));
  require(target != nullptr, "ibv_open_qp: {}", std::strerror(errno));
  require(target->qp_num == number, "another number");
  receiver.post(1);
  receiver.post(2);
  tell(socket, number_of(receiver.srq.get()));
  for (std::uint64_t id = 1; const std::uint32_t length = hear(socket); ++id) {
    receiver.expect(id, length, number);
    tell(socket, length);
  }
  // libmlx5 44 crashes when it destroys a target that was opened (mlx5_destroy_qp).
  if (is_driven_by_libmlx5()) _exit(0);
}

struct Sender {
  Device device{device_names().first};
  CqOwner cq = create_cq(device);
  QpOwner qp = create_initiator(device, cq.get());
  Memory memory{device.pd(), kPart};

  ibv_wc_status send(std::uint32_t srq, std::size_t length, std::uint64_t seed) {
    fill(memory.bytes(0, length), seed);
    ibv_sge segment = memory.segment(0, length);
    ibv_send_wr request = send_request(segment);
    request.qp_type.xrc.remote_srqn = srq;
    ibv_send_wr* bad = nullptr;
    require(ibv_post_send(qp.get(), &request, &bad) == 0, "ibv_post_send failed");
    return wait_completion(cq.get()).status;
  }
};

// A file without a name, so that a killed test leaves nothing behind: a domain belongs to the inode.
struct TemporaryFile {
  TemporaryFile()
      : descriptor(
            open(std::filesystem::temp_directory_path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
    require(descriptor >= 0, "a temporary file");
  }
  ~TemporaryFile() { close(descriptor); }
  int descriptor;
};

struct Two {
  TemporaryFile file;
  Child other{[this](int socket) { receive_in_other_process(file.descriptor, socket); }};
  Sender sender;
  Receiver receiver{file.descriptor};
  QpOwner target = create_target(receiver.device, receiver.xrcd.get());
  const std::uint32_t number = target->qp_num;
  std::uint32_t others_srq = 0;

  Two() {
    connect(sender.qp.get(), number, receiver.device.gid());
    connect(target.get(), sender.qp->qp_num, sender.device.gid());
    tell(other.socket, number);
    others_srq = hear(other.socket);
  }
  void send_to_other(std::size_t length, std::uint64_t seed) {
    BOOST_TEST(sender.send(others_srq, length, seed) == IBV_WC_SUCCESS);
    tell(other.socket, static_cast<std::uint32_t>(length));
    BOOST_TEST(hear(other.socket) == length);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(xrc)

BOOST_FIXTURE_TEST_CASE(both_processes_receive_by_one_target, Two) {
  receiver.post(5);
  BOOST_TEST(sender.send(number_of(receiver.srq.get()), 3000, 5) == IBV_WC_SUCCESS);
  receiver.expect(5, 3000, number);
  send_to_other(16, 1);
  send_to_other(4000, 2);
  tell(other.socket, 0);
  BOOST_TEST(other.wait() == 0);
}

BOOST_FIXTURE_TEST_CASE(the_target_outlives_the_process_part_that_made_it, Two) {
  send_to_other(100, 1);
  target.reset();
  receiver.srq.reset();
  receiver.xrcd.reset();
  send_to_other(100, 2);
  tell(other.socket, 0);
  BOOST_TEST(other.wait() == 0);
}

BOOST_FIXTURE_TEST_CASE(a_process_that_is_killed_leaves_the_target_and_takes_its_srq, Two) {
  send_to_other(100, 1);
  kill(other.process, SIGKILL);
  other.wait();
  receiver.post(3);
  BOOST_TEST(sender.send(number_of(receiver.srq.get()), 100, 3) == IBV_WC_SUCCESS);
  receiver.expect(3, 100, number);
  // The device learns of the death by the memory, which is gone, or by the context, which takes the SRQ with
  // it.
  ibv_wc_status status = IBV_WC_SUCCESS;
  while (status == IBV_WC_SUCCESS) status = sender.send(others_srq, 100, 4);
  const bool is_told = status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR;
  BOOST_TEST(is_told, ibv_wc_status_str(status));
  const auto event = wait_async_event(receiver.device.context());
  BOOST_REQUIRE(event.has_value());
  BOOST_TEST(event->event_type == IBV_EVENT_QP_ACCESS_ERR);
  BOOST_TEST((event->element.qp == target.get()));
}

BOOST_AUTO_TEST_CASE(domains_are_made_as_the_flags_say) {
  Device device(device_names().second);
  TemporaryFile file;
  BOOST_TEST((try_open_domain(device, file.descriptor, 0) == nullptr));
  BOOST_TEST(errno == EAGAIN);
  BOOST_TEST((try_open_domain(device, 1 << 20, O_CREAT) == nullptr));
  BOOST_TEST(errno == EBADF);
  const XrcdOwner made = open_domain(device, file.descriptor, O_CREAT | O_EXCL);
  BOOST_TEST((try_open_domain(device, file.descriptor, O_CREAT | O_EXCL) == nullptr));
  BOOST_TEST(errno == EINVAL);
  const XrcdOwner again = open_domain(device, file.descriptor, 0);
  const XrcdOwner own = open_domain(device, -1, O_CREAT);
  const QpOwner target = create_target(device, made.get());
  if (!is_driven_by_libmlx5()) {
    const QpOwner opened(try_open_target(device, again.get(), target->qp_num));
    BOOST_TEST((opened != nullptr));
  }
  BOOST_TEST((try_open_target(device, own.get(), target->qp_num) == nullptr));
  BOOST_TEST(errno == EINVAL);
}

BOOST_AUTO_TEST_CASE(what_a_domain_needs_is_not_destroyed_before_it) {
  Device device(device_names().second);
  XrcdOwner xrcd = open_domain(device, -1);
  CqOwner cq = create_cq(device);
  SrqOwner srq = create_srq(device, xrcd.get(), cq.get());
  BOOST_TEST(ibv_close_xrcd(xrcd.get()) == EBUSY);
  BOOST_TEST(ibv_destroy_cq(cq.get()) == EBUSY);
  BOOST_TEST(ibv_dealloc_pd(device.pd()) == EBUSY);
}

// libmlx5 does not look: it has no queue there, and crashes.
boost::test_tools::assertion_result library_looks_at_posts(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result looks(!is_driven_by_libmlx5());
  looks.message() << "libmlx5 does not look at what is posted to a target";
  return looks;
}

BOOST_AUTO_TEST_CASE(nothing_is_posted_to_a_target_and_no_receive_to_an_initiator,
                     *boost::unit_test::precondition(library_looks_at_posts)) {
  Sender sender;
  XrcdOwner xrcd = open_domain(sender.device, -1);
  QpOwner target = create_target(sender.device, xrcd.get());
  ibv_qp* const qps[] = {target.get(), sender.qp.get()};
  for (ibv_qp* const qp : qps) {
    connect(qp, 1, sender.device.gid());
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    BOOST_TEST(ibv_post_recv(qp, &receive, &bad) == EINVAL);
  }
  ibv_send_wr send{};
  ibv_send_wr* bad = nullptr;
  BOOST_TEST(ibv_post_send(target.get(), &send, &bad) == EINVAL);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  BOOST_TEST(ibv_modify_qp(target.get(), &attributes, IBV_QP_STATE) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::apps
