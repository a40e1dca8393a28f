// Connections from RESOLVE to DESTROY: which events come, in which order, with which contents.
#include <infiniband/verbs.h>

#include "tests/unit/rdma_cm/rdma_cm_program.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

struct Pair : World {
  Program server{*this, 2000};
  Program client{*this};

  // A request that the server has read; the identifiers of both ends.
  struct Ends {
    std::uint32_t listener = 0;
    std::uint32_t active = 0;
    std::uint32_t passive = 0;
  };
  Ends request(rdma_ucm_conn_param parameters = {}, std::uint16_t space = RDMA_PS_TCP) {
    Ends ends;
    ends.listener = listener(server, "192.0.2.2", 7000, space);
    ends.active = routed(client, address("192.0.2.2", 7000), address("192.0.2.1"), space);
    BOOST_TEST(client.connect(ends.active, parameters) == 0);
    deliver();
    BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
    BOOST_TEST(server.last.uid == 66u);  // the listener's
    ends.passive = server.last.id;
    return ends;
  }
  Ends connection() {
    const Ends ends = request();
    BOOST_TEST(server.accept(ends.passive, rdma_ucm_conn_param{}) == 0);
    deliver();
    client.expect(EventType::connect_response, ends.active);
    BOOST_TEST(client.accept(ends.active, {}) == 0);
    deliver();
    server.expect(EventType::established, ends.passive);
    return ends;
  }
};

rdma_ucm_conn_param parameters(const std::string& data) {
  rdma_ucm_conn_param result{};
  result.qp_num = 0x123456;
  result.responder_resources = 4;
  result.initiator_depth = 2;
  result.flow_control = 1;
  result.retry_count = 5;
  result.rnr_retry_count = 9;
  result.private_data_len = static_cast<std::uint8_t>(data.size());
  std::memcpy(result.private_data, data.data(), data.size());
  return result;
}

std::string text(const std::uint8_t* data) { return reinterpret_cast<const char*>(data); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connections, Pair)

// Values as Linux has them with the same parameters (captured with Soft-RoCE).
BOOST_AUTO_TEST_CASE(both_sides_see_the_others_parameters) {
  const Ends ends = request(parameters("REQ-private"));
  const rdma_ucm_conn_param seen = server.last.param.conn;
  BOOST_TEST(text(seen.private_data) == "REQ-private");
  BOOST_TEST(seen.private_data_len == 56);
  BOOST_TEST(seen.responder_resources == 2);
  BOOST_TEST(seen.initiator_depth == 4);
  BOOST_TEST(seen.flow_control == 1);
  BOOST_TEST(seen.retry_count == 5);
  BOOST_TEST(seen.rnr_retry_count == 7);
  BOOST_TEST(seen.qp_num == 0x123456u);

  rdma_ucm_conn_param reply = parameters("REP-private");
  reply.responder_resources = 3;
  BOOST_TEST(server.accept(ends.passive, reply) == 0);
  deliver();
  client.expect(EventType::connect_response, ends.active);
  const rdma_ucm_conn_param answered = client.last.param.conn;
  BOOST_TEST(text(answered.private_data) == "REP-private");
  BOOST_TEST(answered.private_data_len == 196);
  BOOST_TEST(answered.responder_resources == 2);
  BOOST_TEST(answered.initiator_depth == 3);
  BOOST_TEST(answered.retry_count == 0);
  BOOST_TEST(answered.rnr_retry_count == 7);
}

BOOST_AUTO_TEST_CASE(private_data_that_do_not_fit_are_refused) {
  const Ends ends = request();
  const std::uint32_t second = routed(client, address("192.0.2.2", 7000));
  BOOST_TEST(client.connect(second, parameters(std::string(57, 'x'))) == EINVAL);
  BOOST_TEST(client.connect(second, parameters(std::string(56, 'x'))) == 0);
  const std::uint32_t datagram = routed(client, address("192.0.2.2", 7000), {}, RDMA_PS_UDP);
  BOOST_TEST(client.connect(datagram, parameters(std::string(181, 'x'))) == EINVAL);
  BOOST_TEST(client.connect(datagram, parameters(std::string(180, 'x'))) == 0);
  // The request is rejected with the refusal.
  BOOST_TEST(server.accept(ends.passive, parameters(std::string(197, 'x'))) == EINVAL);
  deliver();
  client.expect(EventType::rejected, ends.active, 28);
}

