// Tells the device process that this process is about to become another program.
//
// The device process reaches memory by the process's number, which stays the same when exec puts another
// program behind it. So it is told before, and reaches only the old program's memory from then on.
#pragma once

namespace urnic::kernel {

// This process has opened the device node `name`.
void note_opened_device(const char* name);

// Returns once the device process knows; at once if this process has opened no device, and after a second if
// there is no answer. Keeps errno. May be called between fork or vfork and exec: does nothing there.
void announce_exec();
// It was in vain.
void take_back_exec();

}  // namespace urnic::kernel
