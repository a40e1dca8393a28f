#include "device_model/capture/pcap_file.hpp"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace urnic::capture {

namespace {

constexpr int kSnapshotLength = 65535;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kFileHeaderBytes = 24;
constexpr std::size_t kRecordHeaderBytes = 16;

std::FILE* open_stream(const std::string& path) {
  if (path == "-") {
    memory::Descriptor copy(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    std::FILE* stream = copy ? fdopen(copy.get(), "w") : nullptr;
    if (stream != nullptr) copy.release();
    return stream;
  }
  return std::fopen(path.c_str(), "we");
}

}  // namespace

PcapFile::PcapFile(const std::string& path) : path_(path == "-" ? "standard output" : path) {
  handle_.reset(
      pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kSnapshotLength, PCAP_TSTAMP_PRECISION_NANO));
  std::FILE* stream = handle_ ? open_stream(path) : nullptr;
  if (stream == nullptr) throw std::system_error(errno, std::system_category(), "capture file " + path_);
  // stdio writes to the file when its buffer is full, wherever that cuts a record. The buffer here is never
  // let get full: it is flushed between two records.
  buffer_.resize(kBufferBytes);
  std::setvbuf(stream, buffer_.data(), _IOFBF, buffer_.size());
  dump_.reset(pcap_dump_fopen(handle_.get(), stream));
  if (!dump_) throw std::system_error(EIO, std::system_category(), "capture file " + path_);
  buffered_ = kFileHeaderBytes;
  flush();
}

PcapFile::~PcapFile() {
  try {
    if (error_ == 0) flush();
  } catch (const std::system_error&) {
    // The file has been cut to its whole records; there is nobody left to tell.
  }
}

void PcapFile::fail(int error) {
  if (error_ == 0) {
    error_ = error;
    std::FILE* stream = pcap_dump_file(dump_.get());
    __fpurge(stream);
    // A pipe cannot be cut; then its reader meets the partial record.
    if (ftruncate(fileno(stream), static_cast<off_t>(flushed_)) != 0) errno = 0;
  }
  throw std::system_error(error_, std::system_category(), "capture file " + path_);
}

void PcapFile::write(const CapturedFrame& frame) {
  if (error_ != 0) fail(error_);
  const std::size_t bytes = kRecordHeaderBytes + frame.bytes.size();
  if (bytes > kBufferBytes - kFileHeaderBytes) fail(EMSGSIZE);
  if (buffered_ + bytes >= kBufferBytes) flush();
  pcap_pkthdr header{};
  header.ts.tv_sec = static_cast<time_t>(frame.nanoseconds / 1'000'000'000);
  header.ts.tv_usec =
      static_cast<suseconds_t>(frame.nanoseconds % 1'000'000'000);  // ns: the file's precision
  header.caplen = static_cast<bpf_u_int32>(frame.bytes.size());
  header.len = header.caplen;
  pcap_dump(reinterpret_cast<u_char*>(dump_.get()), &header,
            reinterpret_cast<const u_char*>(frame.bytes.data()));
  buffered_ += bytes;
  ++records_;
}

void PcapFile::flush() {
  if (error_ != 0) fail(error_);
  if (buffered_ == 0) return;
  if (pcap_dump_flush(dump_.get()) != 0) fail(errno);
  flushed_ += buffered_;
  buffered_ = 0;
}

}  // namespace urnic::capture
