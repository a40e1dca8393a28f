// The page by which programs know that answers about an identifier are out of date
// (abi/rdma_cm_messages.hpp).
#pragma once

#include <cstdint>

#include "device_model/abi/rdma_cm_messages.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control::rdma_cm {

class IdentifierChanges {
 public:
  // Throws std::system_error.
  IdentifierChanges();
  ~IdentifierChanges();
  IdentifierChanges(const IdentifierChanges&) = delete;
  IdentifierChanges& operator=(const IdentifierChanges&) = delete;

  // Its receiver can map the page for reading only.
  int descriptor() const { return read_only_.get(); }

  // What is known of the identifier changes, or is about to.
  void note(std::uint32_t identifier);
  // An event that went with its token is about to be taken back.
  void note_withdrawal();
  std::uint32_t withdrawals() const { return page_->withdrawals.load(std::memory_order_relaxed); }
  std::uint32_t of(std::uint32_t identifier) const { return page_->of(identifier); }

 private:
  memory::Descriptor memory_;
  memory::Descriptor read_only_;
  abi::IdentifierChanges* page_ = nullptr;
};

}  // namespace urnic::control::rdma_cm
