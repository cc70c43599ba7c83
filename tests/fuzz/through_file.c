/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a model and reading it again thousands of times a second: through a pipe, which the
 * writer takes for what it is, no regular file, and writes straight into. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "store/model.h"

enum { PIPE_BYTES = 1 << 16, LEAST_PIPE_BYTES = 4096 };

typedef struct fuzz_pipe {
    int in;
    int out;
    size_t n_bytes; /* that fit without a reader */
    char path[32];
} fuzz_pipe;

static const fuzz_pipe *open_pipe(void)
{
    static fuzz_pipe p;
    if (p.n_bytes == 0) {
        int ends[2];
        FUZZ_REQUIRE(pipe(ends) == 0);
        p = (fuzz_pipe){.in = ends[0], .out = ends[1], .n_bytes = LEAST_PIPE_BYTES};
        FUZZ_REQUIRE(fcntl(p.in, F_SETFL, O_NONBLOCK) == 0);
#ifdef F_GETPIPE_SZ
        p.n_bytes = (size_t)fcntl(p.in, F_GETPIPE_SZ);
        p.n_bytes = p.n_bytes > PIPE_BYTES ? PIPE_BYTES : p.n_bytes;
#endif
        (void)snprintf(p.path, sizeof p.path, "/dev/fd/%d", p.out);
    }
    return &p;
}

static size_t longest_text(const gbs_model *m)
{
    size_t longest = 12; /* made from a number */
    for (uint32_t v = 0; v < m->n_variables; v++) {
        const char *name = gbs_model_variable_name(m, v);
        longest = name != NULL && strlen(name) > longest ? strlen(name) : longest;
        for (uint32_t a = 0; m->label != NULL && a < m->arity[v]; a++) {
            const char *label = gbs_model_state_label(m, v, a);
            longest = label != NULL && strlen(label) > longest ? strlen(label) : longest;
        }
    }
    return longest;
}

/* Whether no format needs more than n bytes: generous room for every entry of every table with the
 * names of the states it stands for, and for every variable and state. */
static bool is_small(const gbs_model *m, size_t n)
{
    enum { PER_FILE = 2048, PER_NUMBER = 32, PER_TAG = 64 };
    const size_t text = longest_text(m);
    const size_t states = m->state_offset[m->n_variables];
    if (text > n || states > n || m->factors.n_factors > n) {
        return false;
    }
    size_t total = PER_FILE + (states + m->n_variables) * (text + PER_TAG);
    for (size_t f = 0; f < m->factors.n_factors && total <= n; f++) {
        size_t n_scope = m->factors.scope_start[f + 1] - m->factors.scope_start[f];
        size_t entries = 1;
        for (size_t i = 0; i < n_scope && entries <= n; i++) {
            entries *= m->arity[m->factors.scope[m->factors.scope_start[f] + i]];
        }
        total += PER_TAG + n_scope * (text + PER_TAG) + entries * PER_NUMBER +
                 (n_scope == 0 ? 0 : entries * (n_scope - 1) * (text + 4));
    }
    return total <= n;
}

/* Reads the bytes that the writer left in the pipe into an allocation of their own. */
static size_t drain(const fuzz_pipe *p, char **bytes)
{
    static char buffer[PIPE_BYTES];
    size_t n = 0;
    for (;;) {
        ssize_t got = read(p->in, buffer + n, sizeof buffer - n);
        if (got <= 0) {
            FUZZ_REQUIRE(n == sizeof buffer || errno == EAGAIN);
            break;
        }
        n += (size_t)got;
    }
    *bytes = malloc(n == 0 ? 1 : n);
    FUZZ_REQUIRE(*bytes != NULL);
    memcpy(*bytes, buffer, n);
    return n;
}

gbs_model *fuzz_through_file(const gbs_model *model, const char *format,
                             const gbs_read_options *options)
{
    gbs_error err = {0};
    gbs_model *back = NULL;
    char *bytes = NULL;
    const fuzz_pipe *p = open_pipe();
    const gbs_write_options as = {
        .format = format, .convention = options->convention, .warn = fuzz_take_warning};
    if (!is_small(model, p->n_bytes)) {
        return NULL;
    }
    gbs_status status = gbs_model_write(model, p->path, &as, &err);
    size_t n = drain(p, &bytes);
    if (status < 0) {
        fuzz_check_failure(status, &err);
        FUZZ_REQUIRE(status != GBS_ERR_FORMAT && status != GBS_ERR_STATE);
    } else {
        gbs_read_options again = *options;
        again.format = format;
        status = gbs_model_read_memory("written", bytes, n, &again, &back, &err);
        if (status < 0) {
            (void)fprintf(stderr, "%s\n%.*s\n", err.message, (int)(n < 4096 ? n : 4096), bytes);
        }
        FUZZ_REQUIRE(status == GBS_OK);
    }
    free(bytes);
    return back;
}
