/* SPDX-License-Identifier: Apache-2.0 */
/* Reads draws from text: from tables, with the library, and from files of CODA. An index of CODA
 * has lines "NAME FIRST LAST"; a chain has lines "ITERATION NUMBER". */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "draws_read.h"
#include "gibbsite/diagnose.h"
#include "src/core/base/plural.h"

/* A file, line by line. */
typedef struct text_file {
    cli_drawn *drawn; /* the draws; their memory limit also applies to the reader */
    const char *path;
    FILE *file;
    char *line; /* the line without its line end */
    size_t capacity;
    uint64_t number; /* number of the line, from 1 */
} text_file;

static int open_text(text_file *t, cli_drawn *d, const char *path)
{
    *t = (text_file){.drawn = d, .path = path};
    t->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (t->file == NULL) {
        return cli_error(CLI_INPUT, "%s: %s", path,
                         strerror(errno)); // NOLINT(concurrency-mt-unsafe)
    }
    return CLI_DONE;
}

static void close_text(text_file *t)
{
    if (t->file != NULL && t->file != stdin) {
        (void)fclose(t->file);
    }
    free(t->line);
    cli_drawn_give(t->drawn, t->capacity);
    *t = (text_file){0};
}

/* @return 1, or 0 after a message. */
static int grow_line(text_file *t)
{
    const size_t capacity = 2 * t->capacity + 256;
    char *line =
        cli_drawn_take(t->drawn, capacity - t->capacity) ? realloc(t->line, capacity) : NULL;
    if (line != NULL) {
        t->line = line;
        t->capacity = capacity;
    }
    return line != NULL;
}

/* Reads a line. A NUL byte is an error: otherwise reading /dev/zero would not end.
 * @return 1 if there is another line, 0 at the end, -1 after a message. */
static int next_line(text_file *t)
{
    size_t n = 0;
    int c = 0;
    t->number++;
    while ((c = getc_unlocked(t->file)) != EOF && c != '\n' && c != '\0') {
        if (n + 1 >= t->capacity && !grow_line(t)) {
            return -1;
        }
        t->line[n++] = (char)c;
    }
    if (c == '\0') {
        (void)cli_error(CLI_INPUT, "%s:%" PRIu64 ":%zu: found a byte of value 0, expected text",
                        t->path, t->number, n + 1);
        return -1;
    }
    if (ferror(t->file)) {
        (void)cli_error(CLI_INPUT, "%s: %s", t->path,
                        strerror(errno)); // NOLINT(concurrency-mt-unsafe): one thread
        return -1;
    }
    if ((c == EOF && n == 0) || (n == 0 && t->capacity == 0 && !grow_line(t))) {
        return c == EOF ? 0 : -1;
    }
    while (n > 0 && t->line[n - 1] == '\r') {
        n--;
    }
    t->line[n] = '\0';
    return 1;
}

static int refuse(const text_file *t, const char *at, const char *expected)
{
    return cli_error(CLI_INPUT, "%s:%" PRIu64 ":%zu: found %s%.20s%s, expected %s", t->path,
                     t->number, (size_t)(at - t->line) + 1, *at == '\0' ? "" : "'",
                     *at == '\0' ? "the end of the line" : at, *at == '\0' ? "" : "'", expected);
}

/* Reads a number, finite or not, that must be followed by one of the characters of `end`. @param at
 * moved behind the number. */
