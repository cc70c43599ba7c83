/* SPDX-License-Identifier: Apache-2.0 */
/* Reads marginals that this library wrote as arrays: archives of NumPy (.npz), and arrays that the
 * program read from NetCDF. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "answers/result_table.h"
#include "arrays/arrays.h"
#include "base/memory.h"
#include "text/input.h"

/* ---- any arrays ------------------------------------------------------------------------------ */

static gbs_status check_numbers(const char *path, const gbsi_result_arrays *a, gbs_error *err)
{
    for (uint32_t i = 0; i < a->n; i++) {
        for (size_t k = a->offset[i]; k < a->offset[i + 1]; k++) {
            if (!(a->p[k] >= 0.0 && a->p[k] <= 1.0)) {
                return gbsi_fail(err, GBS_ERR_FORMAT,
                                 "%s: found %g at state %zu of variable %" PRIu32
                                 ", expected a probability",
                                 path, a->p[k], k - a->offset[i], i);
            }
            if (a->error != NULL && a->error[k] < 0.0) {
                return gbsi_fail(err, GBS_ERR_FORMAT,
                                 "%s: found %g at state %zu of variable %" PRIu32
                                 ", expected a standard error",
                                 path, a->error[k], k - a->offset[i], i);
            }
        }
    }
    return GBS_OK;
}

/* Makes the result of a table that has all names and labels of r->arrays. */
static gbs_status take_arrays(gbsi_table *r, const char *path, gbs_result *result, gbs_error *err)
{
    const gbsi_result_arrays *a = r->arrays;
    const size_t n = a->offset[a->n];
    GBSI_PASS(check_numbers(path, a, err));
    GBSI_PASS(gbsi_reserve(&r->p, &r->p_capacity, n + 1, sizeof *a->p, path, err));
    GBSI_PASS(gbsi_reserve(&r->error, &r->error_capacity, n + 1, sizeof *a->p, path, err));
    GBSI_PASS(
        gbsi_reserve(&r->offset, &r->offset_capacity, (size_t)a->n + 1, sizeof(size_t), path, err));
    memcpy(r->offset, a->offset, ((size_t)a->n + 1) * sizeof *a->offset);
    r->n_p = n;
    if (n > 0) {
        memcpy(r->p, a->p, n * sizeof *a->p);
    }
    if (n > 0 && a->error != NULL) {
        memcpy(r->error, a->error, n * sizeof *a->error);
        r->n_errors = n;
    }
    return gbsi_table_take(r, false, result, err);
}

gbs_status gbsi_result_of_arrays(const char *path, const gbsi_result_arrays *a, gbs_result *result,
                                 gbs_error *err)
{
    GBSI_NEED(path, a, result);
    gbs_status status = GBS_OK;
    gbs_result made = {.log_density = (double)NAN, .log10_error = (double)NAN};
    gbsi_text text = {.name = path};
    gbsi_table r = {.text = &text, .arrays = a};
    for (uint32_t i = 0; i < a->n && a->name != NULL; i++) {
        GBSI_TRY(
            gbsi_table_add_text(&r, gbsi_table_add_variable, a->name[i], strlen(a->name[i]), err));
    }
    for (uint32_t i = 0; i < a->n && a->label != NULL; i++) {
        for (size_t k = a->offset[i]; k < a->offset[i + 1]; k++) {
            GBSI_TRY(a->label[k] != NULL
                         ? gbsi_table_add_text(&r, gbsi_table_add_label, a->label[k],
                                               strlen(a->label[k]), err)
                         : gbsi_table_add_number(&r, gbsi_table_add_label, k - a->offset[i], err));
        }
    }
    GBSI_TRY(gbsi_table_number_rest(&r, err));
    GBSI_TRY(take_arrays(&r, path, &made, err));
    *result = made;
    made = (gbs_result){0};

cleanup:
    gbs_result_free(&made);
    gbsi_table_free(&r);
    return status;
}

/* ---- .npz ------------------------------------------------------------------------------------ */

typedef struct archive {
    const char *path;
    gbsi_npz *npz;
    gbsi_array variable, offsets, marginals, mcse, meta;
    uint64_t *id;
    size_t *offset;
} archive;

static void archive_free(archive *a)
{
    gbsi_array *const arrays[] = {&a->variable, &a->offsets, &a->marginals, &a->mcse, &a->meta};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        gbsi_array_free(arrays[i]);
    }
    gbsi_npz_close(a->npz);
    GBSI_FREE(a->id, a->offset);
}

