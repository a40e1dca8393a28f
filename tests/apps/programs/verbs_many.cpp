// A thousand QPs in one program, all of them with messages under way at once.
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "tests/apps/programs/endpoint.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kConnections = 500;  // of two QPs each
constexpr std::size_t kLength = 2000;
constexpr std::uint64_t kMessages = 20;

struct Connections {
  Device left{device_names().first};
  Device right{device_names().second};
  CqOwner left_cq{ibv_create_cq(left.context(), 65536, nullptr, nullptr, 0)};
  CqOwner right_cq{ibv_create_cq(right.context(), 65536, nullptr, nullptr, 0)};
  std::vector<std::unique_ptr<Endpoint>> lefts;
  std::vector<std::unique_ptr<Endpoint>> rights;
  Memory source{left.pd(), kConnections* kLength};
  Memory target{right.pd(), kConnections* kLength};

  Connections() {
    EndpointOptions options;
    options.capacity.max_send_wr = 32;
    options.capacity.max_recv_wr = 32;
    options.rnr_retry = 7;
    for (std::size_t i = 0; i < kConnections; ++i) {
      lefts.push_back(std::make_unique<Endpoint>(left, options, left_cq.get(), left_cq.get()));
      rights.push_back(std::make_unique<Endpoint>(right, options, right_cq.get(), right_cq.get()));
      lefts[i]->connect(rights[i]->address());
      rights[i]->connect(lefts[i]->address());
    }
  }
};

BOOST_FIXTURE_TEST_CASE(thousand_qps, Connections) {
  for (std::uint64_t number = 0; number < kMessages; ++number) {
    for (std::size_t i = 0; i < kConnections; ++i) {
      fill(source.bytes(i * kLength, kLength), i * kMessages + number);
      rights[i]->post_receive(i, {target.segment(i * kLength, kLength)});
      ibv_sge segment = source.segment(i * kLength, kLength);
      ibv_send_wr request = signaled_request(IBV_WR_SEND, segment);
      request.wr_id = i;
      lefts[i]->post(request);
    }
    std::vector<unsigned> sent(kConnections), received(kConnections);
    for (std::size_t i = 0; i < kConnections; ++i) {
      for (const auto& [cq, seen] : {std::pair(left_cq.get(), &sent), std::pair(right_cq.get(), &received)}) {
        const ibv_wc completion = wait_completion(cq);
        BOOST_REQUIRE_EQUAL(completion.status, IBV_WC_SUCCESS);
        BOOST_REQUIRE_LT(completion.wr_id, kConnections);
        ++(*seen)[completion.wr_id];
      }
    }
    for (std::size_t i = 0; i < kConnections; ++i) {
      BOOST_TEST(sent[i] == 1);
      BOOST_TEST(received[i] == 1);
      const auto wrong = difference(target.bytes(i * kLength, kLength), i * kMessages + number);
      BOOST_TEST(!wrong, "connection " << i << ": " << wrong.value_or(""));
    }
  }
}

}  // namespace
}  // namespace urnic::apps
