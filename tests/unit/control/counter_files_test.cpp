#include "device_model/control/counter_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "tests/unit/control/temporary_directory.hpp"

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
                           "rx_atomic_requests",
                           "rx_datagram_discards",
                           "rx_held_discards",
                           "rx_held_packets",
                           "rx_icrc_encapsulated",
                           "rx_qkey_violations",
                           "rx_read_repeat_discards",
                           "rx_read_requests",
                           "rx_write_requests",
                           "tx_selective_acks"}) {
    BOOST_TEST(names.contains(name), name);
  }
}

BOOST_AUTO_TEST_CASE(data_counts_words_and_packets_count_packets) {
  CounterSnapshot counters;
  counters.port.transmitted_bytes = 4000;
  counters.port.transmitted_packets = 3;
  counters.transport.rnr_nak_sent = 7;
  for (const CounterValue& counter : port_values(counters)) {
    if (counter.name == "port_xmit_data") BOOST_TEST(counter.value == 1000u);
    if (counter.name == "port_xmit_packets") BOOST_TEST(counter.value == 3u);
  }
  for (const CounterValue& counter : hardware_values(counters)) {
    if (counter.name == "out_of_buffer") BOOST_TEST(counter.value == 7u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
