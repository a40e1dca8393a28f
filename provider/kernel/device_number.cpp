#include "provider/kernel/device_number.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device_model/abi/run_directory_layout.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"

namespace urnic::kernel {

namespace {

constexpr char kUverbs[] = "uverbs";
constexpr char kUmad[] = "umad";
constexpr char kIssm[] = "issm";

void append_class(const char* name, PathText& path) {
  path.append(run_directory()).append("/").append(abi::kSysfs).append("/class/").append(name);
}

// Reads a decimal number and moves `text` behind it. False if there is no digit or the number is too large.
bool parse_number(const char*& text, unsigned& number) {
  if (*text < '0' || *text > '9') return false;
  number = 0;
  while (*text >= '0' && *text <= '9') {
    if (number > 0xFFFFFF) return false;
    number = number * 10 + static_cast<unsigned>(*text++ - '0');
  }
  return true;
}

bool begins_with(const char* beginning, const char* name) {
  return std::strncmp(name, beginning, std::strlen(beginning)) == 0;
}

// The folder of /sys/class in which the node has its folder.
const char* class_of(const char* name) {
  if (begins_with(kUmad, name) || begins_with(kIssm, name)) return "infiniband_mad/";
  return begins_with(kUverbs, name) ? "infiniband_verbs/" : "misc/";
}

}  // namespace

bool parse_device_number(const char* text, dev_t& number) {
  unsigned major_number = 0;
  unsigned minor_number = 0;
  if (!parse_number(text, major_number) || *text++ != ':' || !parse_number(text, minor_number)) return false;
  if (*text != '\0' && *text != '\n') return false;
  number = makedev(major_number, minor_number);
  return true;
}

bool is_node_name(const char* name) {
  if (std::strcmp(name, kRdmaCmNode) == 0) return true;
  const char* prefix = nullptr;
  for (const char* const each : {kUverbs, kUmad, kIssm})
    if (begins_with(each, name)) prefix = each;
  if (prefix == nullptr) return false;
  unsigned index = 0;
  name += std::strlen(prefix);
  return parse_number(name, index) && *name == '\0';
}

void append_node_path(const char* name, PathText& path) {
  path.append(run_directory()).append("/").append(abi::kDeviceNodes).append("/").append(name);
}

bool read_device_number(const char* name, dev_t& number) {
  const KeptErrno kept;
  PathText path;
  append_class(class_of(name), path);
  path.append(name).append("/dev");
  const int file = real::open(path.text(), O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return false;
  char text[24];
  const ssize_t length = real::read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  return parse_device_number(text, number);
}

namespace {

// Appends the name of the node of this class that has `number`; false if none has.
bool find_in_class(const char* class_name, dev_t number, PathText& name) {
  PathText path;
  append_class(class_name, path);
  const int folder = real::open(path.text(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0) return false;
  bool found = false;
  alignas(dirent64) char entries[1024];
  long filled = 0;
  while (!found && (filled = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
    for (long at = 0; at < filled && !found;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      dev_t candidate = 0;
      found =
          is_node_name(entry->d_name) && read_device_number(entry->d_name, candidate) && candidate == number;
      if (found) name.append(entry->d_name);
    }
  }
  close(folder);
  return found;
}

}  // namespace

bool find_node_name(dev_t number, PathText& name) {
  const KeptErrno kept;
  dev_t rdma_cm = 0;
  if (read_device_number(kRdmaCmNode, rdma_cm) && rdma_cm == number) {
    name.append(kRdmaCmNode);
    return true;
  }
  return find_in_class("infiniband_verbs", number, name) || find_in_class("infiniband_mad", number, name);
}

}  // namespace urnic::kernel
