#include "device_model/control/rdma_cm/rdma_cm.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

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

RdmaCm::RdmaCm(Fabric& fabric, const Hosts& hosts, Clock now, const cm::Settings& settings,
               WorkInPortions& work)
    : work_(work),
      administration_(fabric, hosts.administration, now, settings.seed, hosts.has_administration),
      events_(fabric, hosts.connections, administration_.broadcast, std::move(now), settings),
      resolutions_(events_.identifiers(), administration_.broadcast),
      routes_(events_.identifiers(), administration_) {}

void RdmaCm::register_again(subnet::NodeIndex adapter) {
  administration_.memberships.join_again(adapter);
  administration_.broadcast.ask(adapter);
}

RdmaCm::~RdmaCm() {
  for (Entry& entry : channels_) entry.closing.reset();
}

Session RdmaCm::session_of(Channel& channel) {
  return {events_.identifiers(), resolutions_, routes_, administration_, channel};
}

Channel& RdmaCm::open(Opener opener, std::function<bool()> send_token) {
  return channels_.emplace_back(std::move(opener), std::move(send_token)).channel;
}

void RdmaCm::close(Channel& channel) {
  const auto found = std::find_if(channels_.begin(), channels_.end(),
                                  [&](const Entry& entry) { return &entry.channel == &channel; });
  found->channel.close();
  std::erase(with_tokens_, &channel);
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

void RdmaCm::carry_events(Channel& channel, std::function<bool(const Answer&, std::uint32_t)> send,
                          std::function<std::size_t()> unread) {
  channel.carry_events({[this, &channel, send = std::move(send)](const Event& event, std::uint32_t number) {
                          Session session = session_of(channel);
                          Answer answer;
                          answer.length = sizeof event.answer;
                          std::memcpy(answer.storage.data(), &event.answer, answer.length);
                          add_further_answers(session, event.answer, answer);
                          return send(answer, number);
                        },
                        std::move(unread),
                        [this, &channel] {
                          if (with_tokens_.empty() || with_tokens_.back() != &channel)
                            with_tokens_.push_back(&channel);
                        }});
}

void RdmaCm::send_tokens() {
  for (Channel* const channel : std::exchange(with_tokens_, {})) {
    events_.identifiers().settle(*channel);
    channel->send_tokens();
  }
}

void RdmaCm::execute(Channel& channel, std::span<const std::byte> command, std::span<const std::byte> option,
                     Channel* old_channel, Answer& answer, std::uint32_t token) {
  Session session = session_of(channel);
  session.old_channel = old_channel;
  session.option = option;
  session.token = token;
  dispatch(session, command, answer);
  if (answer.error == 0 && is_get_event(command)) {
    rdma_ucm_event_resp event{};
    std::memcpy(&event, answer.storage.data(), std::min(answer.length, sizeof event));
    add_further_answers(session, event, answer);
  }
}

}  // namespace urnic::control::rdma_cm
