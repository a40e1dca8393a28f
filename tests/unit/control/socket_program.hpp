// A verbs program as the device process sees it: a connection, shared memory, doorbells. No provider
// involved.
#pragma once

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "device_model/abi/control.hpp"
#include "device_model/abi/doorbells.hpp"
#include "device_model/abi/query_messages.hpp"
#include "device_model/abi/queues.hpp"
#include "device_model/transport/qp_transitions.hpp"
#include "tests/unit/control/running_process.hpp"

namespace urnic::control::test {

class SocketProgram {
 public:
  explicit SocketProgram(const std::filesystem::path& node) : socket_(connect_to(node, SOCK_SEQPACKET)) {
    std::array<int, 2> pipe{};
    if (pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    async_read_ = memory::Descriptor(pipe[0]);
    const memory::Descriptor async_write(pipe[1]);
    const memory::Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
    const memory::Descriptor mem(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
    abi::OpenContextRequest request{};
    request.version = abi::kControlVersion;
    std::strcpy(request.program, "socket_program");
    abi::OpenContextReply opened{};
    require(call(abi::ControlOpcode::open_context, request, opened,
                 {pidfd.get(), mem.get(), async_read_.get(), async_write.get()}),
            "open_context");
    doorbells_ = static_cast<abi::Doorbells*>(
        map(received_.at(0).get(), sizeof(abi::Doorbells), PROT_READ | PROT_WRITE));
    status_ = static_cast<const abi::EngineStatus*>(map(received_.at(1).get(), 4096, PROT_READ));
    wake_ = std::move(received_.at(2));
  }

  // 0 or the reply's errno; throws if the connection has ended.
  template <class Request, class Body>
  int call(abi::ControlOpcode opcode, const Request& request, Body& body,
           const std::vector<int>& descriptors = {}) {
    std::array<std::byte, abi::kMaxControlMessage> bytes;
    const abi::RequestHeader header{abi::kControlMagic, static_cast<std::uint32_t>(opcode),
                                    static_cast<std::uint32_t>(sizeof header + sizeof request), ++sequence_};
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &request, sizeof request);
    if (!send_message(socket_.get(), std::span(bytes).first(header.length), descriptors)) {
      throw std::runtime_error("connection ended");
    }
    pollfd answer{socket_.get(), POLLIN, 0};
    poll(&answer, 1, -1);
    Message message;
    if (receive_message(socket_.get(), message) != ReceiveResult::message)
      throw std::runtime_error("no reply");
    abi::ReplyHeader reply{};
    std::memcpy(&reply, message.storage.data(), sizeof reply);
    if (reply.sequence != sequence_) throw std::runtime_error("wrong reply");
    received_ = std::move(message.descriptors);
    if (reply.error == 0) std::memcpy(&body, message.storage.data() + sizeof reply, sizeof body);
    return reply.error;
  }

  std::byte* find(const abi::ArenaRange& range) {
    if (range.arena_is_new != 0) {
      // The program that is killed has its ranges in one new arena at a time.
      arenas_[range.arena] =
          static_cast<std::byte*>(map(received_.at(0).get(), range.arena_size, PROT_READ | PROT_WRITE));
      received_.erase(received_.begin());
    }
    return arenas_.at(range.arena) + range.offset;
  }

  // A QP connected to itself on GID index 1 of urnic0, in RTS, and memory to write to.
  void make_loopback(std::byte* memory, std::uint64_t length) {
    abi::HandleReply pd{};
    require(call(abi::ControlOpcode::allocate_pd, abi::Empty{}, pd), "allocate_pd");
    const auto place = reinterpret_cast<std::uint64_t>(memory);
    memory_ = place;
    const std::uint32_t access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    require(call(abi::ControlOpcode::register_mr,
                 abi::RegisterMrRequest{place, length, place, pd.handle, access}, mr_),
            "register_mr");
    abi::CreateCqReply cq{};
    require(call(abi::ControlOpcode::create_cq, abi::CreateCqRequest{1, 0, 64, 0}, cq), "create_cq");
    cqes_ = reinterpret_cast<abi::Cqe*>(find(cq.ring));
    cq_indices_ = reinterpret_cast<abi::CompletionQueueIndices*>(find(cq.indices));
    cq_slots_ = cq.entries;
    abi::CreateQpRequest request{};
    request.pd = pd.handle;
    request.send_cq = request.receive_cq = cq.handle;
    request.type = IBV_QPT_RC;
    request.max_send_wr = request.max_receive_wr = 16;
    request.max_send_sge = request.max_receive_sge = 1;
    require(call(abi::ControlOpcode::create_qp, request, qp), "create_qp");
    send_ring_ = find(qp.send_ring);
    indices_ = reinterpret_cast<abi::QueuePairIndices*>(find(qp.indices));
    connect_to_itself();
  }

  void post_write(std::uint32_t length) {
    const std::uint32_t index = indices_->send_producer.load();
    std::byte* slot = send_ring_ + std::size_t{index & (qp.send_slots - 1)} * qp.send_slot_size;
    abi::SendWqe wqe{};
    wqe.opcode = static_cast<std::uint8_t>(abi::SendOpcode::rdma_write);
    wqe.flags = abi::send_signaled;
    wqe.sge_count = 1;
    wqe.rkey = mr_.rkey;
    wqe.remote_address = memory_ + length;
    const abi::ScatterGather sge{memory_, length, mr_.lkey};
    std::memcpy(slot, &wqe, sizeof wqe);
    std::memcpy(slot + sizeof wqe, &sge, sizeof sge);
    indices_->send_producer.store(index + 1);
    doorbells_->ring(qp.doorbell);
    if (abi::must_wake(*status_)) eventfd_write(wake_.get(), 1);
  }

  // Waits for the next completion and returns its status.
  int next_status() {
    const std::uint32_t index = cq_indices_->consumer.load();
    const abi::Cqe& cqe = cqes_[index & (cq_slots_ - 1)];
    const std::uint8_t phase = (index / cq_slots_) % 2 == 0 ? 1 : 0;
    while (cqe.phase.load() != phase) sched_yield();
    const int status = cqe.status;
    cq_indices_->consumer.store(index + 1);
    return status;
  }

  int descriptor() const { return socket_.get(); }

  abi::CreateQpReply qp{};

 private:
  static void require(int error, const char* what) {
    if (error != 0) throw std::system_error(error, std::generic_category(), what);
  }
  void* map(int descriptor, std::size_t length, int protection) {
    void* place = mmap(nullptr, length, protection, MAP_SHARED, descriptor, 0);
    if (place == MAP_FAILED) throw std::runtime_error("mmap");
    mappings_.emplace_back(place, length);
    return place;
  }
  void modify(std::uint32_t mask, std::uint32_t state, abi::QpAttributes attributes) {
    attributes.state = state;
    abi::Empty empty{};
    require(call(abi::ControlOpcode::modify_qp,
                 abi::ModifyQpRequest{qp.handle, mask | transport::attr_state, attributes}, empty),
            "modify_qp");
  }
  void connect_to_itself() {
    using namespace transport;
    abi::QpAttributes a{};
    a.port = a.path.port = a.path.is_global = a.path.source_gid_index = 1;
    a.access_flags = IBV_ACCESS_REMOTE_WRITE;
    a.path_mtu = IBV_MTU_1024;
    a.destination_qpn = qp.qpn;
    a.timeout = 14;
    a.retry_count = a.rnr_retry = 7;
    const std::uint8_t gid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
    std::copy(std::begin(gid), std::end(gid), a.path.destination_gid);
    modify(attr_pkey_index | attr_port | attr_access_flags, IBV_QPS_INIT, a);
    modify(attr_address_vector | attr_path_mtu | attr_destination_qpn | attr_rq_psn |
               attr_max_dest_rd_atomic | attr_min_rnr_timer,
           IBV_QPS_RTR, a);
    modify(attr_timeout | attr_retry_count | attr_rnr_retry | attr_sq_psn | attr_max_qp_rd_atomic,
           IBV_QPS_RTS, a);
  }

  struct Unmap {
    Unmap(void* at, std::size_t bytes) : place(at), length(bytes) {}
    Unmap(Unmap&& other) noexcept : place(std::exchange(other.place, nullptr)), length(other.length) {}
    ~Unmap() {
      if (place != nullptr) munmap(place, length);
    }
    void* place;
    std::size_t length;
  };
  memory::Descriptor socket_;
  memory::Descriptor async_read_;
  memory::Descriptor wake_;
  std::vector<memory::Descriptor> received_;
  std::vector<Unmap> mappings_;
  std::map<std::uint32_t, std::byte*> arenas_;
  abi::Doorbells* doorbells_ = nullptr;
  const abi::EngineStatus* status_ = nullptr;
  abi::RegisterMrReply mr_{};
  std::uint64_t memory_ = 0;
  std::byte* send_ring_ = nullptr;
  abi::QueuePairIndices* indices_ = nullptr;
  abi::Cqe* cqes_ = nullptr;
  abi::CompletionQueueIndices* cq_indices_ = nullptr;
  std::uint32_t cq_slots_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace urnic::control::test
