#include "tests/unit/engine/program.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace urnic::engine::test {

using transport::QpState;

TestPipe::TestPipe(std::size_t record) : record_(record) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe2");
  read_end_ = memory::Descriptor(ends[0]);
  pipe_ = std::make_unique<EventPipe>(memory::Descriptor(dup(ends[0])), memory::Descriptor(ends[1]), record);
}

std::optional<TestPipe::Record> TestPipe::read() {
  std::byte bytes[16]{};
  if (::read(read_end_.get(), bytes, record_) != static_cast<ssize_t>(record_)) return std::nullopt;
  Record record;
  std::memcpy(&record.element, bytes, 8);
  std::memcpy(&record.type, bytes + 8, 4);
  return record;
}

TestCq::TestCq(std::uint32_t slot_count, EventPipe* channel, EventPipe* async_events,
               std::uint64_t user_handle)
    : ring(slot_count), slots(slot_count) {
  device_end = std::make_unique<CompletionQueue>(CompletionQueueConfig{.ring = ring.data(),
                                                                       .slots = slots,
                                                                       .indices = &indices,
                                                                       .user_handle = user_handle,
                                                                       .channel = channel,
                                                                       .async_events = async_events});
}

std::optional<Polled> TestCq::poll() {
  const abi::Cqe& entry = ring[consumer & (slots - 1)];
  const std::uint8_t valid = (consumer / slots) % 2 == 0 ? 1 : 0;
  if (entry.phase.load(std::memory_order_acquire) != valid) return std::nullopt;
  const Polled polled{.qpn = entry.qpn,
                      .wqe_index = entry.wqe_index,
                      .opcode = entry.opcode,
                      .status = entry.status,
                      .flags = entry.flags,
                      .tag_flags = entry.tag_flags,
                      .byte_length = entry.byte_length,
                      .immediate_or_rkey = entry.immediate_or_rkey,
                      .source_qpn = entry.source_qpn,
                      .inline_data = std::to_array(entry.inline_data)};
  indices.consumer.store(++consumer, std::memory_order_release);
  return polled;
}

