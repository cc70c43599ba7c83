/* SPDX-License-Identifier: Apache-2.0 */
/* Tests limits of control groups, read from folders that the tests make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/machine.h"
#include "gibbsite/io.h"

static char root[] = "/tmp/gibbsite-cgroup-XXXXXX";

/* Writes a file below `root`, and makes the folders that contain it. */
static void put(const char *path, const char *text)
{
    char full[512];
    (void)snprintf(full, sizeof full, "%s%s", root, path);
    for (char *c = full + strlen(root) + 1; *c != '\0'; c++) {
        if (*c == '/') {
            *c = '\0';
            (void)mkdir(full, 0700);
            *c = '/';
        }
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    (void)state;
    (void)strcpy(root + sizeof root - 7, "XXXXXX");
    return mkdtemp(root) == NULL;
}

static int end(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command); // NOLINT(cert-env33-c): a folder of our own
}

static void nothing_there(void **state)
{
    (void)state;
    const gbsi_cgroup_limits limits = gbsi_cgroup_read(root);
    assert_true(limits.bytes == UINT64_MAX && limits.n_cores == UINT32_MAX);
}

static void version_2(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/user/one/deep\n");
    put("/sys/fs/cgroup/user/one/deep/memory.max", "max\n");
    put("/sys/fs/cgroup/user/one/deep/cpu.max", "max 100000\n");
    gbsi_cgroup_limits limits = gbsi_cgroup_read(root);
    assert_true(limits.bytes == UINT64_MAX && limits.n_cores == UINT32_MAX);
    put("/sys/fs/cgroup/user/memory.max", "1073741824\n"); /* a group above the process's group */
    put("/sys/fs/cgroup/user/one/cpu.max", "250000 100000\n");
    limits = gbsi_cgroup_read(root);
    assert_int_equal(limits.bytes, 1u << 30);
    assert_int_equal(limits.n_cores, 3);
    put("/sys/fs/cgroup/user/one/deep/memory.max", "536870912\n");
    assert_int_equal(gbsi_cgroup_read(root).bytes, 1u << 29);
}

static void version_1(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "12:pids:/x\n4:memory:/host/path\n3:cpu,cpuacct:/host/path\n0::/\n");
    /* this controller does not limit memory */
    put("/sys/fs/cgroup/pids/memory.limit_in_bytes", "5\n");
    put("/sys/fs/cgroup/memory/host/path/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/cpu,cpuacct/host/path/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/host/path/cpu.cfs_period_us", "100000\n");
    gbsi_cgroup_limits limits = gbsi_cgroup_read(root);
    assert_true(limits.bytes == UINT64_C(9223372036854771712));
    assert_true(limits.n_cores == UINT32_MAX);
    put("/sys/fs/cgroup/memory/host/memory.limit_in_bytes", "300000000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/host/path/cpu.cfs_quota_us", "50000\n");
    limits = gbsi_cgroup_read(root);
    assert_int_equal(limits.bytes, 300000000);
    assert_int_equal(limits.n_cores, 1);
}

/* A container that sees the path of its host, and whose own group is the top of the mount. */
static void path_of_the_host(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "7:memory:/docker/0123\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "400000000\n");
    assert_int_equal(gbsi_cgroup_read(root).bytes, 400000000);
}

static void available(void **state)
{
    (void)state;
    assert_true(gbsi_free_read(root) == UINT64_MAX);
    put("/proc/meminfo", "MemTotal:  800 kB\nMemFree: 1 kB\nMemAvailable:    300 kB\n");
    assert_int_equal(gbsi_free_read(root), 300 * 1024);
}

/* The limit is a power of two, at most half of the machine's memory. */
static void auto_limit(void **state)
{
    (void)state;
    const uint64_t bytes = gbsi_auto_memory_limit();
    assert_true(bytes > 0 && (bytes & (bytes - 1)) == 0);
    assert_true(bytes <= gbsi_machine_bytes() / 2);
    assert_int_equal(gbs_auto_memory_limit(), bytes);
    gbs_set_memory_limit(12345);
    assert_int_equal(gbs_auto_memory_limit(), 12345);
    gbs_set_memory_limit(0);
    assert_int_equal(gbs_auto_memory_limit(), bytes);
}

static void half_by_default(void **state)
{
    (void)state;
    assert_true(gbsi_machine_bytes() > 0);
    assert_true(gbsi_default_memory_limit() == UINT64_MAX ||
                gbsi_default_memory_limit() == gbsi_machine_bytes() / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_there, begin, end),
        cmocka_unit_test_setup_teardown(version_2, begin, end),
        cmocka_unit_test_setup_teardown(version_1, begin, end),
        cmocka_unit_test_setup_teardown(path_of_the_host, begin, end),
        cmocka_unit_test_setup_teardown(available, begin, end),
        cmocka_unit_test(auto_limit),
        cmocka_unit_test(half_by_default)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
