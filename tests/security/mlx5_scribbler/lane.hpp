// Two ends of a service, and all the memory by which they and the device talk.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/apps/programs/device.hpp"
#include "tests/apps/programs/memory.hpp"
#include "tests/security/device_fuzz/chance.hpp"

namespace urnic::mlx5_scribbler {

using device_fuzz::Chance;

enum class Service { reliable, reliable_with_srq, unreliable, datagram };
inline constexpr std::size_t kServices = 4;

// What one queue is made of.
struct Ring {
  std::span<std::byte> entries;
  std::size_t stride = 0;
};

// One end: a QP, a CQ, and an SRQ where its service has one. Not moved: libmlx5 has its addresses.
class End {
 public:
  // Throws std::runtime_error.
  End(const apps::Device& device, Service service);
  // An end with an SRQ stays until the process ends: libmlx5 follows the links between the WQEs of an SRQ
  // when it destroys a QP, and would follow nonsense.
  ~End();
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  // Throws std::runtime_error.
  void connect(const End& peer);
  // 0 or an errno.
  int to_state(ibv_qp_state state);
  // Valid requests, as far as the send queue has room. `peer`: where remote memory is.
  void post(Chance& chance, const End& peer);
  void post_receives(Chance& chance);

  Service service() const { return service_; }
  const std::vector<Ring>& rings() const { return rings_; }
  // Doorbell records, of two 32-bit words.
  const std::vector<std::span<std::byte>>& records() const { return records_; }
  // The registers of the page into which it stores; libmlx5 stores into them, too.
  std::span<std::byte> registers() const { return registers_; }

 private:
  void make_cq();
  void make_srq();
  void make_qp();
  void look_inside();
  ibv_ah* address_of(const End& peer);

  const apps::Device& device_;
  const Service service_;
  apps::Memory memory_;
  ibv_cq* cq_ = nullptr;
  ibv_srq* srq_ = nullptr;
  ibv_qp* qp_ = nullptr;
  ibv_ah* ah_ = nullptr;
  std::vector<Ring> rings_;
  std::vector<std::span<std::byte>> records_;
  std::span<std::byte> registers_;
};

struct Lane {
  // Connected. Throws.
  Lane(const apps::Device& first, const apps::Device& second, Service service)
      : ends{std::make_unique<End>(first, service), std::make_unique<End>(second, service)} {
    ends[0]->connect(*ends[1]);
    ends[1]->connect(*ends[0]);
  }

  std::unique_ptr<End> ends[2];
};

}  // namespace urnic::mlx5_scribbler
