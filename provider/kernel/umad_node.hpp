// read, write and ioctl on an open umad node: the interface of <rdma/ib_user_mad.h>, served by the device
// process (device_model/abi/umad_messages.hpp).
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace urnic::kernel {

// True if the character device `number` is a umad node's.
bool is_umad_number(dev_t number);

// True if the ioctl is one of a umad node's.
bool is_umad_request(unsigned long request);

// As the kernel's ib_umad; -1 and EIO: the device process is gone.
ssize_t read_from_umad(int descriptor, void* data, size_t size);
ssize_t write_to_umad(int descriptor, const void* data, size_t size);
int ioctl_on_umad(int descriptor, unsigned long request, void* argument);

// Finishes an open() of issmN, once its socket is connected: the program becomes its port's subnet manager,
// after the one that is it has gone, unless `flags` have O_NONBLOCK. 0 or an errno: EAGAIN, EINTR, ENXIO (the
// device process is gone).
int become_subnet_manager(int descriptor, int flags);

}  // namespace urnic::kernel
