// A program that writes garbage into what it shares with the device: queues, indices, doorbells. Nothing in
// them may be trusted, and nothing of it may reach anybody else (see verbs_hostile).
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

#include "device_model/abi/doorbells.hpp"
#include "device_model/abi/queues.hpp"
#include "tests/apps/programs/control_client.hpp"
#include "tests/apps/programs/device_serves.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/apps/programs/threads.hpp"

namespace urnic::apps {
namespace {

using abi::ControlOpcode;

// A shared mapping of somebody else's memory, for as long as the program runs.
std::byte* map_shared(int descriptor, std::size_t length) {
  void* data = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  require(data != MAP_FAILED, "mmap: {}", std::strerror(errno));
  return static_cast<std::byte*>(data);
}

struct SharedQp {
  abi::CreateQpReply reply{};
  std::byte* sends = nullptr;
  std::byte* receives = nullptr;
  abi::QueuePairIndices* indices = nullptr;
};

// A context with two connected QPs whose queues lie open.
class OpenQueues {
 public:
  OpenQueues() {
    client_.open_context();
    doorbells_ = reinterpret_cast<abi::Doorbells*>(
        map_shared(client_.context_descriptors()[0].get(), sizeof(abi::Doorbells)));
    pd_ = client_.demand<abi::HandleReply>(ControlOpcode::allocate_pd, abi::Empty{}).handle;
    const auto cq = take(ControlOpcode::create_cq, abi::CreateCqRequest{0x1234, 0, 64, 0});
    cq_ = cq.as<abi::CreateCqReply>();
    cq_ring_ = find(cq_.ring, cq);
    cq_indices_ = reinterpret_cast<abi::CompletionQueueIndices*>(find(cq_.indices, cq));
    mr_ = client_.demand<abi::RegisterMrReply>(
        ControlOpcode::register_mr,
        abi::RegisterMrRequest{reinterpret_cast<std::uintptr_t>(memory_.data()), memory_.size(),
                               reinterpret_cast<std::uintptr_t>(memory_.data()), pd_, kAllAccess});
    for (SharedQp& qp : qps_) create(qp);
  }

