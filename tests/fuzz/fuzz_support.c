/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

void fuzz_broken(const char *file, int line, const char *condition)
{
    (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    abort();
}

/* A file without a name, in memory where the system has such. */
static int open_nameless(void)
{
#ifdef MFD_CLOEXEC
    return memfd_create("gibbsite-fuzz", MFD_CLOEXEC);
#else
    FILE *file = tmpfile();
    return file == NULL ? -1 : fileno(file);
#endif
}

const char *fuzz_file(const void *data, size_t size)
{
    static int fd = -1;
    static char path[32];
    if (fd < 0) {
        fd = open_nameless();
        FUZZ_REQUIRE(fd >= 0);
        (void)snprintf(path, sizeof path, "/dev/fd/%d", fd);
    }
    FUZZ_REQUIRE(ftruncate(fd, 0) == 0);
    FUZZ_REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
    FUZZ_REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
    return path;
}

static void check_message(const char *message)
{
    FUZZ_REQUIRE(message[0] != 0);
    for (const char *c = message; *c != 0; c++) {
        FUZZ_REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
}

void fuzz_check_failure(gbs_status status, const gbs_error *err)
{
    FUZZ_REQUIRE(status < 0 && status != GBS_ERR_MEMORY && status != GBS_ERR_IO);
    FUZZ_REQUIRE(err->status == status);
    FUZZ_REQUIRE(memchr(err->message, 0, sizeof err->message) != NULL);
    check_message(err->message);
}

void fuzz_check_refusal(const char *name, gbs_status status, const gbs_error *err)
{
    size_t n = strlen(name);
    fuzz_check_failure(status, err);
    if (status != GBS_ERR_IMPOSSIBLE) { /* that is said of the evidence as a whole */
        FUZZ_REQUIRE(strncmp(err->message, name, n) == 0);
        FUZZ_REQUIRE(strchr(":/(", err->message[n]) != NULL); /* of a folder, of an archive */
    }
}

void fuzz_take_warning(void *context, const char *message)
{
    (void)context;
    check_message(message);
}

uint32_t fuzz_choose(const uint8_t *data, size_t size, uint32_t n)
{
    uint32_t hash = 2166136261u; /* FNV-1a, Fowler, Noll and Vo */
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * 16777619u;
    }
    return (hash ^ hash >> 16) % n;
}

const gbs_model *fuzz_small_model(void)
{
    static const char text[] = "MARKOV 5 2 3 4 1 2 2 2 0 1 1 4 6 1 2 3 4 5 6 2 1 0";
    static gbs_model *model; /* lives as long as the program */
    if (model == NULL) {
        const gbs_read_options options = {.format = "uai"};
        FUZZ_REQUIRE(gbs_model_read_memory("small", text, sizeof text - 1, &options, &model,
                                           NULL) == GBS_OK);
    }
    return model;
}
