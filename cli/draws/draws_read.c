/* SPDX-License-Identifier: Apache-2.0 */
#include "draws_read.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void cli_drawn_free(cli_drawn *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->name[i]);
        free(d->value[i]);
    }
    free(d->name);
    free(d->value);
    if (d->limit > 0) {
        gbs_set_memory_limit(d->limit);
    }
    memset(d, 0, sizeof *d);
}

static void share_rest(const cli_drawn *d)
{
    gbs_set_memory_limit(d->limit > d->taken ? d->limit - d->taken : 1);
}

int cli_drawn_take(cli_drawn *d, uint64_t bytes)
{
    if (d->limit == 0) {
        return 1;
    }
    if (bytes > d->limit - d->taken) {
        return !cli_error(CLI_FAILED,
                          "%s: reading it would take more than the memory limit of %" PRIu64
                          " MB: try a larger --memory-limit",
                          d->path, d->limit >> 20);
    }
    d->taken += bytes;
    share_rest(d);
    return 1;
}

void cli_drawn_give(cli_drawn *d, uint64_t bytes)
{
    if (d->limit > 0) {
        d->taken -= bytes;
        share_rest(d);
    }
}

/* Doubles the capacity of the lists of names and values. */
static int grow(cli_drawn *d)
{
    const size_t capacity = 2 * d->capacity + 16;
    char **name = realloc(d->name, capacity * sizeof *name);
    if (name == NULL) {
        return 0;
    }
    d->name = name;
    double **value = realloc(d->value, capacity * sizeof *value);
    if (value == NULL) {
        return 0;
    }
    d->value = value;
    d->capacity = capacity;
    return 1;
}

double *cli_drawn_add(cli_drawn *d, const char *name)
{
    double *value = NULL;
    if (d->n_draws > UINT64_MAX / sizeof *value / 2 / (d->n_chains + 1) ||
        !cli_drawn_take(d, d->n_chains * d->n_draws * sizeof *value + strlen(name) +
                               2 * (sizeof *d->name + sizeof *d->value))) {
        return NULL;
    }
    if (d->n < d->capacity || grow(d)) {
        value = malloc(d->n_chains * d->n_draws * sizeof *value);
        char *copy = value == NULL ? NULL : strdup(name);
        if (copy == NULL) {
            free(value);
            value = NULL;
        } else {
            d->name[d->n] = copy;
            d->value[d->n++] = value;
        }
    }
    if (value == NULL) {
        (void)cli_error(CLI_FAILED, "out of memory");
    }
    return value;
}

int cli_ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path);
    return n >= strlen(end) && strcmp(path + n - strlen(end), end) == 0;
}

int cli_drawn_read(cli_drawn *d, const cli_arguments *arguments, char **path, int n_paths)
{
    static const char *const whole[] = {".npz", ".npy", ".nc", "index.txt"};
    d->path = path[0];
    d->limit = gbs_memory_limit();
    for (int i = 0; i < n_paths; i++) {
        for (size_t k = 0; k < sizeof whole / sizeof whole[0]; k++) {
            if (!cli_ends_in(path[i], whole[k])) {
                continue;
            }
            if (n_paths > 1) {
                return cli_error(CLI_USAGE,
                                 "%s holds all of its chains: expected no file beside it", path[i]);
            }
            return k < 2    ? cli_drawn_read_numpy(d, path[0], k == 0)
                   : k == 2 ? cli_drawn_read_netcdf(d, path[0])
                            : cli_drawn_read_coda(d, path[0]);
        }
    }
    return cli_drawn_read_csv(d, arguments, path, (size_t)n_paths);
}