  // Takes both QPs to RTS, connected to each other, whatever state they are in.
  void connect() {
    for (std::size_t i = 0; i < qps_.size(); ++i) {
      modify(qps_[i], IBV_QPS_RESET, 0);
      modify(qps_[i], IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
      modify(qps_[i], IBV_QPS_RTR,
             IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                 IBV_QP_MIN_RNR_TIMER,
             qps_[1 - i].reply.qpn);
      modify(qps_[i], IBV_QPS_RTS,
             IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
    }
  }

  void ring(std::uint32_t number) {
    doorbells_->ring(number);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(client_.context_descriptors()[2].get(), &one, sizeof one);
  }
  bool is_served() { return client_.ask(ControlOpcode::query_device, abi::Empty{}).has_value(); }

  std::array<SharedQp, 2>& qps() { return qps_; }
  abi::Doorbells& doorbells() { return *doorbells_; }
  abi::CompletionQueueIndices& cq_indices() { return *cq_indices_; }
  std::byte* cq_ring() { return cq_ring_; }
  std::size_t cq_ring_size() const { return cq_.ring.length; }
  const abi::RegisterMrReply& mr() const { return mr_; }
  const Pages& memory() const { return memory_; }

 private:
  template <typename Body>
  ControlReply take(ControlOpcode opcode, const Body& body) {
    return ControlClient::demanded(opcode, client_.ask(opcode, body));
  }

  std::byte* find(const abi::ArenaRange& range, const ControlReply& reply) {
    if (!arenas_.contains(range.arena)) {
      const std::size_t index = next_descriptor_++ % std::max<std::size_t>(reply.descriptors.size(), 1);
      arenas_[range.arena] = map_shared(reply.descriptors[index].get(), range.arena_size);
    }
    return arenas_[range.arena] + range.offset;
  }

  void create(SharedQp& qp) {
    abi::CreateQpRequest request{};
    request.pd = pd_;
    request.send_cq = request.receive_cq = cq_.handle;
    request.type = IBV_QPT_RC;
    request.max_send_wr = request.max_receive_wr = 16;
    request.max_send_sge = request.max_receive_sge = 4;
    request.max_inline_data = 256;
    next_descriptor_ = 0;
    const ControlReply reply = take(ControlOpcode::create_qp, request);
    qp.reply = reply.as<abi::CreateQpReply>();
    qp.sends = find(qp.reply.send_ring, reply);
    qp.receives = find(qp.reply.receive_ring, reply);
    qp.indices = reinterpret_cast<abi::QueuePairIndices*>(find(qp.reply.indices, reply));
  }

  void modify(const SharedQp& qp, ibv_qp_state state, int mask, std::uint32_t destination = 0) {
    abi::ModifyQpRequest request{};
    request.handle = qp.reply.handle;
    request.mask = static_cast<std::uint32_t>(mask | IBV_QP_STATE);
    request.attributes.state = state;
    request.attributes.port = 1;
    request.attributes.access_flags = kAllAccess;
    request.attributes.path_mtu = IBV_MTU_256;
    request.attributes.destination_qpn = destination;
    request.attributes.max_rd_atomic = request.attributes.max_dest_rd_atomic = 4;
    request.attributes.timeout = 8;
    request.attributes.min_rnr_timer = 1;
    request.attributes.path.is_global = 1;
    request.attributes.path.port = 1;
    request.attributes.path.source_gid_index = kGidIndex;
    const std::array<std::uint8_t, 16> gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
    std::memcpy(request.attributes.path.destination_gid, gid.data(), gid.size());
    const auto answer = client_.ask(ControlOpcode::modify_qp, request);
    require(answer.has_value(), "the connection was closed");
    // EINVAL: what the other QP has sent meanwhile has taken this one to the error state.
    const int error = answer->header.error;
    require(error == 0 || error == EINVAL, "modify_qp: {}", std::strerror(error));
  }

  ControlClient client_;
  Pages memory_{1 << 16};
  std::map<std::uint32_t, std::byte*> arenas_;
  std::size_t next_descriptor_ = 0;
  abi::Doorbells* doorbells_ = nullptr;
  std::uint32_t pd_ = 0;
  abi::CreateCqReply cq_{};
  std::byte* cq_ring_ = nullptr;
  abi::CompletionQueueIndices* cq_indices_ = nullptr;
  abi::RegisterMrReply mr_{};
  std::array<SharedQp, 2> qps_{};
};

void scribble(std::mt19937_64& chance, std::byte* begin, std::size_t length) {
  for (std::size_t i = 0; i < length; i += 8) {
    const std::uint64_t word = chance();
    std::memcpy(begin + i, &word, std::min<std::size_t>(8, length - i));
  }
}

// A WQE of which most is right, so that the device goes some way with it before it finds the lie.
void half_true(std::mt19937_64& chance, OpenQueues& queues, std::byte* slot, std::size_t size) {
  abi::SendWqe wqe{};
  wqe.opcode = static_cast<std::uint8_t>(chance() % 12);
  wqe.flags = static_cast<std::uint8_t>(chance() % 32);
  wqe.sge_count = static_cast<std::uint8_t>(chance() % 8 == 0 ? chance() : chance() % 5);
  wqe.inline_length = static_cast<std::uint32_t>(chance() % 8 == 0 ? chance() : chance() % 300);
  wqe.immediate_or_rkey = static_cast<std::uint32_t>(chance());
  wqe.rkey = chance() % 4 == 0 ? static_cast<std::uint32_t>(chance()) : queues.mr().rkey;
  wqe.remote_address = reinterpret_cast<std::uintptr_t>(queues.memory().data()) + chance() % 70'000;
  wqe.compare_add = chance();
  std::memcpy(slot, &wqe, sizeof wqe);
  auto* segments = reinterpret_cast<abi::ScatterGather*>(slot + sizeof wqe);
  for (std::size_t i = 0; i < (size - sizeof wqe) / sizeof *segments; ++i) {
    segments[i].address = reinterpret_cast<std::uintptr_t>(queues.memory().data()) + chance() % 70'000;
    segments[i].length = static_cast<std::uint32_t>(chance() % 8 == 0 ? chance() : chance() % 5000);
    segments[i].lkey = chance() % 6 == 0 ? static_cast<std::uint32_t>(chance()) : queues.mr().lkey;
  }
}

BOOST_AUTO_TEST_CASE(garbage_in_work_queues) {
  std::mt19937_64 chance(1);
  OpenQueues queues;
  for (int round = 0; round < 1500; ++round) {
    queues.connect();
    for (SharedQp& qp : queues.qps()) {
      const abi::CreateQpReply& reply = qp.reply;
      scribble(chance, qp.receives, reply.receive_ring.length);
      if (round % 3 == 0) scribble(chance, qp.sends, reply.send_ring.length);
      for (std::uint32_t slot = 0; round % 3 != 0 && slot < reply.send_slots; ++slot) {
        half_true(chance, queues, qp.sends + std::size_t{slot} * reply.send_slot_size, reply.send_slot_size);
      }
      qp.indices->receive_producer = static_cast<std::uint32_t>(chance() % 20);
      qp.indices->send_producer = static_cast<std::uint32_t>(chance() % 20);
      queues.ring(reply.doorbell);
    }
    queues.cq_indices().consumer = static_cast<std::uint32_t>(chance());
  }
  BOOST_TEST(queues.is_served());
  expect_device_serves();
}

BOOST_AUTO_TEST_CASE(garbage_in_indices_and_doorbells) {
  std::mt19937_64 chance(2);
  OpenQueues queues;
  for (int round = 0; round < 1500; ++round) {
    queues.connect();
    for (SharedQp& qp : queues.qps()) {
      qp.indices->send_producer = static_cast<std::uint32_t>(chance());
      qp.indices->receive_producer = static_cast<std::uint32_t>(chance());
      qp.indices->in_error = static_cast<std::uint32_t>(chance());
    }
    queues.cq_indices().consumer = static_cast<std::uint32_t>(chance());
    queues.cq_indices().arm = static_cast<std::uint32_t>(chance());
    queues.cq_indices().arm_fired = static_cast<std::uint32_t>(chance());
    scribble(chance, queues.cq_ring(), queues.cq_ring_size());
    if (round % 4 == 0) {
      for (auto& word : queues.doorbells().bits) word = chance();
      for (auto& word : queues.doorbells().summary) word = chance();
    }
    queues.ring(static_cast<std::uint32_t>(chance() % abi::kDoorbellsPerContext));
  }
  BOOST_TEST(queues.is_served());
  expect_device_serves();
}

// Words change while the device reads them: whatever it checks must be what it then uses.
BOOST_AUTO_TEST_CASE(requests_that_change_while_they_are_read) {
  OpenQueues queues;
  Threads threads;
  threads.start([&] {
    std::mt19937_64 chance(3);
    while (!threads.stop()) {
      for (SharedQp& qp : queues.qps()) {
        const abi::CreateQpReply& reply = qp.reply;
        const std::size_t slot = chance() % reply.send_slots * reply.send_slot_size;
        half_true(chance, queues, qp.sends + slot, reply.send_slot_size);
        scribble(chance, qp.receives + chance() % 8 * reply.receive_slot_size, reply.receive_slot_size);
        qp.indices->send_producer = static_cast<std::uint32_t>(chance() % 64);
        qp.indices->receive_producer = static_cast<std::uint32_t>(chance() % 64);
        queues.doorbells().ring(reply.doorbell);
      }
    }
  });
  for (int round = 0; round < 1500; ++round) {
    queues.connect();
    for (SharedQp& qp : queues.qps()) queues.ring(qp.reply.doorbell);
    queues.cq_indices().consumer += 16;
  }
  threads.finish();
  BOOST_TEST(queues.is_served());
  expect_device_serves();
}

// A program that is gone in the middle of it all, with its queues full.
BOOST_AUTO_TEST_CASE(gone_with_full_queues) {
  std::mt19937_64 chance(4);
  for (int life = 0; life < 50; ++life) {
    OpenQueues queues;
    queues.connect();
    for (SharedQp& qp : queues.qps()) {
      for (std::uint32_t slot = 0; slot < qp.reply.send_slots; ++slot) {
        half_true(chance, queues, qp.sends + std::size_t{slot} * qp.reply.send_slot_size,
                  qp.reply.send_slot_size);
      }
      qp.indices->send_producer = qp.reply.send_slots;
      qp.indices->receive_producer = qp.reply.receive_slots;
      queues.ring(qp.reply.doorbell);
    }
  }
  expect_device_serves();
}

}  // namespace
}  // namespace urnic::apps
