// Work queues that a test posts to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "device_model/transport/work_request.hpp"

namespace urnic::transport::bench {

class BenchSendQueue final : public SendQueue {
 public:
  // Posts a copy of `request` with its SGEs and inline data; fills `index` and `length` in. Returns the
  // index.
  std::uint32_t post(const SendRequest& request);
  // Numbering starts at 0 again (QP to reset).
  void clear();

  std::uint32_t taken() const { return taken_; }
  std::uint32_t retired() const { return retired_; }  // count of retired requests

  bool next(SendRequest& request) override;
  bool pending() const override { return taken_ != posts_.size(); }
  void retire(std::uint32_t index) override { retired_ = index + 1; }
  // Overwrites the retired requests' SGEs and inline data, so that a use after this shows. Called when a
  // batch has ended well.
  void forget_retired();
  // A batch had a failed access: what was retired in it is not.
  void keep_retired() { retired_ = forgotten_; }

 private:
  struct Post {
    SendRequest request;
    std::vector<Sge> sges;
    std::vector<std::byte> inline_data;
  };
  std::deque<Post> posts_;
  std::uint32_t taken_ = 0;
  std::uint32_t retired_ = 0;
  std::uint32_t forgotten_ = 0;
};

class BenchReceiveQueue final : public ReceiveQueue {
 public:
  std::uint32_t post(std::vector<Sge> sges, bool malformed = false);
  void clear();

  std::uint32_t taken() const { return taken_; }
  std::uint32_t retired() const { return retired_; }

  bool next(ReceiveRequest& request) override;
  std::uint32_t available() const override { return static_cast<std::uint32_t>(posts_.size()) - taken_; }
  void retire(std::uint32_t index) override;

 private:
  struct Post {
    ReceiveRequest request;
    std::vector<Sge> sges;
  };
  std::deque<Post> posts_;
  std::uint32_t taken_ = 0;
  std::uint32_t retired_ = 0;
};

}  // namespace urnic::transport::bench
