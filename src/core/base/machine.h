/* SPDX-License-Identifier: Apache-2.0 */
/* The memory and the processors that this process may use, limited by the machine itself and by the
 * control groups (cgroup v1 and v2) of the process. */
#ifndef GBSI_BASE_MACHINE_H
#define GBSI_BASE_MACHINE_H

#include <stdint.h>

/* The machine's memory or the lowest memory limit of a control group, bytes; UINT64_MAX where
 * neither can be found out. Read once. */
uint64_t gbsi_machine_bytes(void);
/* The memory limit of a call that is given none: that of gbs_set_memory_limit(), else half of
 * gbsi_machine_bytes(). */
uint64_t gbsi_default_memory_limit(void);

/* The memory that `auto` gives to exact answers: the limit of gbs_set_memory_limit(), else half of
 * what was free. The half is rounded down to a power of two, so that a little more or less free
 * memory leads to the same choices. Measured once. */
uint64_t gbsi_auto_memory_limit(void);

/* The memory of the process without the library's objects: the program, its libraries, and the
 * memory allocated before the first call of this function. Measured once. */
uint64_t gbsi_process_bytes(void);
/* gbsi_process_bytes() plus what every call adds beside its arrays: stacks of threads, buffers of
 * files, small things. Predictions begin with it. */
uint64_t gbsi_program_bytes(void);

/* Processors that the quotas of control groups are worth, rounded up; UINT32_MAX without a quota.
 * Read once. */
uint32_t gbsi_quota_cores(void);

/* The limits of the process's control groups and of all groups above them. Tests give a folder that
 * stands for the root of the file system; the functions above use "". */
typedef struct gbsi_cgroup_limits {
    uint64_t bytes;   /* UINT64_MAX: none */
    uint32_t n_cores; /* UINT32_MAX: none */
} gbsi_cgroup_limits;
gbsi_cgroup_limits gbsi_cgroup_read(const char *root);
/* The bytes that the system calls available; UINT64_MAX where it does not say. */
uint64_t gbsi_free_read(const char *root);

#endif
