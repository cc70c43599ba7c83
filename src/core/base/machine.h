/* SPDX-License-Identifier: Apache-2.0 */
/* The memory and the processors that this process may use, limited by the machine itself and by the
 * control groups (cgroup v1 and v2) of the process. */
#ifndef GBSI_BASE_MACHINE_H
#define GBSI_BASE_MACHINE_H

#include <stdint.h>

/* The machine's memory or the lowest memory limit of a control group, in bytes; UINT64_MAX if the
 * system reports neither. The function reads the limits only once. */
uint64_t gbsi_machine_bytes(void);
/* The memory limit of a call whose options give none: the limit of gbs_set_memory_limit() if it
 * was called, otherwise half of gbsi_machine_bytes(). */
uint64_t gbsi_default_memory_limit(void);

/* The memory that the method `auto` may use for exact answers: the limit of gbs_set_memory_limit()
 * if it was called, otherwise half of the free memory. The half is rounded down to a power of two,
 * because a little more or less free memory must lead to the same choices. The function measures
 * the free memory only once. */
uint64_t gbsi_auto_memory_limit(void);

/* The memory of the process without the objects that the library allocates: the program, its shared
 * libraries, and the memory allocated before the first call of this function. Later calls return
 * the same number. */
uint64_t gbsi_process_bytes(void);
/* gbsi_process_bytes() plus the memory that every call needs in addition to its arrays: stacks of
 * threads, buffers of files and other small allocations. Predictions of memory begin with this
 * number. */
uint64_t gbsi_program_bytes(void);

/* Number of processors that the quotas of control groups allow, rounded up; UINT32_MAX if there is
 * no quota. The function reads the quotas only once. */
uint32_t gbsi_quota_cores(void);

/* The limits of the process's control groups and of all groups above them. Tests pass as `root`
 * a folder that replaces the root of the file system; the functions above pass "". */
typedef struct gbsi_cgroup_limits {
    uint64_t bytes;   /* UINT64_MAX if there is no limit */
    uint32_t n_cores; /* UINT32_MAX if there is no quota */
} gbsi_cgroup_limits;
gbsi_cgroup_limits gbsi_cgroup_read(const char *root);
/* The number of bytes that the system reports as available; UINT64_MAX if the system reports no
 * such number. */
uint64_t gbsi_free_read(const char *root);

#endif
