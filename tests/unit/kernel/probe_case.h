/* One entry point or situation that the probe tries. */
#ifndef URNIC_TESTS_UNIT_KERNEL_PROBE_CASE_H
#define URNIC_TESTS_UNIT_KERNEL_PROBE_CASE_H

struct probe_case {
  const char* name;
  /* Null if everything is as on a machine with an RDMA device; else the condition that does not hold. */
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

/* Cases that need the stand-in; in `unchanged_cases`, those that hold with and without it. Each list ends
   with a null name. */
extern const struct probe_case file_cases[];
extern const struct probe_case status_cases[];
extern const struct probe_case directory_cases[];
extern const struct probe_case device_cases[];
extern const struct probe_case netlink_cases[];
extern const struct probe_case unchanged_cases[];

#endif
