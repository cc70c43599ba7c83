/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/self/cgroup has a line "ID:CONTROLLERS:PATH" for every hierarchy. The line "0::PATH"
 * belongs to version 2, whose groups are below /sys/fs/cgroup or, if version 1 is in use too, below
 * /sys/fs/cgroup/unified. The groups of a version 1 controller are below
 * /sys/fs/cgroup/CONTROLLERS. Inside a container the path may be a path of the host that does not
 * exist in the container. Therefore a missing file does not count as a limit, and walk_up() visits
 * every group up to the top of the mount. */
#include "base/machine.h"

#ifdef __linux__
#include <link.h>
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gibbsite/io.h"

enum { PATH_SIZE = 4096, LINE_SIZE = 4096 };

static _Atomic uint64_t memory_limit; /* limit set by gbs_set_memory_limit(); 0 if none was set */

/* Reads the first line of dir/name. @return false if the file cannot be read. */
static int read_line(const char *dir, const char *name, char *line, int size)
{
    char path[PATH_SIZE + 64];
    const int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
    const int found = file != NULL && fgets(line, size, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

/* Returns the number in a limit file; "max" and "-1" mean that there is no limit. */
static uint64_t number(const char *text)
{
    char *end = NULL;
    const unsigned long long value = strtoull(text, &end, 10);
    return end == text || text[0] == '-' ? UINT64_MAX : value;
}

static void limit_bytes(gbsi_cgroup_limits *limits, uint64_t bytes)
{
    limits->bytes = bytes < limits->bytes ? bytes : limits->bytes;
}

static void limit_cores(gbsi_cgroup_limits *limits, uint64_t quota, uint64_t period)
{
    if (quota != UINT64_MAX && quota > 0 && period != UINT64_MAX && period > 0) {
        const uint64_t n = quota / period + (quota % period != 0);
        limits->n_cores = n < limits->n_cores ? (uint32_t)n : limits->n_cores;
    }
}

/* Reads the limits of one control group, of either cgroup version and with any controllers. */
static void read_group(const char *dir, gbsi_cgroup_limits *limits)
{
    char line[128];
    char other[128];
    if (read_line(dir, "memory.max", line, sizeof line)) {
        limit_bytes(limits, number(line));
    }
    if (read_line(dir, "memory.limit_in_bytes", line, sizeof line)) {
        limit_bytes(limits, number(line)); /* a value near 2^63 means that memory is not limited */
    }
    if (read_line(dir, "cpu.max", line, sizeof line)) { /* the line is "QUOTA PERIOD" */
        const char *period = strchr(line, ' ');
        limit_cores(limits, number(line), period == NULL ? 0 : number(period + 1));
    }
    if (read_line(dir, "cpu.cfs_quota_us", line, sizeof line) &&
        read_line(dir, "cpu.cfs_period_us", other, sizeof other)) {
        limit_cores(limits, number(line), number(other));
    }
}

/* Reads the limits of the control group mount/path and of all groups above it, up to the mount
 * itself. */
static void walk_up(const char *root, const char *mount, const char *path,
                    gbsi_cgroup_limits *limits)
{
    char dir[PATH_SIZE];
    const int n = snprintf(dir, sizeof dir, "%s/sys/fs/cgroup%s", root, mount);
    if (n < 0 || (size_t)n + strlen(path) >= sizeof dir) {
        return;
    }
    memcpy(dir + n, path, strlen(path) + 1);
    for (;;) {
        read_group(dir, limits);
        char *last = strrchr(dir + n, '/');
        if (last == NULL) {
            return;
        }
        *last = '\0';
    }
}

gbsi_cgroup_limits gbsi_cgroup_read(const char *root)
{
    gbsi_cgroup_limits found = {.bytes = UINT64_MAX, .n_cores = UINT32_MAX};
    char line[LINE_SIZE];
    char mount[LINE_SIZE + 1];
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL) {
            continue;
        }
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (*++controllers == '\0') {
            walk_up(root, "", group, &found);
            walk_up(root, "/unified", group, &found);
        } else if (strstr(controllers, "memory") != NULL || strstr(controllers, "cpu") != NULL) {
            (void)snprintf(mount, sizeof mount, "/%s", controllers);
            walk_up(root, mount, group, &found);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

/* ---- this process -------------------------------------------------------------------------- */

/* bytes that stacks, buffers of files and other small allocations take */
#define SMALL_BYTES ((uint64_t)2 << 20)
#define MIB         ((uint64_t)1 << 20)

/* A program or library file up to this size counts with all its bytes, even if some of its pages
 * are never read. The reason: the number of resident pages differs from one start of the same
 * program to the next. */
#define WHOLE_OBJECTS ((uint64_t)64 << 20)

static gbsi_cgroup_limits limits;
static uint64_t process_bytes;
static uint64_t free_bytes;

typedef struct loaded {
    uint64_t all; /* bytes of the program and all its libraries */
    uint64_t own; /* bytes of the program or library that contains this code */
} loaded;

#ifdef __linux__
static int add_object(struct dl_phdr_info *object, size_t size, void *context)
{
    loaded *sum = context;
    uint64_t bytes = 0;
    int own = 0;
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const uintptr_t first = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_LOAD) {
            bytes += object->dlpi_phdr[i].p_memsz;
            own |= (uintptr_t)&process_bytes - first < object->dlpi_phdr[i].p_memsz;
        }
    }
    sum->all += bytes;
    sum->own += own != 0 ? bytes : 0;
    return 0;
}

static loaded measure_objects(void)
{
    loaded sum = {0, 0};
    (void)dl_iterate_phdr(add_object, &sum);
    return sum;
}
#else /* other systems: only SMALL_BYTES is known of the program's memory */
static loaded measure_objects(void)
{
    return (loaded){0, 0};
}
#endif

/* Returns the number in a line such as "RssAnon: 1704 kB", in bytes, or 0 if the file has no
 * such line. */
static uint64_t read_kilobytes(const char *path, const char *key)
{
    char line[256];
    uint64_t bytes = 0;
    FILE *file = fopen(path, "re");
    while (file != NULL && bytes == 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            bytes = strtoull(line + strlen(key), NULL, 10) * 1024;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return bytes;
}

/* Returns a resident size rounded up to whole MiB, to give the same program the same figure
 * every time; 0 if the system does not report the size. */
static uint64_t resident(const char *key)
{
    return (read_kilobytes("/proc/self/status", key) + MIB - 1) / MIB * MIB;
}

uint64_t gbsi_free_read(const char *root)
{
    char path[PATH_SIZE];
    const int n = snprintf(path, sizeof path, "%s/proc/meminfo", root);
    const uint64_t bytes =
        n > 0 && (size_t)n < sizeof path ? read_kilobytes(path, "MemAvailable:") : 0;
    return bytes != 0 ? bytes : UINT64_MAX;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t physical_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
}

/* No one knows in advance which pages of the code will be used. The number of all pages is an upper
 * bound. For a large host program, which may have many unused libraries, the resident size is the
 * better estimate. */
static void measure(void)
{
    const loaded sum = measure_objects();
    limits = gbsi_cgroup_read("");
    uint64_t touched = sum.all;
    if (sum.all > WHOLE_OBJECTS) {
        const uint64_t mapped = resident("RssFile:");
        touched = mapped != 0 && mapped + sum.own < sum.all ? mapped + sum.own : sum.all;
    }
    process_bytes = touched + resident("RssAnon:");
    free_bytes = smaller(gbsi_free_read(""), smaller(limits.bytes, physical_bytes()));
}

static void measure_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, measure);
}

