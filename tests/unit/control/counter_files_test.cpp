#include "device_model/control/sysfs/counter_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tests/unit/control/temporary_directory.hpp"
#include "tests/unit/transport_bench/moved_counters.hpp"

namespace urnic::control::test {
namespace {

BOOST_AUTO_TEST_SUITE(counter_files)

// perftest keeps a counter open and reads it again after seeking back.
BOOST_AUTO_TEST_CASE(an_open_file_shows_the_new_value) {
  const TemporaryDirectory parent;
  CounterFolder folder(parent.path() / "counters", {{"port_xmit_data", 9}, {"symbol_error", 0}});
  const memory::Descriptor file(
      open((parent.path() / "counters/port_xmit_data").c_str(), O_RDONLY | O_CLOEXEC));
  const auto read_again = [&] {
    char text[32] = {};
    lseek(file.get(), 0, SEEK_SET);
    [[maybe_unused]] const ssize_t size = read(file.get(), text, sizeof text - 1);
    return std::string(text);
  };
  BOOST_TEST(read_again() == "9\n");
  BOOST_TEST(folder.update({{"port_xmit_data", 10}, {"symbol_error", 0}}));
  BOOST_TEST(read_again() == "10\n");
  BOOST_TEST(folder.update({{"port_xmit_data", 18446744073709551615ull}, {"symbol_error", 0}}));
  BOOST_TEST(read_again() == "18446744073709551615\n");
  BOOST_TEST(!folder.update({{"port_xmit_data", 18446744073709551615ull}, {"symbol_error", 0}}));
  BOOST_TEST(contents(parent.path() / "counters/symbol_error") == "0\n");
}

// Of 254 devices, each with more than 100 counters.
BOOST_AUTO_TEST_CASE(a_folder_takes_one_descriptor) {
  const TemporaryDirectory parent;
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_descriptors();
  const CounterFolder folder(parent.path() / "counters", {{"one", 1}, {"two", 2}, {"three", 3}});
  BOOST_TEST(open_descriptors() == before + 1);
}

BOOST_AUTO_TEST_CASE(names_are_the_kernels_and_each_there_once) {
  const CounterSnapshot none;
  std::set<std::string> names;
  for (const auto& values : {port_values(none), hardware_values(none)}) {
    for (const CounterValue& counter : values) {
      BOOST_TEST(names.insert(std::string(counter.name)).second, counter.name);
    }
  }
  // What drivers/infiniband/core/sysfs.c makes for every port, and mlx5 for RC.
  for (const char* name : {"symbol_error",
                           "link_error_recovery",
                           "link_downed",
                           "port_rcv_errors",
                           "port_rcv_remote_physical_errors",
                           "port_rcv_switch_relay_errors",
                           "port_xmit_discards",
                           "port_xmit_constraint_errors",
                           "port_rcv_constraint_errors",
                           "local_link_integrity_errors",
                           "excessive_buffer_overrun_errors",
                           "VL15_dropped",
                           "port_xmit_data",
                           "port_rcv_data",
                           "port_xmit_packets",
                           "port_rcv_packets",
                           "port_xmit_wait",
                           "unicast_xmit_packets",
                           "unicast_rcv_packets",
                           "multicast_xmit_packets",
                           "multicast_rcv_packets",
                           "duplicate_request",
                           "implied_nak_seq_err",
                           "local_ack_timeout_err",
                           "np_cnp_sent",
                           "np_ecn_marked_roce_packets",
                           "out_of_buffer",
                           "out_of_sequence",
                           "packet_seq_err",
                           "req_cqe_error",
                           "req_cqe_flush_error",
                           "req_remote_access_errors",
                           "req_remote_invalid_request",
                           "resp_cqe_error",
                           "resp_cqe_flush_error",
                           "resp_local_length_error",
                           "resp_remote_access_errors",
                           "rnr_nak_retry_err",
                           "roce_adp_retrans",
                           "roce_adp_retrans_to",
                           "roce_slow_restart",
                           "roce_slow_restart_cnps",
                           "roce_slow_restart_trans",
                           "rp_cnp_handled",
                           "rp_cnp_ignored",
                           "rx_atomic_requests",
                           "rx_datagram_discards",
                           "rx_held_contradictions",
                           "rx_held_discards",
                           "rx_held_packets",
                           "rx_icrc_encapsulated",
                           "rx_other_port_discards",
                           "rx_pkey_violations",
                           "rx_qkey_violations",
                           "rx_read_repeat_discards",
                           "rx_read_requests",
                           "rx_write_requests",
                           "tx_selective_ack_offers",
                           "tx_selective_acks"}) {
    BOOST_TEST(names.contains(name), name);
  }
}

// Which files show what: each counter is set by itself, and the files that are not 0 then are named.
std::string files_that_show(const CounterSnapshot& counters) {
  std::string names;
  for (const auto& values : {port_values(counters), hardware_values(counters)}) {
    for (const CounterValue& counter : values) {
      if (counter.value != 0)
        names += (names.empty() ? "" : " ") + std::string(counter.name) + '=' + std::to_string(counter.value);
    }
  }
  return names;
}

BOOST_AUTO_TEST_CASE(each_counter_of_the_transport_is_in_its_file) {
  const std::map<std::string, std::string> file_of{
      {"out_of_sequence", "out_of_sequence"},
      {"duplicate_request", "duplicate_request"},
      {"held_packets", "rx_held_packets"},
      {"held_duplicates", "rx_held_duplicates"},
      {"held_discards", "rx_held_discards"},
      {"held_contradictions", "rx_held_contradictions"},
      {"other_port_discards", "rx_other_port_discards"},
      {"read_repeat_discards", "rx_read_repeat_discards"},
      {"selective_ack_offers_sent", "tx_selective_ack_offers"},
      {"selective_acks_sent", "tx_selective_acks"},
      {"rnr_nak_sent", "out_of_buffer"},
      {"responder_access_errors", "resp_remote_access_errors"},
      {"responder_invalid_requests", "resp_remote_invalid_request"},
      {"responder_operation_errors", "resp_remote_operation_errors"},
      {"responder_local_length_errors", "resp_local_length_error"},
      {"received_write_requests", "rx_write_requests"},
      {"received_read_requests", "rx_read_requests"},
      {"received_atomic_requests", "rx_atomic_requests"},
      {"received_send_requests", "rx_send_requests"},
      {"pkey_violations", "rx_pkey_violations"},
      {"qkey_violations", "rx_qkey_violations"},
      {"packet_sequence_error", "packet_seq_err"},
      {"implied_nak_sequence_error", "implied_nak_seq_err"},
      {"local_ack_timeout", "local_ack_timeout_err"},
      {"rnr_nak_retry", "rnr_nak_retry_err"},
      {"requester_remote_access_errors", "req_remote_access_errors"},
      {"requester_remote_invalid_request", "req_remote_invalid_request"},
      {"requester_cqe_errors", "req_cqe_error"},
      {"responder_cqe_errors", "resp_cqe_error"},
      {"requester_flushed", "req_cqe_flush_error"},
      {"responder_flushed", "resp_cqe_flush_error"},
      {"retransmitted_packets", "retrans_pkts"},
      {"duplicate_acknowledgements", "duplicate_acknowledgement"},
      {"retry_exceeded", "req_transport_retries_exceeded"},
      {"rnr_retry_exceeded", "req_rnr_retries_exceeded"},
      {"congestion_marks", "np_ecn_marked_roce_packets"},
      {"congestion_notifications", "np_cnp_sent"},
      {"notifications_handled", "rp_cnp_handled"},
      {"notifications_ignored", "rp_cnp_ignored"},
      {"adaptive_retransmissions", "roce_adp_retrans"},
      {"adaptive_timeouts", "roce_adp_retrans_to"},
      {"bad_responses", "bad_resp_err"},
  };
  const std::map<std::string, std::string> shown_twice{
      // Drops for want of a receive, of all services; those without acknowledgements have a file of their
      // own.
      {"messages_without_receive", "out_of_buffer=7 rx_datagram_discards=7"},
      {"slow_restarts", "roce_slow_restart=7 roce_slow_restart_trans=7"}};
  for (const auto& counter : transport::bench::kNamedCounters) {
    CounterSnapshot counters;
    counters.transport.*counter.member = 7;
    const std::string name = counter.name;
    const auto two = shown_twice.find(name);
    const std::string shown = two != shown_twice.end() ? two->second : file_of.at(name) + "=7";
    BOOST_TEST(files_that_show(counters) == shown, name);
  }
}

BOOST_AUTO_TEST_CASE(the_ports_counters_are_in_their_files) {
  CounterSnapshot counters;
  counters.port.transmitted_bytes = 4000;  // shown in words of four
  counters.port.transmitted_packets = 5;
  counters.port.transmitted_multicast = 2;
  BOOST_TEST(files_that_show(counters) ==
             "multicast_xmit_packets=2 port_xmit_data=1000 port_xmit_packets=5 unicast_xmit_packets=3");
  counters = {};
  counters.port.received_bytes = 400;
  counters.port.received_packets = 9;
  counters.port.received_multicast = 1;
  BOOST_TEST(files_that_show(counters) ==
             "multicast_rcv_packets=1 port_rcv_data=100 port_rcv_packets=9 unicast_rcv_packets=8");
  counters = {};
  counters.port.receive_errors = 1;
  counters.port.icrc_errors = 2;
  counters.port.not_roce = 3;
  counters.port.wrong_address = 4;
  counters.port.unknown_qp = 5;
  counters.port.link_downed = 6;
  counters.port.buffer_overruns = 7;
  counters.transmit_discards = 8;
  counters.port.wrong_origin = 9;
  counters.transmit_wait = 10;
  counters.line.integrity = 11;
  BOOST_TEST(files_that_show(counters) ==
             "excessive_buffer_overrun_errors=7 link_downed=6 local_link_integrity_errors=11 "
             "port_rcv_errors=1 port_xmit_discards=8 "
             "port_xmit_wait=10 "
             "rx_icrc_encapsulated=2 rx_not_roce=3 rx_unknown_qp=5 rx_wrong_address=4 "
             "rx_wrong_origin=9");
}

// The page defines every counter there is, and no other.
BOOST_AUTO_TEST_CASE(the_documentation_has_each_counter) {
  const std::string page = contents(URNIC_DOCS_DIR "/counters.md");
  const CounterSnapshot none;
  std::set<std::string> names;
  for (const auto& values : {port_values(none), hardware_values(none)}) {
    for (const CounterValue& counter : values) names.insert(std::string(counter.name));
  }
  for (const LinkCounterValue& counter : link_counter_values({})) names.insert(std::string(counter.name));
  Fabric fabric(default_configuration());
  for (const SwitchCounterValue& counter : switch_values(fabric)) names.insert(std::string(counter.name));
  for (const std::string& name : names)
    BOOST_TEST(page.find("\n| `" + name + "` |") != std::string::npos, name);
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    BOOST_TEST(names.contains(name), name << " is in the page only");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