BOOST_AUTO_TEST_CASE(the_passive_side_knows_who_asks) {
  const Ends ends = request();
  const rdma_ucm_query_addr_resp own = client.query_address(ends.active);
  const rdma_ucm_query_addr_resp theirs = server.query_address(ends.passive);
  BOOST_TEST(text_of(theirs.src_addr) == "192.0.2.2:7000");
  BOOST_TEST(text_of(theirs.dst_addr) == text_of(own.src_addr));
  BOOST_TEST(text_of(own.dst_addr) == "192.0.2.2:7000");
  BOOST_TEST(theirs.node_guid != own.node_guid);
  BOOST_TEST(server.query(ends.passive, RDMA_USER_CM_QUERY_PATH) == 0);
  BOOST_TEST(server.read_answer<rdma_ucm_query_path_resp>().num_paths == 1u);
}

BOOST_AUTO_TEST_CASE(attributes_of_the_queue_pairs_fit_each_other) {
  const Ends ends = request(parameters(""));
  BOOST_TEST(server.init_qp(ends.passive, IBV_QPS_INIT) == 0);
  BOOST_TEST(server.qp_attributes().qp_attr_mask == 0x39u);
  BOOST_TEST(server.qp_attributes().qp_access_flags == 0xEu);
  BOOST_TEST(server.init_qp(ends.passive, IBV_QPS_RTR) == 0);
  const ib_uverbs_qp_attr passive_rtr = server.qp_attributes();
  BOOST_TEST(server.init_qp(ends.passive, IBV_QPS_RTS) == 0);
  const ib_uverbs_qp_attr passive_rts = server.qp_attributes();
  rdma_ucm_conn_param reply = parameters("");
  reply.qp_num = 0x654321;
  BOOST_TEST(server.accept(ends.passive, reply) == 0);
  deliver();
  client.expect(EventType::connect_response, ends.active);
  BOOST_TEST(client.init_qp(ends.active, IBV_QPS_RTR) == 0);
  const ib_uverbs_qp_attr active_rtr = client.qp_attributes();
  BOOST_TEST(client.init_qp(ends.active, IBV_QPS_RTS) == 0);
  const ib_uverbs_qp_attr active_rts = client.qp_attributes();

  for (const auto& rtr : {passive_rtr, active_rtr}) {
    BOOST_TEST(rtr.qp_attr_mask == 0x129181u);
    BOOST_TEST(rtr.path_mtu == static_cast<std::uint32_t>(IBV_MTU_4096));
    BOOST_TEST(rtr.ah_attr.is_global == 1);
    BOOST_TEST(rtr.ah_attr.grh.hop_limit == 64);
    BOOST_TEST(rtr.ah_attr.grh.sgid_index == 1);
    BOOST_TEST(rtr.ah_attr.port_num == 1);
    BOOST_TEST(rtr.ah_attr.grh.flow_label == passive_rtr.ah_attr.grh.flow_label);
  }
  for (const auto& rts : {passive_rts, active_rts}) {
    BOOST_TEST(rts.qp_attr_mask == 0x12E01u);
    BOOST_TEST(rts.retry_cnt == 5);
    BOOST_TEST(rts.timeout == 17);
  }
  BOOST_TEST(passive_rtr.dest_qp_num == 0x123456u);
  BOOST_TEST(active_rtr.dest_qp_num == 0x654321u);
  BOOST_TEST(passive_rtr.rq_psn == active_rts.sq_psn);
  BOOST_TEST(active_rtr.rq_psn == passive_rts.sq_psn);
}

