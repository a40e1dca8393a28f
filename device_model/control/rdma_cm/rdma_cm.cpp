#include "device_model/control/rdma_cm/rdma_cm.hpp"

#include <algorithm>

#include "device_model/control/rdma_cm/further_answers.hpp"

namespace urnic::control::rdma_cm {
namespace {

// Each may send a DREQ.
constexpr int kDestroyedAtOnce = 16;

}  // namespace

struct RdmaCm::Entry {
  Entry(Opener opener, std::function<bool()> send_token)
      : channel(std::move(opener), std::move(send_token)) {}
  Channel channel;
  WorkInPortions::Work closing;
};

RdmaCm::RdmaCm(Fabric& fabric, cm::Host& host, Clock now, const cm::Settings& settings, WorkInPortions& work)
    : work_(work), events_(fabric, host, std::move(now), settings), resolutions_(events_.identifiers()) {}

RdmaCm::~RdmaCm() {
  for (Entry& entry : channels_) entry.closing.reset();
}

Channel& RdmaCm::open(Opener opener, std::function<bool()> send_token) {
  return channels_.emplace_back(std::move(opener), std::move(send_token)).channel;
}

void RdmaCm::close(Channel& channel) {
  const auto found = std::find_if(channels_.begin(), channels_.end(),
                                  [&](const Entry& entry) { return &entry.channel == &channel; });
  found->channel.close();
  found->closing = WorkInPortions::Work(work_, [this, found] {
    if (close_portion(*found)) return true;
    channels_.erase(found);
    return false;
  });
}

bool RdmaCm::close_portion(Entry& entry) {
  Identifiers& identifiers = events_.identifiers();
  for (int i = 0; i < kDestroyedAtOnce && !entry.channel.ids.empty(); ++i) {
    if (Id* const id = identifiers.find(*entry.channel.ids.begin())) identifiers.destroy(*id);
  }
  return !entry.channel.ids.empty();
}

void RdmaCm::execute(Channel& channel, std::span<const std::byte> command, std::span<const std::byte> option,
                     Channel* old_channel, Answer& answer) {
  Session session{events_.identifiers(), resolutions_, channel, old_channel, option};
  dispatch(session, command, answer);
  add_further_answers(session, command, answer);
}

}  // namespace urnic::control::rdma_cm
