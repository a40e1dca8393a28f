// A capture file, also one that still grows, and one on standard input.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/capture_files/capture_parser.hpp"

namespace urnic::analysis {

class CaptureFile {
 public:
  enum class End {
    whole,         // behind the last record
    within_record  // the file was cut, or its writer has not finished the record
  };

  // Opens `path`; "-" is standard input. Throws CaptureError, with the path.
  explicit CaptureFile(const std::string& path);
  ~CaptureFile();
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;

  // Takes the next packet; false at the file's present end. A later call continues if the file has grown. On
  // a pipe it waits for bytes. Throws CaptureError, with the path.
  bool next(CapturedPacket& packet);
  // The same, of what has been read already: never waits. False says nothing about the file's end.
  bool next_there(CapturedPacket& packet);
  // After `next` returned false.
  End end() const { return parser_.rest() == 0 ? End::whole : End::within_record; }

  const std::vector<CaptureInterface>& interfaces() const { return parser_.interfaces(); }
  const std::string& path() const { return path_; }
  // For poll(2).
  int descriptor() const { return descriptor_; }

  struct Position {
    std::uint64_t read;   // bytes
    std::uint64_t whole;  // bytes of the file as it was when it was opened; 0 of what is no regular file
  };
  Position position() const { return {read_, whole_}; }

 private:
  bool take(CapturedPacket& packet, bool may_read);
  bool read_more();

  std::string path_;
  int descriptor_;
  std::uint64_t read_ = 0;
  std::uint64_t whole_;
  CaptureParser parser_;
};

}  // namespace urnic::analysis
