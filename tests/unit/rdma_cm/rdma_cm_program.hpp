// Programs that give rdma_cm commands.
#pragma once

#include <arpa/inet.h>
#include <rdma/rdma_user_cm.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "device_model/engine/engine.hpp"
#include "tests/unit/rdma_cm/rdma_cm_world.hpp"

namespace urnic::control::rdma_cm::test {

// An address with a port: "192.0.2.1", "fe80::1", "" for none.
inline __kernel_sockaddr_storage address(const std::string& text, std::uint16_t port = 0,
                                         std::uint32_t scope = 0) {
  __kernel_sockaddr_storage storage{};
  sockaddr_in ip4{};
  sockaddr_in6 ip6{};
  if (inet_pton(AF_INET, text.c_str(), &ip4.sin_addr) == 1) {
    ip4.sin_family = AF_INET;
    ip4.sin_port = htons(port);
    std::memcpy(&storage, &ip4, sizeof ip4);
  } else if (inet_pton(AF_INET6, text.c_str(), &ip6.sin6_addr) == 1) {
    ip6.sin6_family = AF_INET6;
    ip6.sin6_port = htons(port);
    ip6.sin6_scope_id = scope;
    std::memcpy(&storage, &ip6, sizeof ip6);
  }
  return storage;
}

inline std::uint16_t size_of(const __kernel_sockaddr_storage& storage) {
  return static_cast<std::uint16_t>(address_bytes(family_of(std::as_bytes(std::span(&storage, 1)))));
}

inline std::string text_of(const __kernel_sockaddr_storage& storage) {
  return to_text(read_address(std::as_bytes(std::span(&storage, 1))));
}

// A program with one channel.
class Program {
 public:
  explicit Program(World& world, pid_t pid = 1000)
      : world_(world), channel_(&world.rdma_cm.open(opener(world, pid), [this] {
          ++tokens;
          return true;
        })) {}

  // The errno; the answer is left in `answer`.
  template <class Body>
  int run(std::uint32_t command, const Body& body, std::uint16_t room = 440,
          std::size_t length = sizeof(Body), Channel* old_channel = nullptr) {
    std::vector<std::byte> bytes(8 + length);
    const rdma_ucm_cmd_hdr header{command, static_cast<std::uint16_t>(length), room};
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &body, std::min(length, sizeof body));
    world_.rdma_cm.execute(*channel_, bytes, option, old_channel, answer);
    tokens -= channel_->excess_tokens();
    return answer.error;
  }
  template <class AnswerBody>
  AnswerBody read_answer() const {
    AnswerBody body{};
    std::memcpy(&body, answer.storage.data(), std::min(answer.length, sizeof body));
    return body;
  }

