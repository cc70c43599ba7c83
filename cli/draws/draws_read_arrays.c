/* SPDX-License-Identifier: Apache-2.0 */
/* Reads draws from arrays [chains][draws]... in .npz and .npy files of NumPy. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "draws_read.h"
#include "src/files/arrays/arrays.h"

/* Names an element: x[3], or x[0,2] of an array of more dimensions, or x[rain]. @return the name,
 * which the caller frees; NULL: out of memory. */
static char *element_name(const char *name, const uint64_t *shape, unsigned n_dims,
                          char *const *const *label, uint64_t element)
{
    uint64_t index[GBSI_ARRAY_MAX_DIMS] = {0};
    size_t size = strlen(name) + 2;
    for (unsigned k = n_dims; k-- > 2;) {
        index[k] = element % shape[k];
        element /= shape[k];
        size += label != NULL && label[k] != NULL ? strlen(label[k][index[k]]) + 1 : 21;
    }
    char *text = malloc(size);
    size_t n = text == NULL ? 0 : (size_t)snprintf(text, size, "%s", name);
    for (unsigned k = 2; text != NULL && k < n_dims; k++) {
        const char *between = k == 2 ? "[" : ",";
        n += label != NULL && label[k] != NULL
                 ? (size_t)snprintf(text + n, size - n, "%s%s", between, label[k][index[k]])
                 : (size_t)snprintf(text + n, size - n, "%s%" PRIu64, between, index[k]);
    }
    if (text != NULL && n_dims > 2) {
        (void)snprintf(text + n, size - n, "]");
    }
    return text;
}

int cli_drawn_add_array(cli_drawn *d, const char *name, const uint64_t *shape, unsigned n_dims,
                        char *const *const *label, double (*at)(const void *data, size_t i),
                        const void *data)
{
    uint64_t n = 1;
    for (unsigned k = 2; k < n_dims; k++) {
        n *= shape[k];
    }
    for (uint64_t element = 0; element < n; element++) {
        char *text = element_name(name, shape, n_dims, label, element);
        CLI_PASS(CLI_HAVE(text));
        const int legal = gbsi_is_utf8(text);
        double *value = legal ? cli_drawn_add(d, text) : NULL;
        free(text);
        if (value == NULL) {
            return legal ? CLI_FAILED
                         : cli_error(CLI_INPUT, "%s: found a name that is not UTF-8", d->path);
        }
        for (size_t i = 0; i < d->n_chains * d->n_draws; i++) {
            value[i] = at(data, i * n + element);
        }
        if (cli_signals_caught()) {
            return cli_error(CLI_STOPPED, "stopped while reading %s", name);
        }
    }
    return CLI_DONE;
}

/* ---- NumPy ---------------------------------------------------------------------------------- */

/* The names of variables in the member meta that gibbsite writes: "names": ["a", "b", ...]. */
typedef struct names {
    char *text;  /* text of the file's metadata, which contains the names */
    char **name; /* [n] pointers into text */
    size_t n;
} names;

static void drop_names(names *m)
{
    free(m->text);
    free(m->name);
    *m = (names){0};
}

/* Removes the quotes and escapes of a JSON string in place; \" and \\ become the character after
 * the backslash.
 * @param at the opening quote of the string. @return the position behind the closing quote, NULL if
 * the string is not closed. */
static char *cut_string(char *at, char **string)
{
    char *to = at + 1;
    *string = to;
    for (at++; *at != '\0' && *at != '"'; at++) {
        at += *at == '\\' && (at[1] == '"' || at[1] == '\\') ? 1 : 0;
        *to++ = *at;
    }
    if (*at != '"') {
        return NULL;
    }
    *to = '\0';
    return at + 1;
}

/* @return an exit status, after a message if it is not CLI_DONE; a text without names gives no
 *         names. */
static int find_names(cli_drawn *d, const gbsi_array *meta, names *m)
{
    const size_t n = (size_t)gbsi_array_size(meta);
    const size_t most = n / 2 + 1; /* a name takes two quotes at least */
    if (!cli_drawn_take(d, n + most * sizeof *m->name)) {
        return CLI_FAILED;
    }
    m->text = malloc(n + 1);
    m->name = calloc(most, sizeof *m->name);
    CLI_PASS(CLI_HAVE(m->text, m->name));
    memcpy(m->text, meta->data, n);
    m->text[n] = '\0';
    char *at = strstr(m->text, "\"names\": [");
    at = at == NULL ? NULL : strchr(at, '[') + 1;
    while (at != NULL && *at == '"') {
        at = cut_string(at, &m->name[m->n]);
        if (at != NULL) {
            m->n++;
            at += strspn(at, ", ");
        }
    }
    return CLI_DONE;
}

