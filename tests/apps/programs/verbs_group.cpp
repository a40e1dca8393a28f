// One member of a multicast group, or a sender to it: verbs_group send|receive|talk|talk-blocked GROUP COUNT.
// The receiver says "attached" when it is a member, and how many bytes each datagram has; the sender's have
// 1, 2, 3, … bytes. Who talks is a member and sends; "-blocked": it blocks what it has sent itself. It says
// the bytes of what came back after each, or "nothing".
#include <arpa/inet.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "tests/apps/programs/datagrams.hpp"

namespace urnic::apps {
namespace {

constexpr int kFirstGid = 0;
constexpr std::uint32_t kAllMembers = 0xFFFFFF;
constexpr std::chrono::milliseconds kSilence{500};

void receive_from(Datagrams& own, const ibv_gid& group, std::size_t count) {
  const int error = ibv_attach_mcast(own.qp(), &group, 0);
  require(error == 0, "ibv_attach_mcast: {}", std::strerror(error));
  for (std::size_t i = 0; i < count; ++i) own.post_receive();
  fmt::print("attached\n");
  std::fflush(stdout);
  for (std::size_t i = 0; i < count; ++i) {
    const ibv_wc received = wait_completion(own.cq());
    fmt::print("{}\n", received.byte_len - kGrh);
  }
  require(ibv_detach_mcast(own.qp(), &group, 0) == 0, "ibv_detach_mcast");
}

void send_to(Datagrams& own, const ibv_gid& group, std::size_t count) {
  const AhOwner there = own.handle_to(group, kFirstGid);
  require(there != nullptr, "ibv_create_ah: {}", std::strerror(errno));
  for (std::size_t bytes = 1; bytes <= count; ++bytes)
    require(own.send(there.get(), kAllMembers, bytes) == IBV_WC_SUCCESS, "not sent");
}

void talk(Datagrams& own, const ibv_gid& group, std::size_t count) {
  require(ibv_attach_mcast(own.qp(), &group, 0) == 0, "ibv_attach_mcast");
  const AhOwner there = own.handle_to(group, kFirstGid);
  require(there != nullptr, "ibv_create_ah: {}", std::strerror(errno));
  for (std::size_t i = 0; i <= count; ++i) own.post_receive();
  for (std::size_t bytes = 1; bytes <= count; ++bytes) {
    require(own.send(there.get(), kAllMembers, bytes) == IBV_WC_SUCCESS, "not sent");
    const auto received = poll_for(own.cq(), kSilence);
    fmt::print("{}\n", received ? std::to_string(received->byte_len - kGrh) : "nothing");
  }
  require(!poll_for(own.cq(), kSilence), "more came");
  require(ibv_detach_mcast(own.qp(), &group, 0) == 0, "ibv_detach_mcast");
}

}  // namespace
}  // namespace urnic::apps

int main(int argc, char** argv) try {
  using namespace urnic::apps;
  ibv_gid group{};
  require(argc == 4 && inet_pton(AF_INET6, argv[2], group.raw) == 1,
          "verbs_group send|receive|talk|talk-blocked GROUP COUNT");
  const std::string role = argv[1];
  const Device device("urnic0");
  Datagrams own(device, kQkey, role == "talk-blocked" ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0);
  const auto act = role == "send" ? send_to : role == "receive" ? receive_from : talk;
  act(own, group, std::stoul(argv[3]));
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
