// Plays one host's half of a dialogue that two Linux hosts had (tests/golden/soft-roce-cm.pcap) to a
// connection manager in the place of the other host, and compares what the manager sends with what that host
// sent.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/unit/cm/end.hpp"

namespace urnic::cm::test {

// A message of the capture. Frames are counted from 1, as Wireshark does.
struct GoldenMessage {
  std::size_t frame = 0;
  wire::Gid source;
  wire::Gid destination;
  std::uint8_t hop_limit = 0;
  MadHeader header;
  Mad mad{};
  CmMessage message;
};

// The CM's messages of these frames.
std::vector<GoldenMessage> golden_messages(std::size_t first, std::size_t last);

// A message that was lost before the place where the capture was made.
struct LostMessage {
  std::size_t behind = 0;  // it left after this frame
  std::size_t like = 0;    // and was as this later frame, its repetition; 0: none was lost
};

class GoldenDialogue {
 public:
  // The manager is in the place of the host that sent the first frame (`active`), or of the other one.
  GoldenDialogue(std::vector<GoldenMessage> messages, bool active, const LostMessage& lost);

  // True if the manager sent the same as the host, but for ids, transaction ids and PSNs that it chose, and
  // nothing else. Reports differences.
  void play();

 private:
  // The host: it has every GID, and the CA GUID of the capture.
  class Linux : public End {
   public:
    using End::End;
    DeviceDescription describe(DeviceIndex) const override { return {guid, {15}, MtuCode::bytes_4096}; }
    bool has_gid(DeviceIndex, const wire::Gid&) const override { return true; }
    wire::mad::Guid guid;
  };

  bool is_ours(const GoldenMessage& message) const { return message.source == own_; }
  void hear(GoldenMessage message);
  void listen_as_linux_did(const GoldenMessage& request);
  void say(const GoldenMessage& message);
  // Makes the manager send what the host sent: by itself, by time, or by what the program did.
  void cause(const GoldenMessage& message);
  void act(const Req& message);
  void act(const Mra&) {}
  void act(const Rej& message);
  void act(const Rep& message);
  void act(const Rtu& message);
  void act(const Dreq& message);
  void act(const Drep& message);
  void act(const SidrReq& message);
  void act(const SidrRep& message);
  void act(const Lap&) {}
  void act(const Apr&) {}
  void compare(const GoldenMessage& expected, const Mad& sent);

  // Ours for an id of the host.
  CommunicationId own_id(CommunicationId golden, CommunicationId remote);

  std::vector<GoldenMessage> messages_;
  LostMessage lost_;
  wire::Gid own_;
  Linux linux_;
  Time now_{};
  std::deque<Mad> outbox_;
  std::map<CommunicationId, CommunicationId> ids_;          // the host's to ours
  std::map<CommunicationId, CommunicationId> requests_;     // the peer's to ours
  std::map<TransactionId, TransactionId> transactions_;     // the host's to ours
  std::set<std::pair<std::uint16_t, std::uint32_t>> said_;  // attribute and local id
};

}  // namespace urnic::cm::test
