// The fluid model of DCQCN (Zhu et al., SIGCOMM 2015, section 5, equations 5 to 9): what the queue and the
// senders' rates should be by calculation. Nothing of the product is in it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace urnic::transport::lab {

struct FluidSettings {
  double packet = 1106;           // bytes on the line
  double line = 40e9 / 8;         // bytes a second
  double marking_from = 5'000;    // Kmin, bytes
  double marking_to = 200'000;    // Kmax
  double probability = 0.01;      // Pmax
  double gain = 1.0 / 256;        // g
  double notification = 50e-6;    // tau
  double alpha_interval = 55e-6;  // tau'
  double timer = 55e-6;           // T
  double byte_counter = 10e6;     // B
  double fast_recoveries = 5;     // F
  double additive = 40e6 / 8;     // R_AI, bytes a second
  double control_delay = 50e-6;   // tau*: of the loop
};

class FluidModel {
 public:
  // No flow yet.
  explicit FluidModel(const FluidSettings& settings);

  // A flow begins at the line's rate.
  void add_flow();
  void run_for(double seconds);

  double queue() const { return queue_; }  // bytes
  // As a share of the line.
  double share(std::size_t flow) const;

 private:
  struct Flow {
    double alpha;
    double target;             // R_T, packets a second
    double rate;               // R_C
    std::vector<double> past;  // R_C of the last control delay: a ring
  };

  double marking() const;
  void step(Flow& flow, double marked, double before) const;

  FluidSettings settings_;
  std::vector<Flow> flows_;
  double queue_ = 0;
  std::vector<double> past_marking_;  // a ring, too
  std::size_t place_ = 0;
};

}  // namespace urnic::transport::lab
