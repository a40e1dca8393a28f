"""A Linux guest with QEMU's pvrdma device, which is one of urnic's behind QEMU: the guest's driver is Linux's own vmw_pvrdma, its
library Debian's libvmw_pvrdma. QEMU is a program of `urnic run`. eth0 is the device's network card (vmxnet3), on a cable to the
other guest."""

import os
import signal
import subprocess

import guest


class PvrdmaGuest(guest.Guest):
    """`device`: of `fabric`, whose mux listens at the path `mux`. `cable`: the socket between two guests; the first one listens."""

    def __init__(self, fabric, directory, device, mux, cable, number):
        super().__init__(directory, None, address=f"10.0.0.{number}/24", mac=f"52:54:00:00:00:{number:02x}")
        self.fabric, self.device, self.mux, self.cable, self.number = fabric, device, mux, cable, number

    def _files(self):
        return guest.files(pvrdma=True)

    def _kernel_options(self):
        # The kernel notices who has written to pages that nobody has.
        return super()._kernel_options() + " page_poison=1"

    def _machine(self):
        listens = "on" if self.number == 1 else "off"
        return ["-object", "memory-backend-ram,id=memory,size=1G,share=on", "-machine", "pc,memory-backend=memory", "-m", "1G",
                "-netdev", f"stream,id=cable,server={listens},addr.type=unix,addr.path={self.cable}",
                "-device", f"vmxnet3,netdev=cable,mac={self.mac},bus=pci.0,addr=10.0,multifunction=on",
                "-chardev", f"socket,path={self.mux},id=mads",
                "-device", f"pvrdma,bus=pci.0,addr=10.1,ibdev={self.device},netdev=lo,mad-chardev=mads"]

    def _launch(self, command, errors):
        words = list(self.fabric.on_urnic(*command))
        if self.user is not None:
            words = ["setpriv", "--reuid", str(self.user), "--regid", str(self.user), "--clear-groups", "--", *words]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
                                env=self.fabric.environment)

    def _set_up(self):
        # The driver makes its device when the network card is up. Its GIDs follow the card's addresses.
        self.run("ulimit -l unlimited; ip link set eth0 up && ip address add " + self.address + " dev eth0 && "
                 "until rdma link show | grep -q ACTIVE; do sleep 0.2; done")

    def stop(self):
        # QEMU is a child of `urnic run`, in a group of its own.
        if getattr(self, "_qemu", None) is not None and self.alive:
            os.killpg(self._qemu.pid, signal.SIGKILL)
        super().stop()
