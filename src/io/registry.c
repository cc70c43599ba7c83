/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "io/formats.h"

typedef struct model_format {
    const char *name; /* as users type it; never changes */
    const char *ending;
    gbs_status (*read)(gbsi_text *text, gbs_model **model, gbs_error *err);
    gbs_status (*write)(const gbs_model *model, gbs_output *output, gbs_error *err);
} model_format;

static const model_format formats[] = {
    {"uai", ".uai", gbsi_uai_read, gbsi_uai_write},
    {"lg", ".LG", gbsi_lg_read, gbsi_lg_write},
    {"bif", ".bif", gbsi_bif_read, gbsi_bif_write},
};
#define N_FORMATS (sizeof formats / sizeof formats[0])

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool equal_any_case(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

static bool ends_in(const char *path, size_t n, const char *ending)
{
    size_t m = strlen(ending);
    return n > m && equal_any_case(path + n - m, ending, m);
}

/* "uai (.uai), lg (.LG), bif (.bif)" */
static const char *list_formats(char *list, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < N_FORMATS; i++) {
        int n = snprintf(list + length, size - length, "%s%s (%s)", i == 0 ? "" : ", ",
                         formats[i].name, formats[i].ending);
        length += (size_t)n;
    }
    return list;
}

#define LIST_BYTES 256

static gbs_status by_name(const char *name, const model_format **format, gbs_error *err)
{
    char list[LIST_BYTES];
    for (size_t i = 0; i < N_FORMATS; i++) {
        const char *known = formats[i].name;
        if (strlen(name) == strlen(known) && equal_any_case(name, known, strlen(known))) {
            *format = &formats[i];
            return GBS_OK;
        }
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "format '%.100s' is not known, expected one of %s",
                     name, list_formats(list, sizeof list));
}

static gbs_status by_ending(const char *path, const model_format **format, gbs_error *err)
{
    char list[LIST_BYTES];
    size_t n = strlen(path);
    if (strcmp(path, "-") == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "'-' has no ending to tell the format, expected it named: one of %s",
                         list_formats(list, sizeof list));
    }
    n -= ends_in(path, n, ".gz") ? 3 : 0;
    n -= ends_in(path, n, ".zst") ? 4 : 0;
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (ends_in(path, n, formats[i].ending)) {
            *format = &formats[i];
            return GBS_OK;
        }
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "%s: the ending tells no format, expected one of %s, or the format named",
                     path, list_formats(list, sizeof list));
}

static gbs_status find_format(const char *path, const char *name, const model_format **format,
                              gbs_error *err)
{
    return name != NULL ? by_name(name, format, err) : by_ending(path, format, err);
}

static gbs_status read_input(gbsi_input *input, const model_format *format,
                             const gbs_read_options *options, gbs_model **model, gbs_error *err)
{
    gbsi_text text;
    gbs_status status = gbsi_text_open(&text, input, options, err);
    if (status == GBS_OK) {
        status = format->read(&text, model, err);
    }
    gbsi_input_free(input);
    return status;
}

gbs_status gbs_model_read(const char *path, const gbs_read_options *options, gbs_model **model,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    const model_format *format = NULL;
    gbsi_input input;
    GBSI_TRY(find_format(path, options == NULL ? NULL : options->format, &format, err));
    GBSI_TRY(gbsi_input_read(path, &input, err));
    status = read_input(&input, format, options, model, err);

cleanup:
    return status;
}

gbs_status gbs_model_read_memory(const char *name, const void *bytes, size_t n_bytes,
                                 const gbs_read_options *options, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const model_format *format = NULL;
    gbsi_input input;
    GBSI_TRY(find_format(name, options == NULL ? NULL : options->format, &format, err));
    GBSI_TRY(gbsi_input_memory(name, bytes, n_bytes, &input, err));
    status = read_input(&input, format, options, model, err);

cleanup:
    return status;
}

gbs_status gbs_model_write(const gbs_model *model, const char *path, const char *format,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    const model_format *found = NULL;
    gbs_output *output = NULL;
    GBSI_TRY(find_format(path, format, &found, err));
    GBSI_TRY(gbs_output_open(path, &output, err));
    GBSI_TRY(found->write(model, output, err));
    status = gbs_output_commit(output, err);
    output = NULL;

cleanup:
    gbs_output_discard(output);
    return status;
}