uint64_t gbsi_process_bytes(void)
{
    measure_once();
    return process_bytes;
}

uint64_t gbsi_program_bytes(void)
{
    return gbsi_process_bytes() + SMALL_BYTES;
}

uint64_t gbsi_machine_bytes(void)
{
    measure_once();
    return smaller(limits.bytes, physical_bytes());
}

void gbs_set_memory_limit(uint64_t bytes)
{
    atomic_store(&memory_limit, bytes);
}

uint64_t gbs_memory_limit(void)
{
    return gbsi_default_memory_limit();
}

uint64_t gbsi_default_memory_limit(void)
{
    const uint64_t set = atomic_load(&memory_limit);
    if (set != 0) {
        return set;
    }
    const uint64_t machine = gbsi_machine_bytes();
    return machine == UINT64_MAX ? machine : machine / 2;
}

uint64_t gbsi_auto_memory_limit(void)
{
    const uint64_t set = atomic_load(&memory_limit);
    uint64_t bytes = 1;
    measure_once();
    while (bytes <= free_bytes / 4) {
        bytes *= 2;
    }
    return set != 0 ? set : bytes;
}

uint64_t gbs_auto_memory_limit(void)
{
    return gbsi_auto_memory_limit();
}

uint32_t gbsi_quota_cores(void)
{
    measure_once();
    return limits.n_cores;
}