  std::uint32_t create(std::uint16_t space = RDMA_PS_TCP, std::uint8_t qp_type = 2, std::uint64_t uid = 77) {
    const int error = run(RDMA_USER_CM_CMD_CREATE_ID, rdma_ucm_create_id{uid, 0, space, qp_type, {}});
    BOOST_REQUIRE_EQUAL(error, 0);
    return read_answer<rdma_ucm_create_id_resp>().id;
  }
  int destroy(std::uint32_t id) { return run(RDMA_USER_CM_CMD_DESTROY_ID, rdma_ucm_destroy_id{0, id, 0}); }
  std::uint32_t events_reported() const { return read_answer<rdma_ucm_destroy_id_resp>().events_reported; }
  int bind(std::uint32_t id, const __kernel_sockaddr_storage& to) {
    return run(RDMA_USER_CM_CMD_BIND, rdma_ucm_bind{id, size_of(to), 0, to});
  }
  int bind(std::uint32_t id, const std::string& to, std::uint16_t port = 0) {
    return bind(id, address(to, port));
  }
  int resolve(std::uint32_t id, const __kernel_sockaddr_storage& to,
              const __kernel_sockaddr_storage& from = {}, std::uint32_t timeout_ms = 2000) {
    return run(RDMA_USER_CM_CMD_RESOLVE_ADDR,
               rdma_ucm_resolve_addr{id, timeout_ms, size_of(from), size_of(to), 0, from, to});
  }
  int resolve_route(std::uint32_t id, std::uint32_t timeout_ms = 2000) {
    return run(RDMA_USER_CM_CMD_RESOLVE_ROUTE, rdma_ucm_resolve_route{id, timeout_ms});
  }
  int listen(std::uint32_t id, std::uint32_t backlog = 8) {
    return run(RDMA_USER_CM_CMD_LISTEN, rdma_ucm_listen{id, backlog});
  }
  int connect(std::uint32_t id, rdma_ucm_conn_param parameters) {
    parameters.valid = 1;
    if (parameters.qp_num == 0) parameters.qp_num = ++world_.last_qp;
    return run(RDMA_USER_CM_CMD_CONNECT, rdma_ucm_connect{parameters, id, 0, {}});
  }
  int accept(std::uint32_t id, std::optional<rdma_ucm_conn_param> parameters, std::uint64_t uid = 88) {
    rdma_ucm_accept command{uid, parameters.value_or(rdma_ucm_conn_param{}), id, 0, {}};
    command.conn_param.valid = parameters.has_value();
    if (command.conn_param.qp_num == 0) command.conn_param.qp_num = ++world_.last_qp;
    return run(RDMA_USER_CM_CMD_ACCEPT, command);
  }
  int reject(std::uint32_t id, std::uint8_t reason = 0, const std::string& data = "") {
    rdma_ucm_reject command{id, static_cast<std::uint8_t>(data.size()), reason, {}, {}};
    std::memcpy(command.private_data, data.data(), data.size());
    return run(RDMA_USER_CM_CMD_REJECT, command);
  }
  int disconnect(std::uint32_t id) { return run(RDMA_USER_CM_CMD_DISCONNECT, rdma_ucm_disconnect{id}); }
  int notify(std::uint32_t id, std::uint32_t event = 4) {
    return run(RDMA_USER_CM_CMD_NOTIFY, rdma_ucm_notify{id, event});
  }
  int init_qp(std::uint32_t id, std::uint32_t state) {
    return run(RDMA_USER_CM_CMD_INIT_QP_ATTR, rdma_ucm_init_qp_attr{0, id, state});
  }
  ib_uverbs_qp_attr qp_attributes() const { return read_answer<ib_uverbs_qp_attr>(); }
  int query(std::uint32_t id, std::uint32_t what) {
    return run(RDMA_USER_CM_CMD_QUERY, rdma_ucm_query{0, id, what});
  }
  rdma_ucm_query_addr_resp query_address(std::uint32_t id) {
    BOOST_TEST(query(id, RDMA_USER_CM_QUERY_ADDR) == 0);
    return read_answer<rdma_ucm_query_addr_resp>();
  }
  template <class Value>
  int set(std::uint32_t id, std::uint32_t name, Value value, std::uint32_t level = RDMA_OPTION_ID) {
    option.resize(sizeof value);
    std::memcpy(option.data(), &value, sizeof value);
    const int error = run(RDMA_USER_CM_CMD_SET_OPTION, rdma_ucm_set_option{0, id, level, name, sizeof value});
    option.clear();
    return error;
  }
  int join(std::uint32_t id, const __kernel_sockaddr_storage& group, std::uint64_t uid = 5,
           std::uint16_t flags = 0) {
    return run(RDMA_USER_CM_CMD_JOIN_MCAST, rdma_ucm_join_mcast{0, uid, id, size_of(group), flags, group});
  }
  int migrate(std::uint32_t id, Program& from) {
    const int error = run(RDMA_USER_CM_CMD_MIGRATE_ID, rdma_ucm_migrate_id{0, id, 0}, 440,
                          sizeof(rdma_ucm_migrate_id), from.channel_);
    from.tokens -= from.channel_->excess_tokens();
    return error;
  }

  // Takes the next event; EAGAIN's is `none`.
  static constexpr std::uint32_t kNone = 999;
  std::uint32_t event() {
    if (tokens > 0) --tokens;
    if (run(RDMA_USER_CM_CMD_GET_EVENT, rdma_ucm_get_event{}, 336) != 0) return kNone;
    last = read_answer<rdma_ucm_event_resp>();
    return last.event;
  }
  void expect(EventType type, std::uint32_t id, int status = 0) {
    BOOST_TEST(event() == static_cast<std::uint32_t>(type));
    BOOST_TEST(last.id == id);
    BOOST_TEST(static_cast<int>(last.status) == status);
  }
  void expect_nothing() { BOOST_TEST(event() == kNone); }

  // The program has ended, which the device process does not know yet.
  void end() { is_gone_ = true; }
  void close() {
    world_.rdma_cm.close(*channel_);
    world_.finish_work();
    channel_ = nullptr;
  }
  Channel& channel() { return *channel_; }

  std::vector<std::byte> option;
  Answer answer;
  rdma_ucm_event_resp last{};
  std::size_t tokens = 0;

 private:
  Opener opener(World& world, pid_t pid) const {
    Opener opener;
    opener.account = world.fabric.quotas().account(pid);
    opener.is_gone = [this] { return is_gone_; };
    return opener;
  }

  bool is_gone_ = false;
  World& world_;
  Channel* channel_;
};

// Leads an identifier to its route.
inline std::uint32_t routed(Program& program, const __kernel_sockaddr_storage& to,
                            const __kernel_sockaddr_storage& from = {}, std::uint16_t space = RDMA_PS_TCP,
                            std::uint8_t qp_type = 2) {
  const std::uint32_t id = program.create(space, qp_type);
  BOOST_TEST(program.resolve(id, to, from) == 0);
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(program.resolve_route(id) == 0);
  program.expect(EventType::route_resolved, id);
  return id;
}

inline std::uint32_t listener(Program& program, const std::string& at, std::uint16_t port,
                              std::uint16_t space = RDMA_PS_TCP, std::uint32_t backlog = 8) {
  const std::uint32_t id = program.create(space, 2, 66);
  BOOST_TEST(program.bind(id, at, port) == 0);
  BOOST_TEST(program.listen(id, backlog) == 0);
  return id;
}

}  // namespace urnic::control::rdma_cm::test
