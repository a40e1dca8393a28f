#include "provider/plugin/connection/channel_writers.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "provider/freestanding/allocation.hpp"
#include "provider/freestanding/file_status.hpp"

namespace urnic::provider {
namespace {

// Opening the pipe's entry in /proc makes a new write end, whose flags are independent of other descriptors.
Descriptor open_write_end(int pipe) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", pipe);
  return Descriptor(open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

ChannelWriter* ChannelWriters::acquire(const ibv_comp_channel& channel) {
  struct stat status {};
  if (file_status(channel.fd, status) != 0) return nullptr;
  if (!S_ISFIFO(status.st_mode)) {
    errno = EINVAL;
    return nullptr;
  }
  for (ChannelWriter* writer = first_; writer != nullptr; writer = writer->next) {
    if (writer->inode != status.st_ino) continue;
    ++writer->users;
    return writer;
  }
  Descriptor descriptor = open_write_end(channel.fd);
  if (!descriptor.valid()) return nullptr;
  auto* writer = create_object<ChannelWriter>();
  if (writer == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  writer->inode = status.st_ino;
  writer->users = 1;
  writer->descriptor = static_cast<Descriptor&&>(descriptor);
  writer->next = first_;
  first_ = writer;
  return writer;
}

void ChannelWriters::release(ChannelWriter* writer) {
  if (writer == nullptr || --writer->users != 0) return;
  ChannelWriter** place = &first_;
  while (*place != writer) place = &(*place)->next;
  *place = writer->next;
  destroy_object(writer);
}

}  // namespace urnic::provider
