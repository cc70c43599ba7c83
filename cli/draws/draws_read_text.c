/* SPDX-License-Identifier: Apache-2.0 */
/* CSV as CmdStan writes it: lines that begin with '#', a line of names, a line of numbers a draw.
 * CODA: lines "NAME FIRST LAST" of an index, lines "ITERATION NUMBER" of a chain. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "draws_read.h"

/* A file, line by line. */
typedef struct text_file {
    cli_drawn *drawn; /* whose memory limit it has */
    const char *path;
    FILE *file;
    char *line; /* without its end */
    size_t capacity;
    uint64_t number; /* of the line, from 1 */
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

/* @return 0 after a message. */
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

/* A line ends where no text may go on: in /dev/zero, there is no other end.
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

/* A number, finite or not, which `end` characters may follow. @param at moved behind it. */
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

/* The draws of one chain as they are read. */
typedef struct chain {
    char **name; /* [n_columns] */
    size_t n_columns, n_draws, capacity;
    double *row;                           /* [n_draws][n_columns] */
    uint64_t n_warmup, thin, warmup_saved; /* what CmdStan says of itself */
} chain;

static void drop_chain(cli_drawn *d, chain *c)
{
    cli_drawn_give(d, c->capacity * c->n_columns * sizeof *c->row);
    for (size_t i = 0; i < c->n_columns; i++) {
        free(c->name[i]);
    }
    free(c->name);
    free(c->row);
    *c = (chain){0};
}

/* "#   num_warmup = 1000 (Default)" */
static void read_comment(const char *line, chain *c)
{
    const struct {
        const char *word;
        uint64_t *value;
    } known[] = {
        {"num_warmup", &c->n_warmup}, {"thin", &c->thin}, {"save_warmup", &c->warmup_saved}};
    const char *at = line + strspn(line, "# \t");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const size_t n = strlen(known[i].word);
        const char *value = at + n + strspn(at + (strlen(at) < n ? strlen(at) : n), " =");
        if (strncmp(at, known[i].word, n) == 0 && (at[n] == ' ' || at[n] == '=')) {
            *known[i].value = strncmp(value, "true", 4) == 0 ? 1 : strtoull(value, NULL, 10);
        }
    }
}

