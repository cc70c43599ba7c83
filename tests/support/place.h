/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_TESTS_PLACE_H
#define GBSI_TESTS_PLACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A folder of its own for a checkpoint; files are synced, which takes long on a disk. */
typedef struct test_place {
    char folder[40], path[64];
} test_place;

static inline test_place test_take_place(void)
{
    test_place at = {.folder = "/dev/shm/gibbsite-test-XXXXXX"};
    if (mkdtemp(at.folder) == NULL) {
        (void)snprintf(at.folder, sizeof at.folder, "/tmp/gibbsite-test-XXXXXX");
        assert_non_null(mkdtemp(at.folder));
    }
    (void)snprintf(at.path, sizeof at.path, "%s/run.ckpt", at.folder);
    return at;
}

static inline void test_leave_place(const test_place *at)
{
    static const char *const ending[] = {"", "~", ".draws", ".draws~"};
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; ++i) {
        char path[80];
        (void)snprintf(path, sizeof path, "%s%s", at->path, ending[i]);
        (void)unlink(path);
    }
    (void)rmdir(at->folder);
}

#endif
