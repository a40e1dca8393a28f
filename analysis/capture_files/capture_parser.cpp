#include "analysis/capture_files/capture_parser.hpp"

#include "analysis/capture_files/capture_error.hpp"
#include "analysis/capture_files/capture_format.hpp"

namespace urnic::analysis {

CaptureParser::CaptureParser() = default;
CaptureParser::~CaptureParser() = default;

void CaptureParser::feed(std::span<const std::byte> bytes) {
  // What has been used goes when it is more than what is kept, so that each byte is moved once.
  if (begin_ > data_.size() / 2) {
    data_.erase(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  data_.insert(data_.end(), bytes.begin(), bytes.end());
}

bool CaptureParser::next(CapturedPacket& packet) {
  if (!error_.empty()) throw CaptureError(error_);
  if (!format_ && !recognise()) return false;
  try {
    for (;;) {
      const auto bytes = std::span<const std::byte>(data_).subspan(begin_);
      const std::size_t record = format_->record_bytes(bytes);
      if (record == 0 || record > bytes.size()) return false;
      const bool is_packet = format_->read(bytes.first(record), packet);
      begin_ += record;
      position_ += record;
      if (!is_packet) continue;
      packet.number = ++packets_;
      return true;
    }
  } catch (const CaptureError& error) {
    fail(error.what());
  }
}

const std::vector<CaptureInterface>& CaptureParser::interfaces() const {
  static const std::vector<CaptureInterface> kNone;
  return format_ ? format_->interfaces() : kNone;
}

bool CaptureParser::recognise() {
  const auto bytes = std::span<const std::byte>(data_).subspan(begin_);
  if (bytes.size() < 4) return false;
  format_ = pcap_format(bytes);
  if (!format_) format_ = pcapng_format(bytes);
  if (!format_) fail("neither a pcap nor a pcapng file");
  return true;
}

void CaptureParser::fail(const std::string& what) {
  error_ = "byte " + std::to_string(position_) + ": " + what;
  throw CaptureError(error_);
}

}  // namespace urnic::analysis