BOOST_AUTO_TEST_CASE(an_ack_timeout_of_the_programs_own_stays) {
  const Ends ends = request();
  BOOST_TEST(server.set(ends.passive, RDMA_OPTION_ID_ACK_TIMEOUT, std::uint8_t{21}) == 0);
  BOOST_TEST(server.init_qp(ends.passive, IBV_QPS_RTS) == 0);
  BOOST_TEST(server.qp_attributes().timeout == 21);
}

// As `rping -c` sees it: ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_RESPONSE, DISCONNECTED.
BOOST_AUTO_TEST_CASE(a_connection_ends_and_its_events_are_counted) {
  const Ends ends = connection();
  BOOST_TEST(client.disconnect(ends.active) == 0);
  deliver();
  server.expect(EventType::disconnected, ends.passive);
  client.expect_nothing();
  BOOST_TEST(server.disconnect(ends.passive) == 0);
  deliver();
  client.expect(EventType::disconnected, ends.active);
  BOOST_TEST(client.destroy(ends.active) == 0);
  BOOST_TEST(client.events_reported() == 4u);
  pass(600ms);
  server.expect(EventType::time_wait_exit, ends.passive);
  BOOST_TEST(server.destroy(ends.passive) == 0);
  BOOST_TEST(server.events_reported() == 3u);
  BOOST_TEST(server.destroy(ends.listener) == 0);
  BOOST_TEST(server.events_reported() == 1u);  // the request
  BOOST_TEST(rdma_cm.identifiers().count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_request_is_rejected_with_the_programs_data) {
  const Ends ends = request();
  BOOST_TEST(server.reject(ends.passive, 0, "no") == 0);
  deliver();
  client.expect(EventType::rejected, ends.active, 28);
  BOOST_TEST(text(client.last.param.conn.private_data) == "no");
  BOOST_TEST(client.last.param.conn.private_data_len == 148);
}

BOOST_AUTO_TEST_CASE(nobody_listens) {
  const std::uint32_t id = routed(client, address("192.0.2.2", 7001));
  BOOST_TEST(client.connect(id, {}) == 0);
  deliver();
  client.expect(EventType::rejected, id, 8);
}

BOOST_AUTO_TEST_CASE(a_listener_hears_requests_for_its_address_only) {
  listener(server, "192.0.2.2", 7000);
  const std::uint32_t id = routed(client, address("127.0.0.2", 7000));
  BOOST_TEST(client.connect(id, {}) == 0);
  deliver();
  client.expect(EventType::rejected, id, 28);
  server.expect_nothing();
}

BOOST_AUTO_TEST_CASE(a_wildcard_hears_requests_to_every_address_of_its_family) {
  const std::uint32_t ip4 = server.create();
  BOOST_TEST(server.bind(ip4, "0.0.0.0", 7000) == 0);
  BOOST_TEST(server.listen(ip4) == 0);
  for (const std::string to : {"192.0.2.1", "192.0.2.2", "127.0.0.1", "127.0.0.2", "127.1.2.3"}) {
    const std::uint32_t id = routed(client, address(to, 7000));
    BOOST_TEST(client.connect(id, {}) == 0);
    deliver();
    BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
    BOOST_TEST(text_of(server.query_address(server.last.id).src_addr) == to + ":7000");
  }
  const std::uint32_t id = routed(client, address("::1", 7000));
  BOOST_TEST(client.connect(id, {}) == 0);
  deliver();
  client.expect(EventType::rejected, id, 28);
}

BOOST_AUTO_TEST_CASE(a_wildcard_of_ipv6_hears_ipv4_too) {
  const std::uint32_t ip6 = server.create();
  BOOST_TEST(server.bind(ip6, "::", 7000) == 0);
  BOOST_TEST(server.listen(ip6) == 0);
  for (const std::string to : {"::1", "127.0.0.1"}) {
    const std::uint32_t id = routed(client, address(to, 7000));
    BOOST_TEST(client.connect(id, {}) == 0);
    deliver();
    BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
  }
}

BOOST_AUTO_TEST_CASE(a_full_backlog_drops_requests_until_the_program_reads) {
  listener(server, "192.0.2.2", 7000, RDMA_PS_TCP, 2);
  std::uint32_t ids[3];
  for (std::uint32_t& id : ids) {
    id = routed(client, address("192.0.2.2", 7000));
    BOOST_TEST(client.connect(id, {}) == 0);
  }
  deliver();
  for (int i = 0; i < 2; ++i)
    BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
  server.expect_nothing();
  pass(5s);  // the third one asks again
  BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
}

BOOST_AUTO_TEST_CASE(unread_requests_go_with_their_listener) {
  const std::uint32_t listening = listener(server, "192.0.2.2", 7000);
  const std::uint32_t id = routed(client, address("192.0.2.2", 7000));
  BOOST_TEST(client.connect(id, {}) == 0);
  deliver();
  BOOST_TEST(server.tokens == 1u);
  BOOST_TEST(server.destroy(listening) == 0);
  BOOST_TEST(server.events_reported() == 0u);
  BOOST_TEST(server.tokens == 0u);
  deliver();
  client.expect(EventType::rejected, id, 28);
  BOOST_TEST(rdma_cm.identifiers().count() == 1u);
}

BOOST_AUTO_TEST_CASE(a_request_that_is_destroyed_is_rejected) {
  const Ends ends = request();
  BOOST_TEST(server.destroy(ends.passive) == 0);
  deliver();
  client.expect(EventType::rejected, ends.active, 28);
}

// The program does not know the identifier yet, so nothing is said of it.
BOOST_AUTO_TEST_CASE(events_before_accept_are_not_told) {
  const Ends ends = request();
  BOOST_TEST(client.destroy(ends.active) == 0);
  deliver();
  server.expect_nothing();
  BOOST_TEST(server.accept(ends.passive, rdma_ucm_conn_param{}) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_packet_before_the_rtu_establishes) {
  const Ends ends = request();
  BOOST_TEST(server.accept(ends.passive, rdma_ucm_conn_param{}) == 0);
  BOOST_TEST(server.notify(ends.passive, IBV_EVENT_PATH_MIG) == EINVAL);
  BOOST_TEST(server.notify(ends.passive) == 0);
  server.expect(EventType::established, ends.passive);
}

BOOST_AUTO_TEST_CASE(nobody_answers) {
  const std::uint32_t id = routed(client, address("192.0.2.2", 7000));
  BOOST_TEST(client.connect(id, {}) == 0);
  network.waiting.clear();
  for (int i = 0; i < 20; ++i) {
    now += 5s;
    rdma_cm.connections().expire(now);
    network.waiting.clear();
  }
  client.expect(EventType::unreachable, id, -ETIMEDOUT);
}

BOOST_AUTO_TEST_CASE(a_program_that_ends_disconnects) {
  const Ends ends = connection();
  client.close();
  deliver();
  server.expect(EventType::disconnected, ends.passive);
  BOOST_TEST(server.disconnect(ends.passive) == 0);
  server.close();
  deliver();
  BOOST_TEST(rdma_cm.identifiers().count() == 0u);
  BOOST_TEST(rdma_cm.channels() == 0u);
  pass(2s);
  BOOST_TEST((rdma_cm.connections().usage() == cm::Usage{}));
  BOOST_TEST(fabric.quotas().used(Resource::rdma_cm_ids) == 0u);
}

BOOST_AUTO_TEST_CASE(datagrams_are_resolved_by_service) {
  const Ends ends = request(parameters("who?"), RDMA_PS_UDP);
  BOOST_TEST(text(server.last.param.ud.private_data) == "who?");
  BOOST_TEST(server.last.param.ud.private_data_len == 180);
  BOOST_TEST(server.init_qp(ends.passive, IBV_QPS_INIT) == 0);
  BOOST_TEST(server.qp_attributes().qp_attr_mask == 0x71u);
  BOOST_TEST(server.qp_attributes().qkey == 0x01234567u);
  BOOST_TEST(server.query(ends.passive, RDMA_USER_CM_QUERY_PATH) == 0);
  BOOST_TEST(server.read_answer<rdma_ucm_query_path_resp>().num_paths == 0u);
  BOOST_TEST(server.accept(ends.passive, parameters("me")) == 0);
  deliver();
  client.expect(EventType::established, ends.active);
  const rdma_ucm_ud_param& answer = client.last.param.ud;
  BOOST_TEST(answer.qp_num == 0x123456u);
  BOOST_TEST(answer.qkey == 0x01234567u);
  BOOST_TEST(text(answer.private_data) == "me");
  BOOST_TEST(answer.private_data_len == 136);
  BOOST_TEST(answer.ah_attr.is_global == 1);
  BOOST_TEST(answer.ah_attr.grh.sgid_index == 1);
  BOOST_TEST(answer.ah_attr.grh.dgid[15] == 2);
  server.expect_nothing();
  BOOST_TEST(server.accept(ends.passive, parameters("me")) == EINVAL);
  BOOST_TEST(client.disconnect(ends.active) == 0);
}

BOOST_AUTO_TEST_CASE(a_datagram_request_is_refused) {
  const Ends ends = request({}, RDMA_PS_UDP);
  BOOST_TEST(server.reject(ends.passive) == 0);
  deliver();
  client.expect(EventType::unreachable, ends.active, 2);
  const std::uint32_t other = routed(client, address("192.0.2.2", 7001), {}, RDMA_PS_UDP);
  BOOST_TEST(client.connect(other, {}) == 0);
  deliver();
  client.expect(EventType::unreachable, other, 1);
}

BOOST_AUTO_TEST_CASE(a_program_connects_to_itself) {
  const std::uint32_t listening = listener(client, "127.0.0.1", 7000);
  const std::uint32_t id = routed(client, address("127.0.0.1", 7000));
  BOOST_TEST(client.connect(id, {}) == 0);
  deliver();
  BOOST_TEST(client.event() == static_cast<std::uint32_t>(EventType::connect_request));
  BOOST_TEST(client.last.id != listening);
  BOOST_TEST(client.accept(client.last.id, rdma_ucm_conn_param{}) == 0);
  deliver();
  client.expect(EventType::connect_response, id);
}

BOOST_AUTO_TEST_CASE(an_identifier_migrates_with_its_events) {
  const Ends ends = request();
  Program other(*this, 2000);
  BOOST_TEST(other.migrate(ends.passive, server) == 0);
  BOOST_TEST(other.read_answer<rdma_ucm_migrate_resp>().events_reported == 0u);
  BOOST_TEST(server.accept(ends.passive, rdma_ucm_conn_param{}) == EINVAL);  // not on this channel any more
  BOOST_TEST(other.accept(ends.passive, rdma_ucm_conn_param{}) == 0);
  deliver();
  client.expect(EventType::connect_response, ends.active);
  BOOST_TEST(client.accept(ends.active, {}) == 0);
  deliver();
  BOOST_TEST(other.tokens == 1u);
  BOOST_TEST(server.migrate(ends.passive, other) == 0);
  BOOST_TEST(other.tokens == 0u);
  BOOST_TEST(server.tokens == 1u);
  server.expect(EventType::established, ends.passive);
  BOOST_TEST(server.migrate(ends.passive, other) == EINVAL);  // it is not there
  BOOST_TEST(server.migrate(99, other) == ENOENT);
}

BOOST_AUTO_TEST_CASE(unread_requests_migrate_with_their_listener) {
  const std::uint32_t listening = listener(server, "192.0.2.2", 7000);
  const std::uint32_t id = routed(client, address("192.0.2.2", 7000));
  BOOST_TEST(client.connect(id, {}) == 0);
  deliver();
  Program other(*this, 2000);
  BOOST_TEST(other.migrate(listening, server) == 0);
  server.close();
  BOOST_TEST(other.event() == static_cast<std::uint32_t>(EventType::connect_request));
  BOOST_TEST(other.accept(other.last.id, rdma_ucm_conn_param{}) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
