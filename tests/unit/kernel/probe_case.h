/* One entry point or situation that the probe tries. */
#ifndef URNIC_TESTS_UNIT_KERNEL_PROBE_CASE_H
#define URNIC_TESTS_UNIT_KERNEL_PROBE_CASE_H

struct probe_case {
  const char* name;
  /* Null if all is as on a machine with an RDMA device; else what is not. */
  const char* (*run)(void);
};

/* Ends the case unless the condition holds. */
#define EXPECT(condition)                \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (0)

#define GUID_FILE "/sys/class/infiniband/urnic0/node_guid"
#define GUID_TEXT "0200:00ff:fe00:0000\n"
#define NODE "/dev/infiniband/uverbs0"
#define NODE_NUMBER makedev(231, 192)

/* Cases that need the stand-in, and cases that hold with it as they hold without. Each list ends with a null
   name. */
extern const struct probe_case file_cases[];
extern const struct probe_case status_cases[];
extern const struct probe_case directory_cases[];
extern const struct probe_case device_cases[];
extern const struct probe_case unchanged_cases[];

#endif
