#include "tests/unit/transport_bench/bench_queues.hpp"

#include <algorithm>

namespace urnic::transport::bench {
namespace {

std::uint64_t total_length(const std::vector<Sge>& sges) {
  std::uint64_t length = 0;
  for (const Sge& sge : sges) length += sge.length;
  return length;
}

constexpr Sge kPoison{0xDEADDEADDEADDEAD, 0xDEADDEAD, Lkey{0xDEADDEAD}};

}  // namespace

std::uint32_t BenchSendQueue::post(const SendRequest& request) {
  Post post{request,
            {request.sges.begin(), request.sges.end()},
            {request.inline_data.begin(), request.inline_data.end()}};
  post.request.index = static_cast<std::uint32_t>(posts_.size());
  post.request.length = post.inline_data.size() + total_length(post.sges);
  posts_.push_back(std::move(post));
  return posts_.back().request.index;
}

void BenchSendQueue::clear() {
  posts_.clear();
  taken_ = retired_ = forgotten_ = 0;
}

bool BenchSendQueue::next(SendRequest& request) {
  if (!pending()) return false;
  Post& post = posts_[taken_++];
  request = post.request;
  request.sges = post.sges;
  request.inline_data = post.inline_data;
  return true;
}

void BenchSendQueue::forget_retired() {
  for (; forgotten_ < retired_; ++forgotten_) {
    std::fill(posts_[forgotten_].sges.begin(), posts_[forgotten_].sges.end(), kPoison);
    std::fill(posts_[forgotten_].inline_data.begin(), posts_[forgotten_].inline_data.end(), std::byte{0xDE});
  }
}

std::uint32_t BenchReceiveQueue::post(std::vector<Sge> sges, bool malformed) {
  Post post;
  post.sges = std::move(sges);
  post.request.index = static_cast<std::uint32_t>(posts_.size());
  post.request.malformed = malformed;
  post.request.length = total_length(post.sges);
  posts_.push_back(std::move(post));
  return posts_.back().request.index;
}

void BenchReceiveQueue::clear() {
  posts_.clear();
  taken_ = retired_ = 0;
}

bool BenchReceiveQueue::next(ReceiveRequest& request) {
  if (available() == 0) return false;
  Post& post = posts_[taken_++];
  request = post.request;
  request.sges = post.sges;
  return true;
}

void BenchReceiveQueue::retire(std::uint32_t index) {
  for (; retired_ <= index && retired_ < taken_; ++retired_) {
    std::fill(posts_[retired_].sges.begin(), posts_[retired_].sges.end(), kPoison);
  }
}

}  // namespace urnic::transport::bench
