// Tells the device process that this process is about to become another program.
//
// The device process reaches memory by process number, and exec puts another program behind the same number.
// So the device process is told before exec; from then on it reaches only the old program's memory.
#pragma once

namespace urnic::kernel {

// Records that this process has opened the device node `name`.
void note_opened_device(const char* name);

// Tells the device process that exec comes next, and waits at most one second for its answer. Does nothing if
// this process has opened no device, for example between fork or vfork and exec. Keeps errno.
void announce_exec();
// Tells the device process, in the same way, that exec has failed.
void take_back_exec();

}  // namespace urnic::kernel
