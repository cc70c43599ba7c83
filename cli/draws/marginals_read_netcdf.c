/* SPDX-License-Identifier: Apache-2.0 */
/* Reads marginals from the group posterior_summary of a NetCDF file, and the numbers of states and
 * their labels from constant_data. marginals_netcdf.c writes such files. */
#include <math.h>
#include <stdlib.h>

#include "draws_read.h"
#include "netcdf_read.h"
#include "src/files/answers/answers.h"

typedef struct table {
    gbs_result *result; /* out */
    cli_drawn memory;   /* only counts the memory */
    int summary, constants;
    int dim[CLI_NETCDF_DIMS];
    size_t n, n_states; /* numbers of variables, and of states of the variable with most states */
    double *number;     /* [3][n][n_states] one block: probabilities, errors, scratch */
    uint64_t *id;       /* [n] */
    size_t *offset;     /* [n + 1] */
    char **name;        /* [n] or NULL */
    char **text;        /* [n][n_states] labels, "" if there is none; or NULL */
    char **label;       /* [n][n_states] labels of all states, or NULL */
} table;

static int refuse(const cli_netcdf_reader *r, const char *what)
{
    int draws = 0;
    const int has_draws = r->library.inq_grp_ncid(r->file, "posterior", &draws) == NC_NOERR;
    return cli_error(CLI_INPUT,
                     "%s: found %s%s, expected marginals, which gibbsite marginals writes%s",
                     r->path, has_draws ? "draws" : "no ", has_draws ? "" : what,
                     has_draws ? "; gibbsite diagnose reads draws" : "");
}

/* Finds the groups, and the numbers of variables and states. */
static int find_shape(const cli_netcdf_reader *r, table *t)
{
    int id = 0;
    unsigned n_dims = 0;
    uint64_t shape[CLI_NETCDF_DIMS] = {0};
    size_t n = 0;
    if (r->library.inq_grp_ncid(r->file, "posterior_summary", &t->summary) != NC_NOERR) {
        return refuse(r, "group posterior_summary");
    }
    if (r->library.inq_grp_ncid(r->file, "constant_data", &t->constants) != NC_NOERR) {
        return refuse(r, "group constant_data");
    }
    if (r->library.inq_varid(t->summary, "marginal", &id) != NC_NOERR) {
        return refuse(r, "variable marginal");
    }
    CLI_PASS(cli_netcdf_shape(r, t->summary, id, &n_dims, t->dim, shape, &n));
    t->n = (size_t)shape[0];
    t->n_states = (size_t)shape[1];
    return n_dims == 2 && n > 0 && t->n <= GBS_MAX_VARIABLES
               ? CLI_DONE
               : refuse(r, "variable marginal with the dimensions variable and state");
}

static int allocate(table *t)
{
    const size_t n = t->n * t->n_states;
    if (n > SIZE_MAX / 64 || !cli_drawn_take(&t->memory, 6 * n * sizeof(double))) {
        return CLI_FAILED;
    }
    t->number = calloc(3 * n, sizeof *t->number);
    t->id = calloc(t->n, sizeof *t->id);
    t->offset = calloc(t->n + 1, sizeof *t->offset);
    return t->number != NULL && t->id != NULL && t->offset != NULL
               ? CLI_DONE
               : cli_error(CLI_FAILED, "out of memory");
}

/* Reads all numbers of a variable of the file, after a check of its shape.
 * @param n_states number of its columns; 0 if it has no dimension of states. */
static int read_numbers(const cli_netcdf_reader *r, const table *t, int group, const char *name,
                        size_t n_states, double *to)
{
    int id = 0;
    int n_dims = 0;
    int dim[CLI_NETCDF_DIMS] = {0};
    size_t length[2] = {0, 0};
    if (r->library.inq_varid(group, name, &id) != NC_NOERR ||
        r->library.inq_varndims(group, id, &n_dims) != NC_NOERR ||
        n_dims != (n_states > 0 ? 2 : 1) || r->library.inq_vardimid(group, id, dim) != NC_NOERR ||
        r->library.inq_dimlen(group, dim[0], &length[0]) != NC_NOERR || length[0] != t->n ||
        (n_states > 0 &&
         (r->library.inq_dimlen(group, dim[1], &length[1]) != NC_NOERR || length[1] != n_states))) {
        return cli_error(CLI_INPUT,
                         "%s: found no variable %s of the size of marginal, expected marginals, "
                         "which gibbsite marginals writes",
                         r->path, name);
    }
    return cli_netcdf_checked(r, r->library.get_var_double(group, id, to));
}

