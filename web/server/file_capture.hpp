// A capture file as a page looks at it: its connections, and the packets of each. Read on a thread of its
// own; what has been read so far can be asked for meanwhile.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analysis/flows/connections.hpp"
#include "analysis/flows/flow_tracker.hpp"
#include "json/json.hpp"

namespace urnic::web {

class FileCapture {
 public:
  // Begins to read. Throws analysis::CaptureError if the file cannot be opened.
  explicit FileCapture(const std::string& path);
  ~FileCapture();
  FileCapture(const FileCapture&) = delete;
  FileCapture& operator=(const FileCapture&) = delete;

  // How far it is read, and what is wrong with it.
  nlohmann::json progress() const;
  // A list of connections, the one with most packets first.
  nlohmann::json connections() const;
  // `count` arrows (arrow.hpp) of a connection from the `from`-th on, at most kMostArrows. Throws WrongAction
  // if there is no such connection.
  static constexpr std::size_t kMostArrows = 2000;
  nlohmann::json arrows(std::size_t connection, std::size_t from, std::size_t count) const;
  // What a connection did over time.
  nlohmann::json series(std::size_t connection) const;
  // Reads the file again up to the frame. Throws WrongAction if there is none.
  nlohmann::json frame(std::uint64_t number) const;

 private:
  struct Connection {
    analysis::Connection ends;
    std::vector<analysis::PacketId> packets;  // in the order of sending
  };

  void read();
  void group();
  const Connection& connection(std::size_t index) const;

  const std::string path_;
  mutable std::mutex mutex_;
  analysis::FlowTracker tracker_;
  std::vector<Connection> connections_;  // once it is read
  std::atomic<bool> stop_{false};
  bool whole_ = false;
  std::string problem_;
  std::thread reader_;
};

}  // namespace urnic::web
