// RDMA netlink: messages and attributes, in and out.
#include <boost/test/unit_test.hpp>

#include "tests/unit/control/netlink_conversation.hpp"

namespace urnic::control::test {
namespace {

using netlink::Attributes;
using netlink::DatagramWriter;
using netlink::take_message;

BOOST_AUTO_TEST_SUITE(netlink_messages)

BOOST_AUTO_TEST_CASE(a_message_ends_where_its_length_says) {
  Bytes two = NetlinkRequest(RDMA_NLDEV_CMD_GET).with(RDMA_NLDEV_ATTR_DEV_NAME, "x").bytes();
  const std::size_t first = two.size();
  const Bytes second = NetlinkRequest(RDMA_NLDEV_CMD_SYS_GET).bytes();
  two.insert(two.end(), second.begin(), second.end());
  std::span<const std::byte> rest(two);
  const auto message = take_message(rest);
  BOOST_REQUIRE(message.has_value());
  BOOST_TEST(message->payload.size() == first - sizeof(nlmsghdr));
  BOOST_TEST(take_message(rest)->header.nlmsg_type == netlink::message_type(RDMA_NLDEV_CMD_SYS_GET));
  BOOST_TEST(rest.empty());
  BOOST_TEST(!take_message(rest).has_value());
}

BOOST_AUTO_TEST_CASE(a_message_with_an_impossible_length_is_none) {
  Bytes bytes = NetlinkRequest(RDMA_NLDEV_CMD_GET).bytes();
  for (const std::uint32_t length : {0u, 1u, 15u, 17u, 1u << 16, 0xFFFFFFF0u, 0xFFFFFFFFu}) {
    std::memcpy(bytes.data(), &length, sizeof length);
    std::span<const std::byte> rest(bytes);
    BOOST_TEST(!take_message(rest).has_value(), length);
  }
  for (std::size_t length = 0; length < sizeof(nlmsghdr); ++length) {
    auto rest = std::span<const std::byte>(bytes).first(length);
    BOOST_TEST(!take_message(rest).has_value());
  }
}

BOOST_AUTO_TEST_CASE(attributes_are_checked) {
  const auto parse = [](const NetlinkRequest& request) {
    const Bytes bytes = request.bytes();
    return Attributes::parse(std::span(bytes).subspan(sizeof(nlmsghdr))).has_value();
  };
  const auto good = Attributes::parse({});
  BOOST_REQUIRE(good.has_value());
  BOOST_TEST(!good->has(RDMA_NLDEV_ATTR_DEV_INDEX));

  const std::uint16_t length = 3;
  Bytes bytes(8);
  std::memcpy(bytes.data(), &length, sizeof length);
  BOOST_TEST(!Attributes::parse(bytes).has_value());
  for (const std::uint16_t wrong : {std::uint16_t{0}, std::uint16_t{9}, std::uint16_t{0xFFFF}}) {
    std::memcpy(bytes.data(), &wrong, sizeof wrong);
    BOOST_TEST(!Attributes::parse(bytes).has_value());
  }
  BOOST_TEST(!Attributes::parse(std::span(bytes).first(3)).has_value());
  BOOST_TEST(parse(NetlinkRequest(0).with(0x3FFF, 1)), "an unknown type");
}

BOOST_AUTO_TEST_CASE(numbers_and_texts_are_what_they_are_meant_to_be) {
  const std::uint16_t half = 1;
  const Bytes request = NetlinkRequest(0)
                            .with(RDMA_NLDEV_ATTR_DEV_INDEX, 5)
                            .with(RDMA_NLDEV_ATTR_DEV_INDEX | NLA_F_NESTED, 6)
                            .with(RDMA_NLDEV_ATTR_PORT_INDEX, &half, sizeof half)
                            .with(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs\0junk", 11)
                            .with(RDMA_NLDEV_ATTR_DEV_NAME, "abc", 3)
                            .bytes();
  const auto attributes = Attributes::parse(std::span(request).subspan(sizeof(nlmsghdr)));
  BOOST_REQUIRE(attributes.has_value());
  BOOST_TEST(attributes->number(RDMA_NLDEV_ATTR_DEV_INDEX).value() == 6u, "the last one counts");
  BOOST_TEST(attributes->has(RDMA_NLDEV_ATTR_PORT_INDEX));
  BOOST_TEST(!attributes->number(RDMA_NLDEV_ATTR_PORT_INDEX).has_value());
  BOOST_TEST(attributes->text(RDMA_NLDEV_ATTR_CHARDEV_TYPE).value() == "uverbs");
  BOOST_TEST(attributes->text(RDMA_NLDEV_ATTR_DEV_NAME).value() == "abc");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_cut_back) {
  DatagramWriter datagram;
  const auto message = datagram.begin_message({1, 2}, 3, 4);
  const std::string text(100, 'x');
  std::size_t entries = 0;
  for (auto place = datagram.place();; place = datagram.place(), ++entries) {
    const auto table = datagram.begin_table(RDMA_NLDEV_ATTR_RES_QP);
    datagram.put(RDMA_NLDEV_ATTR_DEV_NAME, text);
    datagram.put(RDMA_NLDEV_ATTR_DEV_INDEX, std::uint32_t{7});
    if (!datagram.fits()) {
      datagram.cut_back(place);
      break;
    }
    datagram.end_table(table);
  }
  datagram.end_message(message);
  BOOST_TEST(datagram.bytes().size() <= netlink::kMaxDatagram);
  const auto messages = read_messages(datagram.bytes());
  BOOST_REQUIRE(messages.size() == 1u);
  const auto tables = messages[0].attributes().entries(RDMA_NLDEV_ATTR_RES_QP);
  BOOST_TEST(tables.size() == entries);
  for (const auto& table : tables) {
    BOOST_TEST(table.text(RDMA_NLDEV_ATTR_DEV_NAME) == text);
    BOOST_TEST(table.number(RDMA_NLDEV_ATTR_DEV_INDEX) == 7u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