/* Reads names, or numbers in their place, and the numbers of states. */
static int read_variables(const cli_netcdf_reader *r, table *t)
{
    double *number = t->number + 2 * t->n * t->n_states;
    t->name = cli_netcdf_labels(r, t->summary, t->dim[0], t->n);
    if (t->name == NULL) {
        CLI_PASS(read_numbers(r, t, t->summary, "variable", 0, number));
    }
    for (size_t i = 0; i < t->n; i++) {
        t->id[i] = number[i] >= 0.0 && number[i] < UINT32_MAX ? (uint64_t)number[i] : 0;
    }
    CLI_PASS(read_numbers(r, t, t->constants, "card", 0, number));
    for (size_t i = 0; i < t->n; i++) {
        if (!(number[i] >= 1.0 && number[i] <= (double)t->n_states)) {
            return cli_error(CLI_INPUT, "%s: found %g states of variable %zu, expected 1 to %zu",
                             r->path, number[i], i, t->n_states);
        }
        t->offset[i + 1] = t->offset[i] + (size_t)number[i];
    }
    return CLI_DONE;
}

/* Reads the labels of states, if the file has labels. */
static int read_labels(const cli_netcdf_reader *r, table *t)
{
    const cli_netcdf_library *nc = &r->library;
    int id = 0;
    int type = 0;
    int dim[CLI_NETCDF_DIMS] = {0};
    unsigned n_dims = 0;
    uint64_t shape[CLI_NETCDF_DIMS] = {0};
    size_t n = 0;
    if (nc->inq_varid(t->constants, "label", &id) != NC_NOERR) {
        return CLI_DONE;
    }
    CLI_PASS(cli_netcdf_checked(r, nc->inq_vartype(t->constants, id, &type)));
    CLI_PASS(cli_netcdf_shape(r, t->constants, id, &n_dims, dim, shape, &n));
    if (type != NC_STRING || n_dims != 2 || shape[0] != t->n || shape[1] != t->n_states) {
        return cli_error(CLI_INPUT, "%s: found labels that do not fit the variables", r->path);
    }
    t->text = calloc(n, sizeof *t->text);
    t->label = calloc(n, sizeof *t->label);
    CLI_PASS(CLI_HAVE(t->text));
    CLI_PASS(CLI_HAVE(t->label));
    CLI_PASS(cli_netcdf_checked(r, nc->get_var_string(t->constants, id, t->text)));
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = t->offset[i]; k < t->offset[i + 1]; k++) {
            char *text = t->text[i * t->n_states + k - t->offset[i]];
            t->label[k] = text != NULL && text[0] != 0 ? text : NULL;
        }
    }
    return CLI_DONE;
}

/* Moves the rows of a rectangular array together, as far as each variable has states. */
static void compact(const table *t, double *number)
{
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = t->offset[i]; k < t->offset[i + 1]; k++) {
            number[k] = number[i * t->n_states + k - t->offset[i]];
        }
    }
}

static int make_result(const cli_netcdf_reader *r, table *t)
{
    gbs_error err = {GBS_OK, ""};
    const size_t n = t->n * t->n_states;
    const gbsi_result_arrays arrays = {.n = (uint32_t)t->n,
                                       .id = t->id,
                                       .offset = t->offset,
                                       .p = t->number,
                                       .error = t->number + n,
                                       .name = t->name,
                                       .label = t->label};
    compact(t, t->number);
    compact(t, t->number + n);
    const gbs_status status = gbsi_result_of_arrays(r->path, &arrays, t->result, &err);
    return status < 0 ? cli_fail_input(status, &err) : CLI_DONE;
}

static int take_marginals(cli_netcdf_reader *r, void *context)
{
    table t = {.result = context, .memory = {.path = r->path, .limit = gbs_memory_limit()}};
    int status = CLI_DONE;
    CLI_TRY(find_shape(r, &t));
    CLI_TRY(allocate(&t));
    CLI_TRY(read_numbers(r, &t, t.summary, "marginal", t.n_states, t.number));
    CLI_TRY(read_numbers(r, &t, t.summary, "mcse", t.n_states, t.number + t.n * t.n_states));
    CLI_TRY(read_variables(r, &t));
    CLI_TRY(read_labels(r, &t));
    CLI_TRY(make_result(r, &t));

cleanup:
    cli_netcdf_free_labels(r, t.name, t.n);
    cli_netcdf_free_labels(r, t.text, t.n * t.n_states);
    free(t.number);
    free(t.id);
    free(t.offset);
    free(t.label);
    cli_drawn_free(&t.memory);
    return status;
}

int cli_marginals_read_netcdf(const char *path, gbs_result *result)
{
    return cli_netcdf_read(path, take_marginals, result);
}
