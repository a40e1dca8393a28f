#include "tools/urnic/capture_file.hpp"

#include <fmt/format.h>
#include <poll.h>

#include "device_model/capture/erf_record.hpp"
#include "device_model/capture/pcap_file.hpp"
#include "device_model/capture/pcapng_file.hpp"
#include "tools/urnic/failure.hpp"

namespace urnic::cli {
namespace {

bool is_readable(int descriptor) {
  pollfd look{descriptor, POLLIN, 0};
  return poll(&look, 1, 0) > 0;
}

bool is_pcapng(const CaptureRequest& request) {
  return request.pcapng || std::filesystem::path(request.file).extension() == ".pcapng";
}

std::vector<capture::Interface> interfaces_for(const CaptureRequest& request,
                                               std::vector<capture::Interface> interfaces) {
  for (capture::Interface& each : interfaces)
    if (request.lrh && each.link_type == capture::LinkType::erf)
      each.link_type = capture::LinkType::infiniband;
  return interfaces;
}

// A classic file has packets of one kind.
capture::LinkType only_type(const CaptureRequest& request,
                            const std::vector<capture::Interface>& interfaces) {
  const capture::LinkType first = interfaces.front().link_type;
  for (const capture::Interface& each : interfaces)
    if (each.link_type != first)
      throw Failure(
          fmt::format("{}: a pcap file does not hold both Ethernet frames and packets of InfiniBand; ask for "
                      "one device, or name the file .pcapng",
                      request.file));
  return first;
}

std::unique_ptr<capture::FrameFile> create(const CaptureRequest& request,
                                           const std::vector<capture::Interface>& interfaces) {
  const auto snaplen = static_cast<std::uint32_t>(request.snaplen);
  if (is_pcapng(request))
    return std::make_unique<capture::PcapngFile>(request.file, "urnic " URNIC_VERSION, snaplen);
  return std::make_unique<capture::PcapFile>(request.file, snaplen, only_type(request, interfaces));
}

// A classic file holds each packet once, since it cannot say at which capture point a packet was seen.
std::vector<std::string> points_for(const CaptureRequest& request) {
  if (is_pcapng(request)) {
    return request.points.empty() ? std::vector<std::string>{"before", "after", "dropped"} : request.points;
  }
  if (request.points.size() > 1) {
    throw Failure(
        fmt::format("{}: a pcap file does not tell capture points apart; ask for one of them, or name "
                    "the file .pcapng",
                    request.file));
  }
  return request.points.empty() ? std::vector<std::string>{"before"} : request.points;
}

}  // namespace

CaptureFile::CaptureFile(AdminClient client, const CaptureRequest& request) {
  const std::vector<std::string> points = points_for(request);
  capture_ = std::make_unique<RunningCapture>(std::move(client), points, request.device, request.snaplen);
  interfaces_ = interfaces_for(request, capture_->interfaces());
  file_ = create(request, interfaces_);
  file_->describe_interfaces(interfaces_);
}

void CaptureFile::write(capture::CapturedFrame frame) {
  if (interfaces_[frame.interface].link_type == capture::LinkType::infiniband) {
    const capture::ErfPacket packet = capture::packet_in_erf_record(frame.bytes);
    frame.bytes = packet.bytes;
    frame.original_bytes = packet.original_bytes;
  }
  file_->write(frame);
}

bool CaptureFile::write_some(std::uint64_t most) {
  capture::CapturedFrame frame;
  std::uint64_t taken = 0;
  while (taken < most && capture_->reader().next(frame)) {
    write(frame);
    ++taken;
  }
  file_->flush();
  capture_->reader().release();
  written_ += taken;
  return taken == most;
}

// If the disk is slower than the traffic, the ring never runs empty: `stop` must be seen nevertheless, and
// the rest must be finite. If the disk is faster, frames gather for a while: that makes few large writes, and
// the engine need not wake the reader while there is traffic.
bool CaptureFile::write_until(int stop) {
  constexpr int kGather = 1;              // ms; much less than a ring takes to fill
  constexpr int kLook = 200;              // ms; bounds how long `stop` goes unseen
  constexpr std::uint64_t kFrames = 256;  // between two looks, and in a write: 1 MiB of full packets
  bool device_ended = false;
  while (!device_ended && !is_readable(stop)) {
    const std::uint64_t before = written_;
    if (!write_some(kFrames)) {
      if (written_ != before) {
        capture_->reader().rest(stop, kGather);
      } else {
        capture_->reader().wait(stop, kLook);
      }
    }
    device_ended = is_readable(capture_->descriptor());
  }
  capture_->reader().stop_here();
  while (write_some(kFrames)) {
  }
  return !device_ended;
}

}  // namespace urnic::cli
