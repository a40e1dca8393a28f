// Completion channels: CREATE_COMP_CHANNEL, the one uverbs command that the stand-in serves itself.
#pragma once

namespace urnic::kernel {

// Makes a channel of the device node that is open as `device`. Returns the end that is the program's, or -1
// and errno: EIO if the device process is gone.
int make_completion_channel(int device);

}  // namespace urnic::kernel
