/* Says how many RDMA devices there are: built in ways that make preloading difficult (statically, with
   AddressSanitizer's runtime). */
#include <infiniband/verbs.h>
#include <stdio.h>

int main(void) {
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  if (list == NULL) return 1;
  printf("%d devices\n", count);
  for (int i = 0; i < count; ++i) {
    struct ibv_context* context = ibv_open_device(list[i]);
    if (context == NULL) return 2;
    ibv_close_device(context);
  }
  ibv_free_device_list(list);
  return 0;
}
