// Which class each algorithm is.
#include "device_model/transport/congestion/dcqcn.hpp"
#include "device_model/transport/congestion/swift.hpp"
#include "device_model/transport/congestion/timely.hpp"

namespace urnic::transport {

std::unique_ptr<CongestionControl> make_congestion_control(const CongestionSettings& settings) {
  switch (settings.algorithm) {
    case CongestionAlgorithm::dcqcn:
      return std::make_unique<Dcqcn>(settings);
    case CongestionAlgorithm::rtt:
      return std::make_unique<Swift>(settings);
    case CongestionAlgorithm::timely:
      return std::make_unique<Timely>(settings);
    case CongestionAlgorithm::off:
      break;
  }
  return nullptr;
}

}  // namespace urnic::transport
