#include "tools/urnic/packet_source.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include "analysis/capture_files/capture_file.hpp"
#include "analysis/capture_files/link_frame.hpp"
#include "tools/urnic/running_capture.hpp"

namespace urnic::cli {
namespace {

bool is_readable(int descriptor, int milliseconds) {
  pollfd look{descriptor, POLLIN, 0};
  return poll(&look, 1, milliseconds) > 0;
}

bool is_regular(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

class FilePackets final : public PacketSource {
 public:
  explicit FilePackets(const std::string& path) : file_(path), is_regular_(is_regular(file_.descriptor())) {}

  Next next(analysis::CapturedPacket& packet) override {
    if (file_.next_there(packet)) return Next::packet;
    // A pipe is read only when it has something, so that packets on hold are not kept back by it.
    if (!is_regular_ && !is_readable(file_.descriptor(), 0)) return Next::none_yet;
    return file_.next(packet) ? Next::packet : Next::end;
  }
  void wait(int stop, int milliseconds) override {
    pollfd looks[2] = {{file_.descriptor(), POLLIN, 0}, {stop, POLLIN, 0}};
    poll(looks, 2, milliseconds);
  }
  const std::vector<analysis::CaptureInterface>& interfaces() const override { return file_.interfaces(); }
  bool is_whole() const override { return is_regular_; }
  analysis::CaptureFile::Position position() const override { return file_.position(); }
  std::string complaint() const override {
    if (file_.end() == analysis::CaptureFile::End::whole) return {};
    return fmt::format("{} ends within a record: it was cut, or is still being written", file_.path());
  }

 private:
  analysis::CaptureFile file_;
  const bool is_regular_;
};

class DevicePackets final : public PacketSource {
 public:
  DevicePackets(AdminClient client, const std::string& device)
      : capture_(std::move(client), {"before", "after", "dropped"}, device) {
    for (const capture::Interface& interface : capture_.interfaces())
      interfaces_.push_back(analysis::named_interface(interface.name, interface.description,
                                                      static_cast<analysis::LinkType>(interface.link_type)));
  }

  Next next(analysis::CapturedPacket& packet) override {
    capture::CapturedFrame frame;
    capture_.reader().release();
    if (!capture_.reader().next(frame)) {
      if (!has_ended_ && !is_readable(capture_.descriptor(), 0)) return Next::none_yet;
      // What is in the ring by now is the rest.
      if (has_ended_) return Next::end;
      has_ended_ = true;
      if (!capture_.reader().next(frame)) return Next::end;
    }
    packet.number = ++count_;
    packet.nanoseconds = static_cast<std::int64_t>(frame.nanoseconds);
    packet.interface = frame.interface;
    // A copy, since whoever writes the ring could change the bytes while they are looked at.
    bytes_.assign(frame.bytes.begin(), frame.bytes.end());
    analysis::set_frame(packet, interfaces_[frame.interface].link, bytes_,
                        static_cast<std::uint32_t>(frame.original_bytes), storage_);
    packet.comment = frame.comment;
    return Next::packet;
  }
  void wait(int stop, int milliseconds) override { capture_.reader().wait(stop, milliseconds); }
  const std::vector<analysis::CaptureInterface>& interfaces() const override { return interfaces_; }
  bool is_whole() const override { return false; }
  analysis::CaptureFile::Position position() const override { return {}; }
  std::string complaint() const override {
    const std::uint64_t lost = capture_.reader().dropped();
    return lost == 0
               ? std::string{}
               : fmt::format("{} packets are missing, since this command was too slow for the traffic", lost);
  }

 private:
  RunningCapture capture_;
  std::vector<analysis::CaptureInterface> interfaces_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> storage_;
  std::uint64_t count_ = 0;
  bool has_ended_ = false;
};

}  // namespace

std::unique_ptr<PacketSource> packets_of_file(const std::string& path) {
  return std::make_unique<FilePackets>(path);
}

std::unique_ptr<PacketSource> packets_of_devices(AdminClient client, const std::string& device) {
  return std::make_unique<DevicePackets>(std::move(client), device);
}

}  // namespace urnic::cli