/* A field of the line of names, without quotes. */
static int add_name(chain *c, const char *begin, size_t n)
{
    if (n >= 2 && begin[0] == '"' && begin[n - 1] == '"') {
        begin++;
        n -= 2;
    }
    char **name = realloc(c->name, (c->n_columns + 1) * sizeof *name);
    if (name == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    c->name = name;
    name[c->n_columns] = strndup(begin, n);
    if (name[c->n_columns] == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    c->n_columns++;
    return CLI_DONE;
}

static int read_names(const text_file *t, chain *c)
{
    int status = CLI_DONE;
    for (const char *at = t->line;; at++) {
        const size_t n = strcspn(at, ",");
        char *behind = NULL;
        (void)strtod(at, &behind);
        if (n == 0 || behind == at + n) {
            return refuse(t, at, "the name of a quantity: the first line names the columns");
        }
        status = add_name(c, at, n);
        at += n;
        if (status != CLI_DONE || *at == '\0') {
            return status;
        }
    }
}

static int read_row(const text_file *t, chain *c)
{
    if (c->n_draws == c->capacity) {
        const size_t capacity = 2 * c->capacity + 64;
        const size_t line = c->n_columns * sizeof(double);
        if (!cli_drawn_take(t->drawn, (capacity - c->capacity) * line)) {
            return CLI_FAILED;
        }
        double *row = realloc(c->row, capacity * line);
        if (row == NULL) {
            return cli_error(CLI_FAILED, "out of memory");
        }
        c->row = row;
        c->capacity = capacity;
    }
    char *at = t->line;
    for (size_t i = 0; i < c->n_columns; i++) {
        const int last = i + 1 == c->n_columns;
        const int status =
            take_number(t, &at, last ? "" : ",", &c->row[c->n_draws * c->n_columns + i]);
        if (status != CLI_DONE) {
            return status;
        }
        if (!last && *at != ',') {
            return refuse(t, at, "a comma: there are more names than numbers");
        }
        at += last ? 0 : 1;
    }
    c->n_draws++;
    return CLI_DONE;
}

static int read_chain(cli_drawn *d, const char *path, chain *c)
{
    text_file t;
    int more = 1;
    int status = open_text(&t, d, path);
    while (status == CLI_DONE && (more = next_line(&t)) > 0) {
        if (t.line[0] == '#') {
            read_comment(t.line, c);
        } else if (t.line[0] != '\0') {
            status = c->n_columns == 0 ? read_names(&t, c) : read_row(&t, c);
        }
        if (cli_signals_caught()) {
            status = cli_error(CLI_STOPPED, "stopped while reading %s", path);
        }
    }
    if (status == CLI_DONE && more < 0) {
        status = CLI_INPUT;
    }
    close_text(&t);
    if (status == CLI_DONE && c->n_draws == 0) {
        status = cli_error(
            CLI_INPUT, "%s: found no draw, expected a line of names and lines of numbers", path);
    }
    if (status == CLI_DONE && c->warmup_saved > 0) { /* they are not from the distribution yet */
        const uint64_t n = c->n_warmup / (c->thin > 1 ? c->thin : 1);
        if (n >= c->n_draws) {
            return cli_error(CLI_INPUT, "%s: found %zu draws, of which %" PRIu64 " are warm-up",
                             path, c->n_draws, n);
        }
        c->n_draws -= (size_t)n;
        memmove(c->row, c->row + (size_t)n * c->n_columns,
                c->n_draws * c->n_columns * sizeof *c->row);
    }
    return status;
}

/* What a sampler notes about itself is not drawn: names that end in "__", but for the log density.
 */
static int is_quantity(const char *name)
{
    const size_t n = strlen(name);
    return n < 2 || strcmp(name + n - 2, "__") != 0 || strcmp(name, "lp__") == 0;
}

static int same_chain(const char *path, const chain *c, const char *first_path, const chain *first)
{
    int same = c->n_columns == first->n_columns;
    for (size_t i = 0; i < first->n_columns && same; i++) {
        same = strcmp(c->name[i], first->name[i]) == 0;
    }
    if (!same) {
        return cli_error(CLI_INPUT, "%s: found other columns than in %s", path, first_path);
    }
    if (c->n_draws != first->n_draws) {
        return cli_error(CLI_INPUT, "%s: found %zu draws, expected %zu as in %s", path, c->n_draws,
                         first->n_draws, first_path);
    }
    return CLI_DONE;
}

static int gather(cli_drawn *d, const chain *chains)
{
    const chain *first = &chains[0];
    d->n_draws = first->n_draws;
    for (size_t i = 0; i < first->n_columns; i++) {
        double *value = is_quantity(first->name[i]) ? cli_drawn_add(d, first->name[i]) : NULL;
        if (value == NULL && is_quantity(first->name[i])) {
            return CLI_FAILED;
        }
        for (size_t c = 0; c < d->n_chains && value != NULL; c++) {
            for (size_t k = 0; k < d->n_draws; k++) {
                value[c * d->n_draws + k] = chains[c].row[k * first->n_columns + i];
            }
        }
    }
    return CLI_DONE;
}

int cli_drawn_read_csv(cli_drawn *d, char **path, size_t n_paths)
{
    chain *chains = calloc(n_paths, sizeof *chains);
    int status = chains == NULL ? cli_error(CLI_FAILED, "out of memory") : CLI_DONE;
    d->n_chains = n_paths;
    for (size_t c = 0; c < n_paths && status == CLI_DONE; c++) {
        status = read_chain(d, path[c], &chains[c]);
        if (status == CLI_DONE && c > 0) {
            status = same_chain(path[c], &chains[c], path[0], &chains[0]);
        }
    }
    if (status == CLI_DONE) {
        status = gather(d, chains);
    }
    for (size_t c = 0; c < n_paths && chains != NULL; c++) {
        drop_chain(d, &chains[c]);
    }
    free(chains);
    return status;
}

/* ---- CODA ----------------------------------------------------------------------------------- */

/* A line "NAME FIRST LAST": lines FIRST to LAST of each chain are of that quantity. */
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

/* Twice: first without chains, to count names and draws. @param base of the names of files. */
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
                     : cli_error(CLI_INPUT, "%s: found %zu lines, expected %zu as its index says",
                                 path, k, n);
    }
    close_text(&t);
    return status;
}

/* BASEchainK.txt. @return NULL if memory is short. */
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
    do { /* how many chains there are */
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