static bool has_member(const gbsi_npz *npz, const char *name)
{
    bool has = false;
    for (size_t i = 0; i < gbsi_npz_n_members(npz); i++) {
        has = has || strcmp(gbsi_npz_name(npz, i), name) == 0;
    }
    return has;
}

/* Reads the arrays. Archives of draws, and archives of other programs, are refused. */
static gbs_status read_members(archive *a, gbs_error *err)
{
    static const char expected[] = "expected marginals, which gibbsite marginals writes";
    if (has_member(a->npz, "x") && has_member(a->npz, "lp")) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: found draws, %s; gibbsite diagnose reads draws",
                         a->path, expected);
    }
    const struct {
        const char *name;
        gbsi_array *array;
        gbsi_array_type type;
    } members[] = {{"marginals", &a->marginals, GBSI_ARRAY_F8},
                   {"mcse", &a->mcse, GBSI_ARRAY_F8},
                   {"offsets", &a->offsets, GBSI_ARRAY_I8},
                   {"variable", &a->variable, GBSI_ARRAY_I8},
                   {"meta", &a->meta, GBSI_ARRAY_U1}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (!has_member(a->npz, members[i].name)) {
            return gbsi_fail(err, GBS_ERR_FORMAT, "%s: found no array '%s', %s", a->path,
                             members[i].name, expected);
        }
        GBSI_PASS(gbsi_npz_read(a->npz, members[i].name, members[i].array, err));
        if (members[i].array->type != members[i].type || members[i].array->n_dims != 1) {
            return gbsi_fail(err, GBS_ERR_FORMAT,
                             "%s: the array '%s' has another type or shape than gibbsite writes",
                             a->path, members[i].name);
        }
    }
    return GBS_OK;
}

/* Checks the sizes of the arrays, and copies ids and offsets to the types of results. */
static gbs_status convert(archive *a, gbs_error *err)
{
    const size_t n = gbsi_array_size(&a->variable);
    const size_t n_p = gbsi_array_size(&a->marginals);
    const int64_t *id = a->variable.data;
    const int64_t *offset = a->offsets.data;
    bool fits = n <= GBS_MAX_VARIABLES && gbsi_array_size(&a->offsets) == n + 1 &&
                gbsi_array_size(&a->mcse) == n_p && offset[0] == 0 && offset[n] >= 0 &&
                (uint64_t)offset[n] == n_p;
    for (size_t i = 0; i < n && fits; i++) {
        fits = offset[i] < offset[i + 1] && id[i] >= 0 && id[i] < (int64_t)UINT32_MAX;
    }
    if (!fits) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: the arrays 'variable', 'offsets', 'marginals' and 'mcse' do not fit "
                         "each other",
                         a->path);
    }
    a->id = gbsi_alloc_array(n + 1, sizeof *a->id);
    a->offset = gbsi_alloc_array(n + 1, sizeof *a->offset);
    GBSI_PASS(GBSI_HAVE(err, a->path, a->id, a->offset));
    for (size_t i = 0; i <= n; i++) {
        a->id[i] = i < n ? (uint64_t)id[i] : 0;
        a->offset[i] = (size_t)offset[i];
    }
    return GBS_OK;
}

gbs_status gbsi_result_read_npz(const char *path, const gbs_read_options *options,
                                gbs_result *result, gbs_error *err)
{
    gbs_status status = GBS_OK;
    archive a = {.path = path};
    gbsi_input meta = {0};
    gbsi_text text = {0};
    gbsi_table r = {.text = &text};
    GBSI_TRY(gbsi_npz_open(path, &a.npz, err));
    GBSI_TRY(read_members(&a, err));
    GBSI_TRY(convert(&a, err));
    const gbsi_result_arrays arrays = {.n = (uint32_t)gbsi_array_size(&a.variable),
                                       .id = a.id,
                                       .offset = a.offset,
                                       .p = a.marginals.data,
                                       .error = a.mcse.data};
    r.arrays = &arrays;
    GBSI_TRY(gbsi_input_memory(path, a.meta.data, gbsi_array_size(&a.meta), &meta, err));
    GBSI_TRY(gbsi_text_open(&text, &meta, options, err));
    r.field = gbsi_alloc(gbsi_text_left(&text) + 1);
    GBSI_TRY(GBSI_HAVE(err, path, r.field));
    GBSI_TRY(gbsi_result_read_meta(&r, err));
    status = take_arrays(&r, path, result, err);

cleanup:
    gbsi_input_free(&meta);
    gbsi_table_free(&r);
    archive_free(&a);
    return status;
}
