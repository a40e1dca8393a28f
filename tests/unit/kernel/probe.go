// Go's own packages make system calls themselves. The C functions that a Go program calls go through the stand-in.
package main

/*
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_device(const char* path) {
  struct stat status;
  int device = open(path, O_RDWR | O_CLOEXEC);
  int good = device >= 0 && fstat(device, &status) == 0 && S_ISCHR(status.st_mode);
  close(device);
  return good;
}
*/
import "C"

import (
	"fmt"
	"os/exec"
	"sync"
	"unsafe"
)

func main() {
	path := C.CString("/dev/infiniband/uverbs0")
	defer C.free(unsafe.Pointer(path))
	bad := make(chan int, 100)
	var all sync.WaitGroup
	for i := 0; i < cap(bad); i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			if C.is_device(path) == 0 {
				bad <- 1
			}
		}()
	}
	all.Wait()
	output, _ := exec.Command("cat", "/sys/class/infiniband/urnic0/node_type").Output()
	fmt.Printf("%d bad, %s", len(bad), output)
}
