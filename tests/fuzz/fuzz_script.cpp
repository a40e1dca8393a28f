// Any text as a packet script: it is parsed, or refused at a place that it has. A script that is right is run
// under virtual time, unless it could take long.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "script/call_text.hpp"
#include "script/language/parser.hpp"
#include "script/packets/packet_fields.hpp"
#include "script/run/runner.hpp"
#include "script/virtual_host/virtual_host.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace urnic::script;

// The place lies in the text, or just behind a line's end.
bool is_in(Position at, std::string_view text) {
  for (; at.line > 1; --at.line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  return at.line == 1 && at.column >= 1 && at.column <= text.substr(0, text.find('\n')).size() + 1;
}

// Ends a script whose waits never end.
class BoundedHost final : public Host {
 public:
  explicit BoundedHost(urnic::wire::LinkLayer link_layer) : host_(link_layer) {}

  bool is_virtual() const override { return true; }
  Time now() const override { return host_.now(); }
  std::uint32_t first_qpn() const override { return host_.first_qpn(); }
  urnic::wire::NetworkHeaders path_to_device() const override { return host_.path_to_device(); }
  void send(std::span<const Bytes> frames) override { host_.send(frames); }
  std::optional<SeenFrame> receive() override { return host_.receive(); }
  Answer call(const Call& call) override {
    return ++calls_ > 200 ? Answer{.refusal = "enough"} : host_.call(call);
  }
  void settle() override { host_.settle(); }
  bool step(Time until) override { return ++steps_ < 500 && host_.step(until); }

 private:
  VirtualHost host_;
  std::uint32_t steps_ = 0;
  std::uint32_t calls_ = 0;
};

bool has_loop(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements)
    if (statement.keyword == Keyword::repeat) return true;
  return false;
}

void run(const Script& script) {
  if (script.statements.size() > 40 || has_loop(script.statements)) return;
  BoundedHost host(script.link_layer);
  Runner(script, host, {.patience = Nanoseconds(1'000'000)}).run();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto call = call_of_line(text))
    urnic::fuzz::require(call_of_line(to_line(*call)).has_value(), "a call is lost in its line");
  answer_of_line(text);
  try {
    const Script script = parse(text, is_packet_field);
    run(script);
  } catch (const ScriptError& error) {
    urnic::fuzz::require(is_in(error.at(), text), "an error lies beside the script");
  }
  return 0;
}
