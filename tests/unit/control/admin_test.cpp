// The admin socket, the linger time, and what a device process leaves.
#include <poll.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "device_model/abi/run_directory_layout.hpp"
#include "device_model/capture/capture_ring.hpp"
#include "device_model/control/admin/admin_connection.hpp"
#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/socket_program.hpp"

namespace urnic::control::test {
namespace {

using nlohmann::json;

const json kStatus{{"cmd", "status"}};

BOOST_AUTO_TEST_SUITE(admin)

BOOST_AUTO_TEST_CASE(status_shows_devices_and_programs) {
  RunningProcess process;
  AdminProgram admin(process);
  json status = admin.ask(kStatus);
  BOOST_TEST(status.at("pid") == getpid());
  BOOST_TEST(status.at("contexts").empty());
  const json& device = status.at("devices")[1];
  BOOST_TEST(device.at("name") == "urnic1");
  BOOST_TEST(device.at("link") == "up");
  BOOST_TEST(device.at("mtu") == 4096);
  BOOST_TEST(device.at("mac") == "02:75:72:6e:00:01");
  BOOST_TEST(device.at("gids")[1] == "::ffff:192.0.2.2");
  BOOST_TEST(device.at("node_guid") == "0075:72ff:fe6e:0001");

  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(8192);
  program.make_loopback(memory.data(), memory.size());
  status = admin.ask(kStatus);
  BOOST_REQUIRE(status.at("contexts").size() == 1u);
  const json& context = status.at("contexts")[0];
  BOOST_TEST(context.at("program") == "socket_program");
  BOOST_TEST(context.at("pids") == json::array({getpid()}));
  BOOST_TEST(
      context.at("objects") ==
      json(
          {{"pd", 1}, {"mr", 1}, {"mw", 0}, {"cq", 1}, {"qp", 1}, {"srq", 0}, {"xrcd", 0}, {"channels", 0}}));
}

BOOST_AUTO_TEST_CASE(queue_pairs_say_what_they_are_doing) {
  RunningProcess process;
  AdminProgram admin(process);
  const json kQueuePairs{{"cmd", "queue_pairs"}};
  BOOST_TEST(admin.ask(kQueuePairs).at("queue_pairs").empty());

  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(8192);
  program.make_loopback(memory.data(), memory.size());
  const json before = admin.ask(kQueuePairs).at("queue_pairs").at(0);
  BOOST_TEST(before.at("device") == "urnic0");
  BOOST_TEST(before.at("service") == "RC");
  BOOST_TEST(before.at("state") == "RTS");
  BOOST_TEST(before.at("destination_qpn") == before.at("qpn"));
  BOOST_TEST(before.at("packets_sent") == 0);

  program.post_write(4096);
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  const json answer = admin.ask(kQueuePairs);
  BOOST_TEST(answer.at("next").is_null());
  const json& after = answer.at("queue_pairs").at(0);
  const json& requester = after.at("requester");
  BOOST_TEST(requester.at("in_flight") == 0);
  BOOST_TEST(requester.at("next_psn") == requester.at("unacknowledged_psn"));
  BOOST_TEST(requester.at("next_psn").get<int>() == before.at("requester").at("next_psn").get<int>() + 4);
  BOOST_TEST(requester.at("selective_acks") == true);
  BOOST_TEST(after.at("responder").at("expected_psn") == requester.at("next_psn"));
  BOOST_TEST(after.at("packets_sent").get<int>() >= 5);
  BOOST_TEST(after.at("timer_us").is_null());
  for (const json& after_what : {json(5), json({1}), json({1, -1}), json({"a", "b"})}) {
    BOOST_TEST(admin.ask({{"cmd", "queue_pairs"}, {"after", after_what}}).contains("error"));
  }
}

BOOST_AUTO_TEST_CASE(one_queue_pair_is_told_with_its_packets_timers_and_queues) {
  RunningProcess process;
  AdminProgram admin(process);
  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(8192);
  program.make_loopback(memory.data(), memory.size());
  const json which{{"cmd", "queue_pair"}, {"device", "urnic0"}, {"qpn", program.qp.qpn}};
  admin.ask({{"cmd", "link"}, {"device", "urnic0"}, {"set", {{"state", "down"}}}});
  program.post_write(2048);
  program.post_write(1024);
  json seen = admin.ask(which).at("queue_pair");
  while (seen.at("requester").at("in_flight") != 3) seen = admin.ask(which).at("queue_pair");
  const std::uint32_t first = seen.at("requester").at("unacknowledged_psn").get<std::uint32_t>();
  BOOST_TEST(seen.at("destination_device") == "urnic0");
  std::uint32_t packets = 0;
  for (const json& span : seen.at("requester").at("packets")) packets += span.at(2).get<std::uint32_t>();
  BOOST_TEST(packets == 3u);
  BOOST_TEST(seen.at("requester").at("packets").at(0).at(1) == first);
  const json& requests = seen.at("requester").at("requests");
  BOOST_REQUIRE(requests.size() == 2u);
  BOOST_TEST(requests.at(1) == json({{"index", 1}, {"first_psn", first + 2}, {"packets", 1}, {"ssn", 2}}));
  bool has_ack_timer = false;
  for (const json& timer : seen.at("requester").at("timers"))
    has_ack_timer |= timer.at("timer") == "local_ack";
  BOOST_TEST(has_ack_timer);
  const json& queue = seen.at("send_queue");
  BOOST_TEST(queue.at("producer") == 2);
  BOOST_TEST(queue.at("taken") == 2);
  BOOST_TEST(queue.at("consumer") == 0);
  BOOST_REQUIRE(queue.at("wqes").size() == 2u);
  BOOST_TEST(queue.at("wqes").at(0).at("opcode") == "RDMA_WRITE");
  BOOST_TEST(queue.at("wqes").at(0).at("length") == 2048);
  BOOST_TEST(queue.at("wqes").at(0).at("signaled") == true);
  BOOST_TEST(seen.at("receive_queue").at("producer") == 0);
  BOOST_TEST(seen.at("send_cq").at("producer") == 0);
  BOOST_TEST(seen.at("responder").at("held").empty());

  admin.ask({{"cmd", "link"}, {"device", "urnic0"}, {"set", {{"state", "up"}}}});
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  seen = admin.ask(which).at("queue_pair");
  BOOST_TEST(seen.at("send_queue").at("consumer") == 2);
  BOOST_TEST(seen.at("requester").at("packets").empty());
  BOOST_TEST(seen.at("requester").at("timers").empty());
  BOOST_TEST(seen.at("send_cq").at("producer") == 2);
  BOOST_TEST(seen.at("send_cq").at("consumer") == 2);
}

BOOST_AUTO_TEST_CASE(a_queue_pair_that_is_not_there_is_refused) {
  RunningProcess process;
  AdminProgram admin(process);
  for (const char* cmd : {"queue_pair", "capture"}) {
    BOOST_TEST(admin.ask({{"cmd", cmd}, {"device", "urnic0"}, {"qpn", 77}}).at("error") ==
               "urnic0 has no QP 77");
    BOOST_TEST(admin.ask({{"cmd", cmd}, {"qpn", 77}}).at("error") ==
               "\"device\" must name the device of the queue pair");
    BOOST_TEST(admin.ask({{"cmd", cmd}, {"device", "urnic0"}, {"qpn", -1}}).at("error") ==
               "qpn = -1: allowed is a QP's number");
  }
}

BOOST_AUTO_TEST_CASE(queue_pairs_are_told_in_pages) {
  RunningProcess process;
  AdminProgram admin(process);
  std::vector<std::unique_ptr<SocketProgram>> programs;
  std::vector<std::byte> memory(8192);
  for (std::size_t i = 0; i < 70; ++i) {
    programs.push_back(std::make_unique<SocketProgram>(process.node(0)));
    programs.back()->make_loopback(memory.data(), memory.size());
  }
  std::set<int> numbers;
  json request{{"cmd", "queue_pairs"}};
  int pages = 0;
  for (json answer = admin.ask(request);; answer = admin.ask(request)) {
    ++pages;
    for (const json& queue_pair : answer.at("queue_pairs")) numbers.insert(queue_pair.at("qpn").get<int>());
    if (answer.at("next").is_null()) break;
    request["after"] = answer.at("next");
  }
  BOOST_TEST(pages == 2);
  BOOST_TEST(numbers.size() == 70u);
}

BOOST_AUTO_TEST_CASE(counters_count) {
  RunningProcess process;
  AdminProgram admin(process);
  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(8192);
  program.make_loopback(memory.data(), memory.size());
  program.post_write(4096);
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  const json devices = admin.ask({{"cmd", "counters"}}).at("devices");
  BOOST_TEST(devices.size() == 2u);
  const json& counters = devices.at("urnic0");
  BOOST_TEST(counters.at("rx_write_requests") == 1);
  BOOST_TEST(counters.at("port_xmit_packets").get<int>() >= 5);  // 4 of 1024 bytes and an acknowledgement
  BOOST_TEST(counters.at("out_of_sequence") == 0);
  const json one = admin.ask({{"cmd", "counters"}, {"device", "urnic1"}}).at("devices");
  BOOST_TEST(one.size() == 1u);
  const json nothing_dropped{{"unknown_destination", 0}, {"trunk_overruns", 0}};
  BOOST_TEST(admin.ask({{"cmd", "counters"}}).at("switch") == nothing_dropped);
}

BOOST_AUTO_TEST_CASE(what_is_no_request_is_answered_with_an_error) {
  RunningProcess process;
  AdminProgram admin(process);
  BOOST_TEST(admin.ask({{"cmd", "fly"}}).contains("error"));
  BOOST_TEST(admin.ask({{"cmd", 5}}).contains("error"));
  BOOST_TEST(admin.ask(json::object()).contains("error"));
  BOOST_TEST(admin.ask({{"cmd", "counters"}, {"device", "mlx5_0"}}).contains("error"));
  BOOST_TEST(admin.ask({{"cmd", "capture"}, {"device", 7}}).contains("error"));
  BOOST_TEST(!admin.ask(kStatus).contains("error"));  // the conversation goes on
}

// Names, addresses and plans go to C interfaces, and into errors.
BOOST_AUTO_TEST_CASE(a_nul_character_is_refused_in_every_text) {
  RunningProcess process;
  AdminProgram admin(process);
  const std::string nul("\0x", 2), address("::ffff:192.0.2.77\0x", 19);
  for (const json& request :
       {json{{"cmd", "fault"}, {"do", "load"}, {"text", "no plan"}, {"name", nul}},
        json{{"cmd", "fault"}, {"do", "load"}, {"text", nul}, {"name", "plan.toml"}},
        json{{"cmd", "gid"}, {"device", "urnic0"}, {"add", address}},
        json{{"cmd", "link"}, {"device", "urnic0"}, {"set", {{"state", std::string("up\0", 3)}}}},
        json{{"cmd", "capture"}, {"points", {nul}}}, json{{"cmd", "counters"}, {"device", nul}}}) {
    const json answer = admin.ask(request);
    BOOST_TEST(answer.value("error", "").find("NUL") != std::string::npos, request.dump() << answer.dump());
  }
}

BOOST_AUTO_TEST_CASE(what_is_nested_too_deep_is_refused) {
  RunningProcess process;
  AdminProgram admin(process);
  // As text: printing it would need the stack itself.
  constexpr std::size_t kDepth = 30'000;
  admin.send_text("{\"cmd\":\"counters\",\"device\":" + std::string(kDepth, '[') + std::string(kDepth, ']') +
                  "}\n");
  BOOST_TEST(admin.receive_line().find("nested more than") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_no_json_ends_the_conversation) {
  RunningProcess process;
  for (const char* text : {"status\n", "{\"cmd\":\n", "[1]\n", "\n", "\xFF\xFE\n"}) {
    AdminProgram admin(process);
    admin.send_text(text);
    BOOST_TEST(parse_json(admin.receive_line()).contains("error"));
    BOOST_TEST(admin.receive_line().empty());
  }
}

BOOST_AUTO_TEST_CASE(lines_have_a_limit) {
  RunningProcess process;
  AdminProgram admin(process);
  const std::string padding(kMaxAdminLine - 30, ' ');
  admin.send_text("{\"cmd\":\"status\"" + padding + "}\n");
  BOOST_TEST(parse_json(admin.receive_line()).contains("devices"));
  admin.send_text(std::string(kMaxAdminLine + 1, ' '));
  BOOST_TEST(parse_json(admin.receive_line()).contains("error"));
  BOOST_TEST(admin.receive_line().empty());
}

BOOST_AUTO_TEST_CASE(a_request_may_come_in_pieces_and_several_at_once) {
  RunningProcess process;
  AdminProgram admin(process);
  admin.send_text("{\"cmd\":");
  admin.send_text("\"status\"}\n{\"cmd\":\"counters\"}\n");
  BOOST_TEST(parse_json(admin.receive_line()).contains("contexts"));
  BOOST_TEST(parse_json(admin.receive_line()).contains("devices"));
}

// It is gone once it has closed its socket, which is in a message that is not read.
BOOST_AUTO_TEST_CASE(who_reads_no_answers_and_sends_itself) {
  RunningProcess process;
  AdminProgram admin(process);
  const int socket = admin.descriptor();
  const std::string request = "{\"cmd\":\"status\"}\n";
  while (send(socket, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) continue;
  const auto bytes = std::as_bytes(std::span(request));
  for (int i = 0; i < 1000 && !send_message(socket, bytes, {{socket}}); ++i) admin.receive_line();
  pollfd end{socket, 0, 0};
  BOOST_TEST(poll(&end, 1, 5000) == 1);
  BOOST_TEST((end.revents & POLLHUP) != 0);
}

BOOST_AUTO_TEST_CASE(a_capture_hands_over_its_ring_and_ends_with_its_connection) {
  RunningProcess process;
  AdminProgram admin(process);
  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(8192);
  program.make_loopback(memory.data(), memory.size());
  {
    AdminProgram watcher(process);
    BOOST_REQUIRE(!watcher.ask({{"cmd", "capture"}}).contains("error"));
    BOOST_REQUIRE(watcher.descriptors.size() == 2u);
    BOOST_TEST(watcher.ask({{"cmd", "capture"}}).contains("error"));  // one a connection
    BOOST_TEST(admin.ask(kStatus).at("captures") == 1);
    capture::CaptureReader reader(std::move(watcher.descriptors[0]), std::move(watcher.descriptors[1]));
    program.post_write(4096);
    BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
    capture::CapturedFrame frame;
    int frames = 0;
    while (reader.next(frame)) ++frames;
    BOOST_TEST(frames == 5);
  }
  while (admin.ask(kStatus).at("captures") != 0) sched_yield();
  program.post_write(4096);
  BOOST_TEST(program.next_status() == IBV_WC_SUCCESS);
}

BOOST_AUTO_TEST_CASE(a_capture_may_be_cut) {
  RunningProcess process;
  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(8192);
  program.make_loopback(memory.data(), memory.size());
  AdminProgram watcher(process);
  for (const json& wrong : {json(63), json(-128), json("128"), json(128.5), json::array()})
    BOOST_TEST(watcher.ask({{"cmd", "capture"}, {"snaplen", wrong}}).contains("error"));
  BOOST_REQUIRE(!watcher.ask({{"cmd", "capture"}, {"snaplen", 100}}).contains("error"));
  capture::CaptureReader reader(std::move(watcher.descriptors.at(0)), std::move(watcher.descriptors.at(1)));
  program.post_write(1024);
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  capture::CapturedFrame frame;
  BOOST_REQUIRE(reader.next(frame));  // Ethernet, IPv4, UDP, BTH, RETH, payload, ICRC
  BOOST_TEST(frame.bytes.size() == 100u);
  BOOST_TEST(frame.original_bytes == 14u + 20 + 8 + 12 + 16 + 1024 + 4);
  BOOST_REQUIRE(reader.next(frame));  // the acknowledgement, with its AETH
  BOOST_TEST(frame.bytes.size() == 14u + 20 + 8 + 12 + 4 + 4);
  BOOST_TEST(frame.original_bytes == frame.bytes.size());
}

BOOST_AUTO_TEST_CASE(a_capture_may_be_of_one_device) {
  RunningProcess process;
  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(8192);
  program.make_loopback(memory.data(), memory.size());
  for (const char* device : {"urnic0", "urnic1"}) {
    AdminProgram watcher(process);
    BOOST_REQUIRE(!watcher.ask({{"cmd", "capture"}, {"device", device}}).contains("error"));
    capture::CaptureReader reader(std::move(watcher.descriptors.at(0)), std::move(watcher.descriptors.at(1)));
    program.post_write(1024);
    BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
    capture::CapturedFrame frame;
    BOOST_TEST(reader.next(frame) == (device == std::string("urnic0")));
  }
}

BOOST_AUTO_TEST_CASE(a_capture_may_be_of_one_queue_pair) {
  RunningProcess process;
  std::vector<std::byte> memory(8192);
  SocketProgram programs[2] = {SocketProgram(process.node(0)), SocketProgram(process.node(0))};
  for (SocketProgram& program : programs) program.make_loopback(memory.data(), memory.size());
  AdminProgram watcher(process);
  const json request{{"cmd", "capture"}, {"device", "urnic0"}, {"qpn", programs[1].qp.qpn}, {"sample", true}};
  BOOST_REQUIRE(!watcher.ask(request).contains("error"));
  capture::CaptureReader reader(std::move(watcher.descriptors.at(0)), std::move(watcher.descriptors.at(1)),
                                2);
  const auto frames = [&] {
    int count = 0;
    capture::CapturedFrame frame;
    while (reader.next(frame)) ++count;
    reader.release();
    return count;
  };
  programs[0].post_write(4096);
  BOOST_REQUIRE(programs[0].next_status() == IBV_WC_SUCCESS);
  BOOST_TEST(frames() == 0);
  programs[1].post_write(4096);
  BOOST_REQUIRE(programs[1].next_status() == IBV_WC_SUCCESS);
  BOOST_TEST(frames() == 5);  // 4 of 1024 bytes and an acknowledgement
}

BOOST_AUTO_TEST_CASE(a_capture_is_of_the_points_that_were_asked_for) {
  RunningProcess process;
  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(8192);
  program.make_loopback(memory.data(), memory.size());
  AdminProgram watcher(process);
  const json answer = watcher.ask({{"cmd", "capture"}, {"points", {"after", "before", "after"}}});
  const auto interface = [](const char* device, const char* point, const char* description) {
    return json{
        {"device", device}, {"point", point}, {"description", description}, {"link_layer", "ethernet"}};
  };
  BOOST_TEST(answer.at("interfaces") == json({interface("urnic0", "before", "before the link"),
                                              interface("urnic0", "after", "after the link"),
                                              interface("urnic1", "before", "before the link"),
                                              interface("urnic1", "after", "after the link")}));
  capture::CaptureReader reader(std::move(watcher.descriptors.at(0)), std::move(watcher.descriptors.at(1)),
                                4);
  program.post_write(1024);
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  // The request and its acknowledgement, each as it left and as it came.
  capture::CapturedFrame frame;
  std::vector<unsigned> interfaces;
  while (reader.next(frame)) interfaces.push_back(frame.interface);
  std::sort(interfaces.begin(), interfaces.end());
  BOOST_TEST(interfaces == std::vector<unsigned>({0, 0, 1, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(points_that_there_are_not) {
  RunningProcess process;
  AdminProgram watcher(process);
  for (const json& points :
       {json("before"), json::array(), json({"before", "between"}), json({7}), json(1)}) {
    const json answer = watcher.ask({{"cmd", "capture"}, {"points", points}});
    BOOST_REQUIRE(answer.contains("error"));
    BOOST_TEST(answer["error"].get<std::string>().find("before") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(down_answers_and_ends_the_process) {
  RunningProcess process;
  AdminProgram admin(process);
  BOOST_TEST(admin.ask({{"cmd", "down"}}) == json({{"ok", true}}));
  process.wait();
  BOOST_TEST(admin.receive_line().empty());
}

BOOST_AUTO_TEST_CASE(who_is_not_used_any_more_ends) {
  RunningProcess process({std::chrono::milliseconds(1)});
  AdminProgram admin(process);
  admin.ask(kStatus);  // is no use
  { SocketProgram program(process.node(0)); }
  process.wait();
}

BOOST_AUTO_TEST_CASE(a_lease_holds_the_process) {
  RunningProcess process({std::chrono::milliseconds(1)});
  AdminProgram watcher(process);
  {
    AdminProgram holder(process);
    BOOST_TEST(holder.ask({{"cmd", "lease"}}).at("contexts_opened") == 0);
    for (int i = 0; i < 100; ++i) {
      SocketProgram program(process.node(0));
    }
    const nlohmann::json seen = holder.ask({{"cmd", "lease"}});
    BOOST_TEST(seen.at("contexts_opened") == 100);
    BOOST_TEST(seen.at("lookups") == 0);
    BOOST_TEST(seen.at("refusals") == 0);
    BOOST_TEST(watcher.ask(kStatus).at("leases") == 1);
  }
  process.wait();
}

BOOST_AUTO_TEST_CASE(says_with_which_options_it_was_started) {
  {
    RunningProcess process;
    BOOST_TEST(AdminProgram(process).ask({{"cmd", "source"}}) == json({{"udp", json::array()},
                                                                       {"face", "urnic"},
                                                                       {"config", ""},
                                                                       {"text", ""},
                                                                       {"network", false},
                                                                       {"outside", false},
                                                                       {"interfaces", false},
                                                                       {"infiniband", false},
                                                                       {"ibsim_net", false}}));
  }
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "lab.toml";
  std::ofstream(file) << "# a lab\n";
  RunningProcess process({}, load_configuration(file));
  BOOST_TEST(AdminProgram(process).ask({{"cmd", "source"}}) == json({{"udp", json::array()},
                                                                     {"face", "urnic"},
                                                                     {"config", file},
                                                                     {"text", "# a lab\n"},
                                                                     {"network", false},
                                                                     {"outside", false},
                                                                     {"interfaces", false},
                                                                     {"infiniband", false},
                                                                     {"ibsim_net", false}}));
}

BOOST_AUTO_TEST_CASE(says_who_manages_the_infiniband_fabric) {
  const std::string port = "[[devices]]\nlink_layer = \"infiniband\"\n";
  RunningProcess process({},
                         parse_configuration("subnet_manager = \"built_in\"\n" + port + port, "lab.toml"));
  AdminProgram admin(process);
  const json subnet = admin.ask({{"cmd", "subnet"}}).at("subnet");
  BOOST_TEST(subnet.at("manager") == "built_in");
  BOOST_TEST(subnet.at("state") == "running");
  BOOST_TEST(subnet.at("pid").is_null());
  BOOST_TEST(subnet.at("brought_up") == true);
  BOOST_TEST(subnet.at("program_manages") == false);
  const json& second = subnet.at("ports").at(1);
  BOOST_TEST(second.at("device") == "urnic1");
  BOOST_TEST(second.at("state") == "active");
  BOOST_TEST(second.at("lid") != 0);
  BOOST_TEST(second.at("manager_lid") == subnet.at("ports").at(0).at("lid"));
  BOOST_TEST(admin.ask({{"cmd", "status"}}).at("subnet") == subnet);
}

BOOST_AUTO_TEST_CASE(status_of_roce_devices_has_no_subnet) {
  RunningProcess process;
  BOOST_TEST(!AdminProgram(process).ask({{"cmd", "status"}}).contains("subnet"));
}

BOOST_AUTO_TEST_CASE(without_interfaces_there_is_no_network) {
  RunningProcess process;
  AdminProgram admin(process);
  BOOST_TEST(admin.ask({{"cmd", "network"}}) ==
             json({{"ok", true}, {"namespaces", json::array()}, {"outside", false}}));
  BOOST_TEST(admin.descriptors.empty());
  const json status = admin.ask({{"cmd", "status"}});
  for (const json& device : status.at("devices")) BOOST_TEST(device.at("interface").is_null());
}

// Only once it was used: before, the command that has started it is about to connect.
BOOST_AUTO_TEST_CASE(makes_way_when_nothing_uses_it_any_more) {
  DeviceProcessOptions options;
  options.linger = std::chrono::minutes(10);
  RunningProcess process(options);
  AdminProgram admin(process);
  const json make_way{{"cmd", "make_way"}};
  const auto ends = [&] { return admin.ask(make_way).at("ends").get<bool>(); };
  BOOST_TEST(!ends());
  {
    AdminProgram holder(process);
    holder.ask({{"cmd", "lease"}});
    BOOST_TEST(!ends());
  }
  bool ended = false;
  for (int look = 0; look < 1000 && !ended; ++look) ended = ends();
  BOOST_REQUIRE(ended);
  process.wait();
}

BOOST_AUTO_TEST_CASE(who_shall_stay_makes_no_way) {
  for (const bool keep : {false, true}) {
    DeviceProcessOptions options;
    if (keep) options.linger = std::chrono::minutes(10);
    RunningProcess process(options);
    AdminProgram admin(process);
    { AdminProgram(process).ask({{"cmd", "lease"}}); }
    if (keep) admin.ask({{"cmd", "keep"}});
    for (int look = 0; look < 20; ++look) BOOST_TEST(admin.ask({{"cmd", "make_way"}}).at("ends") == false);
  }
}

BOOST_AUTO_TEST_CASE(who_is_told_to_stay_stays) {
  RunningProcess process({std::chrono::milliseconds(1)});
  AdminProgram admin(process);
  admin.ask({{"cmd", "keep"}});
  for (int i = 0; i < 100; ++i) {
    SocketProgram program(process.node(0));
  }
  BOOST_TEST(admin.ask(kStatus).contains("pid"));
}

BOOST_AUTO_TEST_CASE(counter_files_follow_the_traffic) {
  RunningProcess process;
  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(8192);
  program.make_loopback(memory.data(), memory.size());
  program.post_write(4096);
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  const auto file =
      process.directory().sysfs() / "class/infiniband/urnic0/ports/1/hw_counters/rx_write_requests";
  while (contents(file) != "1\n") sched_yield();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
