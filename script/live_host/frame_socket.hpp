// The script's port on a real network: Ethernet frames over a socket.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "device_model/link/frames/frame_stream.hpp"
#include "device_model/memory/descriptor.hpp"
#include "script/call.hpp"

namespace urnic::script {

class FrameSocket {
 public:
  virtual ~FrameSocket() = default;

  // Readable when a frame may have come.
  virtual int descriptor() const = 0;
  // Waits while the other side takes no more. Throws std::system_error if it is gone, or takes nothing for
  // half a minute.
  virtual void send(std::span<const std::byte> frame) = 0;
  // The next frame that has come; it does not wait. Throws as `send`.
  virtual std::optional<Bytes> receive() = 0;
};

// A frame in each message: what a device process hands out (docs/admin-socket.md, "station").
class FrameMessages final : public FrameSocket {
 public:
  explicit FrameMessages(memory::Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const override { return socket_.get(); }
  void send(std::span<const std::byte> frame) override;
  std::optional<Bytes> receive() override;

 private:
  memory::Descriptor socket_;
};

// A byte stream with a length in front of each frame: QEMU's `-netdev stream`, urnicd's `[lan]`.
class FrameStream final : public FrameSocket {
 public:
  explicit FrameStream(memory::Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const override { return socket_.get(); }
  void send(std::span<const std::byte> frame) override;
  std::optional<Bytes> receive() override;

 private:
  memory::Descriptor socket_;
  link::FrameStreamReader reader_;
};

// Connects to the stream at the path of a UNIX socket. Throws std::system_error.
std::shared_ptr<FrameSocket> open_frame_stream(const std::string& path);

}  // namespace urnic::script