void TestCq::arm(abi::ArmKind kind) {
  indices.arm.store(++requests_ << 2 | static_cast<std::uint32_t>(kind));
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

TestQp::TestQp(Program& program, std::uint32_t doorbell, const QpLayout& l)
    : layout(l),
      send_slots(std::size_t{l.send_slots} * l.send_slot_size),
      receive_slots(std::size_t{l.receive_slots} * l.receive_slot_size),
      send_cq(256, &program.channel.device_end(), &program.async_events.device_end(), 1000 + doorbell * 10),
      receive_cq(256, &program.channel.device_end(), &program.async_events.device_end(),
                 1001 + doorbell * 10),
      program_(program),
      doorbell_(doorbell) {
  hosted_ = QueuePairContext::make({.device = &program.device.resources(),
                                    .service = l.service,
                                    .pd = program.pd,
                                    .send_cq = l.has_own_cqs() ? send_cq.device_end.get() : nullptr,
                                    .receive_cq = l.has_own_cqs() ? receive_cq.device_end.get() : nullptr,
                                    .async_events = &program.async_events.device_end(),
                                    .user_handle = 5000 + doorbell,
                                    .xrc_domain = l.xrc_domain,
                                    .context = l.context,
                                    .ordinal = l.ordinal,
                                    .signal_all = l.signal_all,
                                    .send_ring = send_slots.data(),
                                    .send_slots = l.send_slots,
                                    .send_slot_size = l.send_slot_size,
                                    .receive_ring = receive_slots.data(),
                                    .receive_slots = l.receive_slots,
                                    .receive_slot_size = l.receive_slot_size,
                                    .shared_receive_queue = l.srq,
                                    .tag_matching = l.tags,
                                    .indices = &indices,
                                    .several_processes = &program.several_processes});
  program.engine.execute([&] {
    hosted_->install();
    program_.doorbell_set.attach(doorbell_, *hosted_);
  });
}

TestQp::~TestQp() {
  program_.engine.execute([&] {
    program_.doorbell_set.detach(doorbell_);
    hosted_.reset();
  });
}

void TestQp::write_send(const abi::SendWqe& head, std::span<const std::byte> behind) {
  std::byte* const slot =
      send_slots.data() + std::size_t{send_producer & (layout.send_slots - 1)} * layout.send_slot_size;
  std::memcpy(slot, &head, sizeof head);
  if (!behind.empty()) std::memcpy(slot + sizeof head, behind.data(), behind.size());
  ++send_producer;
}

void TestQp::ring() {
  indices.send_producer.store(send_producer, std::memory_order_release);
  program_.doorbells->ring(doorbell_);
}

void TestQp::post_send(const abi::SendWqe& head, std::span<const abi::ScatterGather> sges) {
  abi::SendWqe counted = head;
  counted.sge_count = static_cast<std::uint8_t>(sges.size());
  write_send(counted, std::as_bytes(sges));
  ring();
}

void TestQp::post_inline(abi::SendWqe head, std::span<const std::byte> data) {
  head.flags |= abi::send_inline;
  head.inline_length = static_cast<std::uint32_t>(data.size());
  write_send(head, data);
  ring();
}

void TestQp::write_receive(std::span<const abi::ScatterGather> sges) {
  std::byte* const slot = receive_slots.data() + std::size_t{receive_producer & (layout.receive_slots - 1)} *
                                                     layout.receive_slot_size;
  const abi::ReceiveWqe head{.sge_count = static_cast<std::uint32_t>(sges.size()), .reserved = {}};
  std::memcpy(slot, &head, sizeof head);
  if (!sges.empty()) std::memcpy(slot + sizeof head, sges.data(), sges.size_bytes());
  ++receive_producer;
}

void TestQp::post_receive(std::span<const abi::ScatterGather> sges) {
  write_receive(sges);
  indices.receive_producer.store(receive_producer, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (indices.in_error.load() != 0) program_.doorbells->ring(doorbell_);
}

std::optional<Polled> TestQp::poll_receive() {
  const std::optional<Polled> polled = receive_cq.poll();
  if (!polled || (polled->flags & abi::cqe_inline) == 0) return polled;
  const std::byte* const slot =
      receive_slots.data() +
      std::size_t{polled->wqe_index & (layout.receive_slots - 1)} * layout.receive_slot_size;
  abi::ReceiveWqe head;
  std::memcpy(&head, slot, sizeof head);
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; i < head.sge_count && done < polled->byte_length; ++i) {
    abi::ScatterGather sge;
    std::memcpy(&sge, slot + sizeof head + i * sizeof sge, sizeof sge);
    const std::uint32_t part = std::min(sge.length, polled->byte_length - done);
    std::memcpy(reinterpret_cast<void*>(sge.address), polled->inline_data.data() + done, part);
    done += part;
  }
  return polled;
}

Program::Program(Engine& e, Device& d)
    : engine(e),
      device(d),
      bytes(kBytes),
      wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      doorbells(std::make_unique<abi::Doorbells>()),
      doorbell_set(*doorbells, wake.get()) {
  memory.add_range(bytes);
  engine.execute([&] {
    key = *device.memory_table().add_region(
        {.memory = &memory,
         .pd = pd,
         .address = address(0),
         .iova = address(0),
         .length = bytes.size(),
         .access = memory::access_local_write | memory::access_remote_write | memory::access_remote_read |
                   memory::access_remote_atomic | memory::access_window_bind});
    private_key = *device.memory_table().add_region({.memory = &memory,
                                                     .pd = pd,
                                                     .address = address(0),
                                                     .iova = address(0),
                                                     .length = bytes.size(),
                                                     .access = memory::access_local_write});
    engine.add_doorbells(doorbell_set);
  });
}

Program::~Program() {
  engine.execute([&] {
    engine.remove_doorbells(doorbell_set);
    device.memory_table().remove_region(key);
    device.memory_table().remove_region(private_key);
  });
}

void Program::fill(std::size_t offset, std::size_t length, std::uint8_t seed) {
  for (std::size_t i = 0; i < length; ++i) {
    bytes[offset + i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  }
}

bool Program::holds(std::size_t offset, std::size_t length, std::uint8_t seed) const {
  for (std::size_t i = 0; i < length; ++i) {
    if (bytes[offset + i] != static_cast<std::byte>(i * 7 + i / 251 + seed)) return false;
  }
  return true;
}

DeviceConfig device_config(std::uint8_t number) {
  DeviceConfig config;
  config.name = "test" + std::to_string(number);
  config.mac = {{2, 0, 0, 0, 0, number}};
  wire::Gid gid;
  gid.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, number};
  config.gids = {gid};
  config.max_qp = 1024;
  config.max_memory_keys = 1024;
  return config;
}

Fabric::Fabric()
    : engine({}),
      device0(device_config(1), engine.data_path(), frame_switch),
      device1(device_config(2), engine.data_path(), frame_switch),
      program0(engine, device0),
      program1(engine, device1) {
  engine.add_uplink(frame_switch);
}

Fabric::~Fabric() = default;

wire::NetworkHeaders Fabric::path(const Device& from, const Device& to) {
  wire::NetworkHeaders network;
  network.source_mac = from.config().mac;
  network.destination_mac = to.config().mac;
  network.source = from.config().gids[0];
  network.destination = to.config().gids[0];
  network.udp_source = 0xC000;
  return network;
}

transport::QpParameters Fabric::parameters(const TestQp& peer, std::uint32_t path_mtu) {
  transport::QpParameters parameters;
  parameters.access = {.remote_read = true, .remote_write = true, .remote_atomic = true};
  parameters.path_mtu = path_mtu;
  parameters.destination = peer.qpn();
  parameters.receive_psn = wire::Psn(0xFFFFF0);
  parameters.send_psn = wire::Psn(0xFFFFF0);
  parameters.max_destination_reads = 16;
  parameters.max_reads = 16;
  parameters.min_rnr_timer = 1;
  parameters.timeout = 14;
  parameters.retry_count = 7;
  parameters.rnr_retry = 7;
  return parameters;
}

void Fabric::connect(TestQp& one, TestQp& other, std::uint32_t path_mtu) {
  one.connect_to(other, path_mtu);
  other.connect_to(one, path_mtu);
}

void TestQp::connect_to(TestQp& peer, std::uint32_t path_mtu) {
  program_.engine.execute([&] {
    const transport::QpParameters parameters = Fabric::parameters(peer, path_mtu);
    hosted_->modify(QpState::init, parameters, std::nullopt);
    hosted_->modify(QpState::rtr, parameters, Fabric::path(program_.device, peer.program_.device));
    hosted_->modify(QpState::rts, parameters, std::nullopt);
  });
}

void Fabric::run() {
  std::uint32_t rung = 0;
  do {
    rung = program0.doorbell_set.collect() + program1.doorbell_set.collect();
    engine.data_path().round();
  } while (rung != 0 || engine.data_path().busy());
}

void Fabric::advance(transport::Nanoseconds span) {
  engine.data_path().set_now(engine.data_path().now() + span);
  run();
}

}  // namespace urnic::engine::test
