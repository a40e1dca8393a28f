#include "device_model/control/sysfs/counter_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "device_model/control/sysfs/port_files.hpp"

namespace urnic::control {
namespace {

using namespace std::chrono_literals;

// The periods of updates while counters change, and while QPs exist but no counter changed for a second.
// Without QPs nothing changes, and there are no updates.
constexpr auto kBusyPeriod = 100ms;
constexpr auto kQuietPeriod = 1s;
constexpr unsigned kQuietAfter = 10;

memory::Descriptor open_file(const memory::Descriptor& folder, std::string_view name, int flags) {
  return memory::Descriptor(
      openat(folder.get(), std::string(name).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0644));
}

}  // namespace

CounterFolder::CounterFolder(const std::filesystem::path& folder, const std::vector<CounterValue>& values) {
  std::filesystem::create_directories(folder);
  folder_ = memory::Descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) throw std::system_error(errno, std::generic_category(), folder.string());
  for (const CounterValue& counter : values) {
    const memory::Descriptor file = open_file(folder_, counter.name, O_CREAT);
    if (!file) throw std::system_error(errno, std::generic_category(), (folder / counter.name).string());
    files_.push_back({std::string(counter.name), ~std::uint64_t{0}});
  }
  update(values);
}

// Counters only grow, so a new value overwrites all digits of the old one.
bool CounterFolder::update(const std::vector<CounterValue>& values) {
  bool changed = false;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].value == values[i].value) continue;
    changed = true;
    const std::string text = fmt::format("{}\n", values[i].value);
    const memory::Descriptor file = open_file(folder_, files_[i].name, 0);
    if (!file) continue;  // programs have taken all descriptors: at the next update
    files_[i].value = values[i].value;
    [[maybe_unused]] const ssize_t written = pwrite(file.get(), text.data(), text.size(), 0);
  }
  return changed;
}

CounterFiles::CounterFiles(EventLoop& loop, Fabric& fabric, const SysfsTree& tree)
    : fabric_(fabric), timer_(loop, [this] { tick(); }) {
  for (const auto& device : fabric.devices()) {
    const CounterSnapshot counters = snapshot(fabric, *device);
    const std::filesystem::path port = tree.port_folder(*device);
    devices_.push_back({device.get(), port, true, CounterFolder(port / "counters", port_values(counters)),
                        CounterFolder(port / "hw_counters", hardware_values(counters))});
  }
}

void CounterFiles::add(const ServedDevice& device, std::string_view folder, CounterSource values) {
  const auto files = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const DeviceFiles& each) { return each.device == &device; });
  CounterFolder created(files->folder / folder, values());
  added_.push_back({std::move(values), std::move(created)});
}

void CounterFiles::touch() {
  const bool was_busy = timer_.is_set() && quiet_ticks_ < kQuietAfter;
  quiet_ticks_ = 0;
  if (!was_busy) timer_.set(kBusyPeriod);
}

bool CounterFiles::update() {
  bool changed = false;
  seen_activity_ = fabric_.activity();
  for (DeviceFiles& files : devices_) {
    const CounterSnapshot counters = snapshot(fabric_, *files.device);
    if (reader_) reader_(*files.device, counters);
    changed |= files.port.update(port_values(counters));
    changed |= files.hardware.update(hardware_values(counters));
    // An InfiniBand port's state is the subnet manager's.
    const bool is_shown = counters.link_up == files.link_up || files.device->adapter;
    if (!is_shown) show_port_state(files.folder, counters.link_up);
    files.link_up = counters.link_up;
  }
  for (AddedFolder& added : added_) changed |= added.folder.update(added.values());
  return changed;
}

bool CounterFiles::has_queue_pairs() const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [](const DeviceFiles& files) { return files.device->queue_pairs.used() != 0; });
}

void CounterFiles::tick() {
  // Once quiet, does not wake the engine to learn that nothing has changed.
  const bool may_have_moved = quiet_ticks_ < kQuietAfter || fabric_.activity() != seen_activity_;
  quiet_ticks_ = may_have_moved && update() ? 0 : quiet_ticks_ + 1;
  if (quiet_ticks_ < kQuietAfter) {
    timer_.set(kBusyPeriod);
  } else if (has_queue_pairs()) {
    timer_.set(kQuietPeriod);
  }
}

}  // namespace urnic::control
