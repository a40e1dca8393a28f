#!/bin/busybox sh
# The guest's first process: loads the modules, puts a writable layer over the host's files, starts the agent there.
PATH=/bin
/bin/busybox --install -s /bin
mkdir -p /proc /sys /host /layer /root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
while read -r module; do
  insmod "/modules/$module" || echo "module $module is not loaded"
done < /modules/order

mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,ro,cache=loose hostfs /host
mount -t tmpfs layer /layer
mkdir /layer/upper /layer/work
mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work overlay /root
mount -t proc proc /root/proc
mount -t sysfs sysfs /root/sys
mount -t devtmpfs dev /root/dev
mkdir -p /root/dev/shm
for place in dev/shm run tmp; do mount -t tmpfs tmpfs "/root/$place"; done
cp /agent /root/run/agent
ip link set lo up
exec chroot /root /bin/bash /run/agent
