#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "script/language/parser.hpp"
#include "script/packets/packet_fields.hpp"
#include "script/run/runner.hpp"
#include "script/virtual_host/virtual_host.hpp"

int main(int argc, char** argv) {
  using namespace urnic::script;
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::stringstream text;
    text << file.rdbuf();
    const std::string all = text.str();
    try {
      const Script script = parse(all, is_packet_field);
      VirtualHost host;
      RunSettings settings;
      const Outcome outcome = Runner(script, host, settings).run();
      if (outcome.failure) {
        status = 1;
        std::printf("%s:%u:%u: %s\n%s", argv[i], outcome.failure->at.line, outcome.failure->at.column,
                    outcome.failure->problem.c_str(), outcome.ladder.c_str());
      } else {
        std::printf("%s: passed\n", argv[i]);
      }
    } catch (const ScriptError& error) {
      status = 1;
      std::printf("%s\n", describe(error, argv[i]).c_str());
    }
  }
  return status;
}
