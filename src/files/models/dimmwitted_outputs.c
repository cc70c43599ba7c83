/* SPDX-License-Identifier: Apache-2.0 */
#include "models/dimmwitted.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "text/output.h"

gbs_status gbsi_dw_outputs_init(gbsi_dw_outputs *outputs, const char *path, gbsi_dw_form form,
                                const gbs_write_options *options, gbs_error *err)
{
    *outputs = (gbsi_dw_outputs){.form = form, .fixed_floats = options->fixed_floats != 0};
    if (strcmp(path, "-") == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "<stdout>: a DimmWitted factor graph is several files: give -o NAME.meta");
    }
    return gbsi_dw_place_find(path, &outputs->place, err);
}

void gbsi_dw_outputs_free(gbsi_dw_outputs *outputs)
{
    for (size_t i = 0; i < outputs->n_companions; i++) {
        gbs_output_discard(((gbs_output **)outputs->companion)[i]);
        gbsi_free(((char **)outputs->name)[i]);
    }
    gbs_output_discard(outputs->meta);
    gbsi_free(outputs->companion);
    gbsi_free(outputs->name);
    gbsi_dw_place_free(&outputs->place);
}

static gbs_status open_file(const gbsi_dw_outputs *o, const char *path, gbs_output **output,
                            gbs_error *err)
{
    const gbs_status status = gbs_output_open(path, output, err);
    if (status == GBS_OK) {
        gbsi_output_fixed_floats(*output, o->fixed_floats);
    }
    return status;
}

gbs_status gbsi_dw_outputs_open(gbsi_dw_outputs *outputs, gbsi_dw_kind kind, const char *tail,
                                gbs_output **output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char ending[64];
    char *path = NULL;
    const bool packed = outputs->place.packed && strstr(tail, ".text2bin-args") == NULL;
    const size_t n = outputs->n_companions;
    (void)snprintf(ending, sizeof ending, "%s%s", tail, packed ? ".gz" : "");
    GBSI_TRY(gbsi_reserve(&outputs->companion, &outputs->companion_capacity, n + 1,
                          sizeof(gbs_output *), outputs->place.meta, err));
    GBSI_TRY(gbsi_reserve(&outputs->name, &outputs->name_capacity, n + 1, sizeof(char *),
                          outputs->place.meta, err));
    GBSI_TRY(gbsi_dw_place_name(&outputs->place, outputs->form, kind, ending, &path, err));
    GBSI_TRY(open_file(outputs, path, output, err));
    ((gbs_output **)outputs->companion)[n] = *output;
    ((char **)outputs->name)[n] = path;
    outputs->n_companions++;
    path = NULL;

cleanup:
    gbsi_free(path);
    return status;
}

gbs_status gbsi_dw_outputs_open_meta(gbsi_dw_outputs *outputs, gbs_output **output, gbs_error *err)
{
    const gbs_status status = open_file(outputs, outputs->place.meta, &outputs->meta, err);
    *output = outputs->meta;
    return status;
}

static bool is_ours(const gbsi_dw_outputs *o, const char *path)
{
    for (size_t i = 0; i < o->n_companions; i++) {
        if (strcmp(((char **)o->name)[i], path) == 0) {
            return true;
        }
    }
    return false;
}

/* A file that is there and will not be replaced would be read as part of the graph, or make the
 * graph one of both forms. Our files have other names yet. */
static gbs_status check_leftovers(const gbsi_dw_outputs *o, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_dw_files files = {0};
    GBSI_TRY(gbsi_dw_files_find(&o->place, o->form, &files, err));
    if (files.other_form) {
        status = gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "%s: is there with %s companions, which would no longer fit it; "
                           "write elsewhere",
                           o->place.meta, o->form == GBSI_DW_TEXT ? "binary" : "text");
        goto cleanup;
    }
    for (int k = 0; k < GBSI_DW_N_KINDS; k++) {
        for (size_t i = 0; i < files.n[k]; i++) {
            const char *path = gbsi_dw_files_path(&files, (gbsi_dw_kind)k, i);
            if (!is_ours(o, path)) {
                status = gbsi_fail(err, GBS_ERR_ARGUMENT,
                                   "%s: would be read as part of the graph written; remove it or "
                                   "write elsewhere",
                                   path);
                goto cleanup;
            }
        }
    }

cleanup:
    gbsi_dw_files_free(&files);
    return status;
}

gbs_status gbsi_dw_outputs_commit(gbsi_dw_outputs *outputs, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = outputs->n_companions;
    GBSI_TRY(check_leftovers(outputs, err));
    GBSI_TRY(gbsi_reserve(&outputs->companion, &outputs->companion_capacity, n + 1,
                          sizeof(gbs_output *), outputs->place.meta, err));
    gbs_output **all = outputs->companion;
    all[n] = outputs->meta; /* last: who finds it finds its companions */
    outputs->meta = NULL;
    status = gbs_output_commit_all(all, n + 1, err);
    memset(all, 0, n * sizeof(gbs_output *));

cleanup:
    return status;
}