static int take_number(const text_file *t, char **at, const char *end, double *number)
{
    char *behind = NULL;
    *number = strtod(*at, &behind);
    if (behind == *at || (*behind != '\0' && strchr(end, *behind) == NULL)) {
        return refuse(t, *at, "a number");
    }
    *at = behind;
    return CLI_DONE;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static int is_stopped(void *context)
{
    (void)context;
    return cli_signals_caught();
}

int cli_drawn_read_csv(cli_drawn *d, const cli_arguments *arguments, char **path, size_t n_paths)
{
    gbs_error err = {GBS_OK, ""};
    gbs_draws *draws = NULL;
    const gbs_read_options options = {
        .size = sizeof options,
        .memory_limit = arguments->run.memory_limit,
        .warn = cli_tell,
        .context = (void *)(uintptr_t)arguments, /* the callback only reads the arguments */
        .stop = is_stopped};
    const gbs_status done =
        gbs_draws_read((const char *const *)path, n_paths, &options, &draws, &err);
    int status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    d->n_chains = gbs_draws_n_chains(draws);
    d->n_draws = gbs_draws_n_draws(draws);
    for (size_t i = 0; i < gbs_draws_n_quantities(draws) && status == CLI_DONE; i++) {
        double *value = cli_drawn_add(d, gbs_draws_name(draws, i));
        if (value == NULL) {
            status = CLI_FAILED;
        } else {
            memcpy(value, gbs_draws_values(draws, i), d->n_chains * d->n_draws * sizeof *value);
        }
    }
    gbs_draws_free(draws);
    return status;
}

/* ---- CODA ----------------------------------------------------------------------------------- */

/* Reads a line "NAME FIRST LAST": lines FIRST to LAST of each chain hold the draws of quantity
 * NAME. */
static int read_index_line(cli_drawn *d, text_file *t, uint64_t *lines)
{
    char *at = t->line + strcspn(t->line, " \t");
    char *const end = at;
    double range[2] = {0.0, 0.0};
    int status = at == t->line ? refuse(t, at, "NAME FIRST LAST") : CLI_DONE;
    for (int i = 0; i < 2 && status == CLI_DONE; i++) {
        status = take_number(t, &at, " \t", &range[i]);
    }
    if (status != CLI_DONE) {
        return status;
    }
    const double n = range[1] - range[0] + 1.0;
    if (!(range[0] == (double)*lines + 1.0) || !(n >= 1.0 && n <= 9e15) ||
        (d->n > 0 && n != (double)d->n_draws)) {
        return refuse(t, end, "lines that follow those before, as many as of the first name");
    }
    d->n_draws = (size_t)n;
    *lines += d->n_draws;
    *end = '\0';
    return CLI_DONE;
}

/* Reads an index. It is called twice; the first call has no chains and counts names and draws.
 * @param base beginning of the names of the files. */
static int read_index(cli_drawn *d, const char *path)
{
    text_file t;
    uint64_t lines = 0;
    int more = 1;
    int status = open_text(&t, d, path);
    while (status == CLI_DONE && (more = next_line(&t)) > 0) {
        if (t.line[0] == '\0') {
            continue;
        }
        status = read_index_line(d, &t, &lines);
        if (status == CLI_DONE && cli_drawn_add(d, t.line) == NULL) {
            status = CLI_FAILED;
        }
    }
    close_text(&t);
    if (status == CLI_DONE && more < 0) {
        return CLI_INPUT;
    }
    return status == CLI_DONE && d->n == 0
               ? cli_error(CLI_INPUT, "%s: found no name, expected lines NAME FIRST LAST", path)
               : status;
}

static int read_coda_chain(cli_drawn *d, const char *path, size_t c)
{
    text_file t;
    int more = 1;
    size_t k = 0;
    const size_t n = d->n * d->n_draws;
    int status = open_text(&t, d, path);
    for (; status == CLI_DONE && (more = next_line(&t)) > 0; k++) {
        char *at = t.line;
        double number[2];
        if (k == n) {
            status = refuse(&t, at, "the end of the file: its index names no more lines");
        }
        for (int i = 0; i < 2 && status == CLI_DONE; i++) {
            status = take_number(&t, &at, " \t", &number[i]);
        }
        if (status == CLI_DONE) {
            d->value[k / d->n_draws][c * d->n_draws + k % d->n_draws] = number[1];
        }
    }
    if (status == CLI_DONE && (more < 0 || k < n)) {
        status = more < 0
                     ? CLI_INPUT
                     : cli_error(CLI_INPUT, "%s: found %zu line%s, expected %zu as its index says",
                                 path, k, gbsi_plural(k), n);
    }
    close_text(&t);
    return status;
}

/* @return the path BASEchainK.txt, NULL if memory is short. */
static char *chain_path(const char *index, size_t k)
{
    const size_t base = strlen(index) - strlen("index.txt");
    const size_t size = base + 40;
    char *path = malloc(size);
    if (path != NULL) {
        (void)snprintf(path, size, "%.*schain%zu.txt", (int)base, index, k);
    }
    return path;
}

int cli_drawn_read_coda(cli_drawn *d, const char *index)
{
    FILE *there = NULL;
    char *path = NULL;
    do { /* counts the chains */
        free(path);
        path = chain_path(index, d->n_chains + 1);
        there = path == NULL ? NULL : fopen(path, "r");
        if (there != NULL) {
            (void)fclose(there);
            d->n_chains++;
        }
    } while (there != NULL);
    int status = path == NULL ? cli_error(CLI_FAILED, "out of memory")
                 : d->n_chains == 0
                     ? cli_error(CLI_INPUT, "%s: not found, expected the first chain", path)
                     : read_index(d, index);
    for (size_t c = 0; c < d->n_chains && status == CLI_DONE; c++) {
        free(path);
        path = chain_path(index, c + 1);
        status =
            path == NULL ? cli_error(CLI_FAILED, "out of memory") : read_coda_chain(d, path, c);
    }
    free(path);
    return status;
}
