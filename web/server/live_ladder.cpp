#include "web/server/live_ladder.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "analysis/capture_files/link_frame.hpp"
#include "analysis/dissection/frame_text.hpp"
#include "device_model/capture/pcapng_file.hpp"
#include "device_model/memory/descriptor.hpp"
#include "web/server/actions.hpp"
#include "web/server/arrow.hpp"
#include "web/server/frame_view.hpp"

namespace urnic::web {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kTryAgain{1};

}  // namespace

// A capture that cannot be made now may be possible later: the queue pair or the device process may come
// back.
void LiveLadder::take() {
  const auto now = std::chrono::steady_clock::now();
  try {
    if (frames_ != nullptr && !frames_->is_open()) throw std::runtime_error("the device process has ended");
    if (frames_ == nullptr && now >= try_again_) begin();
    if (frames_ == nullptr) return;
    const std::size_t taken = frames_->drain();
    for (auto frame = frames_->frames().end() - static_cast<std::ptrdiff_t>(taken);
         frame != frames_->frames().end(); ++frame)
      track(*frame);
  } catch (const std::exception& error) {
    problem_ = error.what();
    frames_.reset();
    try_again_ = now + kTryAgain;
  }
}

void LiveLadder::begin() {
  frames_ = std::make_unique<LiveFrames>(devices_, queue_pair_);
  ++capture_;
  problem_.clear();
  arrows_.clear();
  tracker_.reset();
  zero_ = 0;
  interfaces_.clear();
  for (const capture::Interface& each : frames_->interfaces())
    interfaces_.push_back(analysis::named_interface(each.name, each.description,
                                                    static_cast<analysis::LinkType>(each.link_type)));
}

// What is known of earlier packets says nothing about those behind a gap.
void LiveLadder::track(const LiveFrame& frame) {
  if (zero_ == 0) zero_ = static_cast<std::int64_t>(frame.nanoseconds);
  if (tracker_ == nullptr || frame.after_gap) {
    tracker_ = std::make_unique<analysis::FlowTracker>(LiveFrames::kMost);
  }
  const analysis::PacketId id = tracker_->add(packet_in(frame), interfaces_);
  if (id != analysis::kNoPacket) put(tracker_->packets()[id]);
  for (const analysis::PacketId changed : tracker_->changed()) {
    if (tracker_->packets().has(changed)) put(tracker_->packets()[changed]);
  }
}

// Throws CaptureError if the ring does not hold what its interface says.
analysis::CapturedPacket LiveLadder::packet_in(const LiveFrame& frame) {
  analysis::CapturedPacket packet{.number = frame.number,
                                  .nanoseconds = static_cast<std::int64_t>(frame.nanoseconds),
                                  .interface = frame.interface,
                                  .bytes = {},
                                  .comment = frame.comment};
  analysis::set_frame(packet, interfaces_[frame.interface].link, frame.bytes,
                      static_cast<std::uint32_t>(frame.bytes.size()), storage_);
  return packet;
}

// A packet that goes to the queue pair's number comes from its peer, unless the queue pair itself has sent it
// to a namesake at another device.
void LiveLadder::put(const analysis::Packet& packet) {
  const LiveFrame* const frame = frames_->find(packet.number);
  if (frame == nullptr) return;
  const bool by_own_device = interfaces_[frame->interface].device == queue_pair_.device;
  const analysis::Flow& flow = tracker_->flows()[packet.flow];
  const bool for_it = flow.destination_qp.value == queue_pair_.qpn;
  const bool within_device = flow.source == flow.destination;
  json row = arrow(*tracker_, packet, {for_it && (!by_own_device || within_device), zero_});
  row["gap"] = frame->after_gap;
  const analysis::CapturedPacket record = packet_in(*frame);
  row["headers"] =
      analysis::summary(analysis::dissect(record.bytes, record.original_bytes, record.link_layer));
  arrows_.insert_or_assign(packet.number, Arrow{std::move(row), ++version_});
  if (arrows_.size() > kMostArrows) arrows_.erase(arrows_.begin());
}

LiveLadder::Changes LiveLadder::changes_since(std::uint64_t since) {
  const std::lock_guard lock(mutex_);
  take();
  Changes changes;
  changes.problem = problem_;
  changes.version = version_;
  changes.capture = capture_;
  if (frames_ != nullptr) changes.missed = frames_->missed();
  if (!arrows_.empty()) changes.oldest = arrows_.begin()->first;
  for (const auto& [number, arrow] : arrows_) {
    if (arrow.version > since) changes.arrows.push_back(arrow.json);
  }
  return changes;
}

json LiveLadder::frame(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const LiveFrame* const frame = frames_ != nullptr ? frames_->find(number) : nullptr;
  if (frame == nullptr) throw WrongAction(fmt::format("frame {} is not kept any more", number));
  return frame_view(packet_in(*frame));
}

std::string LiveLadder::pcapng() {
  const std::lock_guard lock(mutex_);
  if (frames_ == nullptr) throw WrongAction("there are no frames yet");
  const memory::Descriptor file(memfd_create("urnic-web-capture", MFD_CLOEXEC));
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  {
    capture::PcapngFile pcapng(path, "urnic web");
    pcapng.describe_interfaces(frames_->interfaces());
    for (const LiveFrame& frame : frames_->frames())
      pcapng.write({frame.nanoseconds, frame.bytes, frame.bytes.size(), frame.interface, frame.comment});
    pcapng.flush();
  }
  std::string content(static_cast<std::size_t>(lseek(file.get(), 0, SEEK_END)), '\0');
  if (pread(file.get(), content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
    throw std::runtime_error("the capture cannot be read back");
  return content;
}

std::shared_ptr<LiveLadder> LiveLadders::watch(const QueuePairName& queue_pair) {
  const std::lock_guard lock(mutex_);
  std::erase_if(ladders_, [](const auto& each) { return each.second.expired(); });
  std::shared_ptr<LiveLadder> ladder = ladders_[queue_pair].lock();
  if (ladder == nullptr) {
    ladder = std::make_shared<LiveLadder>(devices_, queue_pair);
    ladders_[queue_pair] = ladder;
  }
  return ladder;
}

std::shared_ptr<LiveLadder> LiveLadders::find(const QueuePairName& queue_pair) {
  const std::lock_guard lock(mutex_);
  const auto found = ladders_.find(queue_pair);
  std::shared_ptr<LiveLadder> ladder = found == ladders_.end() ? nullptr : found->second.lock();
  if (ladder == nullptr) throw WrongAction("no page looks at this queue pair's ladder");
  return ladder;
}

}  // namespace urnic::web
