#include "tools/urnic/capture_file.hpp"

#include <poll.h>

#include <array>

#include "tools/urnic/failure.hpp"

namespace urnic::cli {
namespace {

bool is_readable(int descriptor) {
  pollfd look{descriptor, POLLIN, 0};
  return poll(&look, 1, 0) > 0;
}

}  // namespace

CaptureFile::CaptureFile(AdminClient client, const std::filesystem::path& file, const std::string& device)
    : client_(std::move(client)), file_(file) {
  nlohmann::json request{{"cmd", "capture"}};
  if (!device.empty()) request["device"] = device;
  client_.ask(request);
  std::vector<memory::Descriptor> descriptors = client_.take_descriptors();
  if (descriptors.size() != 2) throw Failure("the device process did not hand over its capture ring");
  reader_ = std::make_unique<capture::CaptureReader>(std::move(descriptors[0]), std::move(descriptors[1]));
}

bool CaptureFile::write_some(std::uint64_t most) {
  capture::CapturedFrame frame;
  for (; most > 0; --most) {
    if (!reader_->next(frame)) {
      file_.flush();
      return false;
    }
    file_.write(frame);
    ++written_;
  }
  return true;
}

// Where the disk is slower than the traffic the ring never runs empty; `stop` must be seen then too, and the
// rest be finite.
bool CaptureFile::write_until(int stop) {
  constexpr int kLook = 200;              // ms; bounds how long `stop` goes unseen
  constexpr std::uint64_t kFrames = 256;  // between two looks
  bool device_ended = false;
  while (!device_ended && !is_readable(stop)) {
    if (!write_some(kFrames)) reader_->wait(stop, kLook);
    device_ended = is_readable(client_.descriptor());
  }
  reader_->stop_here();
  while (write_some(kFrames)) {
  }
  return !device_ended;
}

}  // namespace urnic::cli
