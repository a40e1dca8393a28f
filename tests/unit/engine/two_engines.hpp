// Two devices with an engine each, and a program on each.
#pragma once

#include "device_model/link/switch.hpp"
#include "device_model/link/trunk.hpp"
#include "device_model/link/trunk_ports.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

class TwoEngines {
 public:
  TwoEngines() {
    switch0.attach_remote(device_config(2).mac, there, "test2");
    trunk_ports_0.add_outgoing(there, [this] {
      if (wakes_engine1) engine1.wake();
    });
    trunk_ports_0.add_incoming(back);
    trunk_ports_1.add_outgoing(back, [this] { engine0.wake(); });
    trunk_ports_1.add_incoming(there);
    engine0.add_uplink(switch0);
    engine1.add_uplink(switch1);
    engine0.data_path().set_trunk_ports(&trunk_ports_0);
    engine1.data_path().set_trunk_ports(&trunk_ports_1);
  }
  ~TwoEngines() {
    engine0.stop();
    engine1.stop();
  }

  // On the test's thread: one round of one of them.
  bool round0() { return round(program0, engine0); }
  bool round1() { return round(program1, engine1); }
  // Rounds until neither has anything left to do.
  void run() {
    for (int idle = 0; idle < 3;)
      idle = static_cast<int>(round0()) + static_cast<int>(round1()) == 0 ? idle + 1 : 0;
  }
  void advance(transport::Nanoseconds span) {
    for (Engine* engine : {&engine0, &engine1}) engine->data_path().set_now(engine->data_path().now() + span);
    run();
  }

  // Whether a frame from the first engine's device wakes the second engine.
  bool wakes_engine1 = true;
  Engine engine0{{.idle_spin = transport::Nanoseconds(0)}};
  Engine engine1{{.idle_spin = transport::Nanoseconds(0)}};
  link::Switch switch0;
  link::Switch switch1;
  link::TrunkPorts trunk_ports_0{switch0};
  link::TrunkPorts trunk_ports_1{switch1};
  link::Trunk there{&engine0.data_path().staging()};
  link::Trunk back{&engine1.data_path().staging()};
  Device device0{device_config(1), engine0.data_path(), switch0};
  // Ports have the devices' order on both switches.
  struct RemoteDevice0 {
    RemoteDevice0(link::Switch& frame_switch, link::Trunk& trunk) {
      frame_switch.attach_remote(device_config(1).mac, trunk, "test1");
    }
  } remote_device0{switch1, back};
  Device device1{device_config(2), engine1.data_path(), switch1};
  Program program0{engine0, device0};
  Program program1{engine1, device1};

 private:
  static bool round(Program& program, Engine& engine) {
    const bool rang = program.doorbell_set.collect() != 0;
    return engine.data_path().round() || rang;
  }
};

}  // namespace urnic::engine::test