static double at_array(const void *data, size_t i)
{
    return gbsi_array_value(data, i);
}

/* Takes an array as draws. The first array of two dimensions or more sets the numbers of chains
 * and draws; arrays of another shape are not draws. */
static int take(cli_drawn *d, const char *name, const gbsi_array *array, const names *known)
{
    if (array->n_dims < 2 ||
        (d->n > 0 && (array->shape[0] != d->n_chains || array->shape[1] != d->n_draws))) {
        return CLI_DONE;
    }
    if (gbsi_array_size(array) == 0) {
        return CLI_DONE;
    }
    d->n_chains = (size_t)array->shape[0];
    d->n_draws = (size_t)array->shape[1];
    const size_t first = d->n;
    const int status =
        cli_drawn_add_array(d, name, array->shape, array->n_dims, NULL, at_array, array);
    for (size_t i = 0;
         status == CLI_DONE && array->n_dims == 3 && d->n - first == known->n && i < known->n;
         i++) {
        char *copy = strdup(known->name[i]);
        CLI_PASS(CLI_HAVE(copy));
        free(d->name[first + i]);
        d->name[first + i] = copy;
    }
    return status;
}

/* Takes an array as draws, and counts the memory of the array while array and draws both exist. */
static int take_counted(cli_drawn *d, const char *name, const gbsi_array *array, const names *known)
{
    const uint64_t bytes = (uint64_t)gbsi_array_size(array) * gbsi_array_type_bytes(array->type);
    if (!cli_drawn_take(d, bytes)) {
        return CLI_FAILED;
    }
    const int status = take(d, name, array, known);
    cli_drawn_give(d, bytes);
    return status;
}

static int take_member(cli_drawn *d, gbsi_npz *npz, size_t member, const names *known)
{
    gbs_error err = {GBS_OK, ""};
    gbsi_array array = {0};
    const char *name = gbsi_npz_name(npz, member);
    const gbs_status done = gbsi_npz_read(npz, name, &array, &err);
    if (done == GBS_ERR_UNSUPPORTED) { /* arrays of other types, such as text, are not draws */
        return CLI_DONE;
    }
    int status = done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
    if (status == CLI_DONE) {
        status = take_counted(d, name, &array, known);
    }
    gbsi_array_free(&array);
    return status;
}

/* Reads the names from the first member "meta", which archives of other programs lack.
 * @return an exit status after a message. */
static int read_names(cli_drawn *d, gbsi_npz *npz, names *known)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < gbsi_npz_n_members(npz) && status == CLI_DONE && known->text == NULL;
         i++) {
        gbsi_array meta = {0};
        if (strcmp(gbsi_npz_name(npz, i), "meta") == 0 &&
            gbsi_npz_read(npz, "meta", &meta, NULL) >= 0 && meta.type == GBSI_ARRAY_U1) {
            status = find_names(d, &meta, known);
        }
        gbsi_array_free(&meta);
    }
    return status;
}

int cli_drawn_read_numpy(cli_drawn *d, const char *path, int archive)
{
    gbs_error err = {GBS_OK, ""};
    gbsi_npz *npz = NULL;
    gbsi_array array = {0};
    struct stat info;
    if (archive && stat(path, &info) == 0 && !cli_drawn_take(d, (uint64_t)info.st_size)) {
        return CLI_FAILED; /* the text must stay in memory until the last array is read */
    }
    gbs_status done = archive ? gbsi_npz_open(path, &npz, &err) : gbsi_npy_read(path, &array, &err);
    names known = {0};
    int status = done < 0 ? cli_fail_input(done, &err) : read_names(d, npz, &known);
    for (size_t i = 0; status == CLI_DONE && i < gbsi_npz_n_members(npz); i++) {
        status = take_member(d, npz, i, &known);
    }
    if (status == CLI_DONE && !archive) {
        status = take_counted(d, "x", &array, &known);
    }
    drop_names(&known);
    gbsi_npz_close(npz);
    gbsi_array_free(&array);
    return status == CLI_DONE && d->n == 0
               ? cli_error(CLI_INPUT, "%s: found no draws, expected an array [chains, draws, ...]",
                           path)
               : status;
}
