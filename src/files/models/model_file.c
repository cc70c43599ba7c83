/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and functions that find the format of a file, read or write the file, and
 * warn about losses in writing. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/budget.h"
#include "base/machine.h"
#include "base/sized.h"
#include "base/watch.h"
#include "models/format_names.h"
#include "models/formats.h"
#include "store/model.h"
#include "text/common.h"
#include "text/output.h"

#define FUNCTIONS_TEXT(id)    .read = gbsi_##id##_read, .write = gbsi_##id##_write
#define FUNCTIONS_DRAWING(id) .write = gbsi_##id##_write
#define FUNCTIONS_READING(id) .read = gbsi_##id##_read
#define FUNCTIONS_FILES(id)   .read_files = gbsi_##id##_read
#define FUNCTIONS_BYTES(id) \
    .read_binary = gbsi_##id##_read, .read_files = gbsi_##id##_read_file, .write = gbsi_##id##_write

static const gbsi_format formats[] = {
#define GBS_FORMAT(id, called, ends, what, form, has, wants, sign, programs) \
    {.name = (called),                                                       \
     .endings = (ends),                                                      \
     .holds = (has),                                                         \
     .takes = (wants),                                                       \
     .convention = (gbsi_convention)(sign),                                  \
     FUNCTIONS_##form(id)},
#include "gibbsite/formats.def"
};
#define N_FORMATS (sizeof formats / sizeof formats[0])

const char *gbs_model_formats(void)
{
    static const char names[] =
#define GBS_FORMAT(id, called, ...) "|" called
#include "gibbsite/formats.def"
        ;
    return names + 1;
}

static const gbs_read_options default_read = {0};
static const gbs_write_options default_write = {0};

/* ---- finding a format -------------------------------------------------------------------- */

typedef enum use { READ, WRITE } use;

static bool serves(const gbsi_format *format, use to)
{
    return to == READ
               ? format->read != NULL || format->read_files != NULL || format->read_binary != NULL
               : format->write != NULL;
}

/* Takes the next file name extension of the list at *at, and moves *at behind this extension.
 * Extensions with '<' are skipped in writing.
 * @return the length of the extension; 0 at the end of the list. */
static size_t next_ending(const char **at, use to, const char **ending)
{
    for (;;) {
        *at += strspn(*at, " ");
        const bool read_only = **at == '<';
        *ending = *at + read_only;
        *at += strcspn(*at, " ");
        if (!read_only || to == READ) {
            return (size_t)(*at - *ending);
        }
    }
}

/* @return the length of the format's longest extension in which path[0 .. n) ends; 0 if there is no
 *   such extension. */
static size_t ending_length(const gbsi_format *format, use to, const char *path, size_t n)
{
    size_t longest = 0;
    size_t m = 0;
    const char *ending = NULL;
    for (const char *at = format->endings; (m = next_ending(&at, to, &ending)) > 0;) {
        if (m > longest && gbsi_ends_in(path, n, ending, m)) {
            longest = m;
        }
    }
    return longest;
}

static const gbsi_format *by_ending(const char *path, use to)
{
    const gbsi_format *found = NULL;
    size_t longest = 0;
    size_t n = gbsi_unpacked_length(path);
    for (size_t i = 0; i < N_FORMATS; i++) {
        size_t m = ending_length(&formats[i], to, path, n);
        if (m > longest) {
            longest = m;
            found = &formats[i];
        }
    }
    return found;
}

/* Lists the formats with their extensions, as in "uai (.uai), lg (.LG), bif (.bif)". */
static const char *list_formats(use to, char *list, size_t size)
{
    size_t length = 0;
    list[0] = 0;
    for (size_t i = 0; i < N_FORMATS; i++) {
        const char *ending = NULL;
        const char *between = " (";
        size_t m = 0;
        if (!serves(&formats[i], to)) {
            continue;
        }
        length += (size_t)snprintf(list + length, size - length, "%s%s", length == 0 ? "" : ", ",
                                   formats[i].name);
        for (const char *at = formats[i].endings; (m = next_ending(&at, to, &ending)) > 0;) {
            length +=
                (size_t)snprintf(list + length, size - length, "%s%.*s", between, (int)m, ending);
            between = " ";
        }
        length += (size_t)snprintf(list + length, size - length, ")");
        assert(length < size);
    }
    return list;
}

#define LIST_BYTES 1024

static gbs_status by_name(const char *name, use to, const gbsi_format **format, gbs_error *err)
{
    char list[LIST_BYTES];
    for (size_t i = 0; i < N_FORMATS; i++) {
        const char *known = formats[i].name;
        if (strlen(name) == strlen(known) && gbsi_equal_any_case(name, known, strlen(known))) {
            *format = &formats[i];
            return GBS_OK;
        }
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "format '%.100s' is not known, expected one of %s",
                     name, list_formats(to, list, sizeof list));
}

/* File name extensions of formats that this library does not read, with the advice for the
 * message. */
static const struct {
    const char *ending;
    const char *advice;
} strangers[] = {
    {".zip", "a ZIP archive: unpack it first"},
    {".7z", "a 7-Zip archive: unpack it first"},
    {".tar", "a tar archive: unpack it first"},
    {".tgz", "a tar archive: unpack it first"},
    {".dsl", "GeNIe's older format, which is not read: save it in GeNIe as .xdsl"},
    {".dne", "Netica's own format, which is not read: save it in Netica in another format"},
    {".neta", "Netica's own format, which is not read: save it in Netica in another format"},
    {".dsc",
     "the format of Microsoft's Belief Networks, which is not read: save it as .bif or .xml"},
    {".pgmx", "the format of OpenMarkov, which is not read: save it there in another format"},
    {".rda", "data of R: write the network there, with write.bif() of bnlearn"},
    {".rds", "data of R: write the network there, with write.bif() of bnlearn"},
};

static const char *advice_for(const char *path)
{
    const size_t n = gbsi_unpacked_length(path);
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        if (gbsi_ends_in(path, n, strangers[i].ending, strlen(strangers[i].ending))) {
            return strangers[i].advice;
        }
    }
    return NULL;
}

static gbs_status find_format(const char *path, const char *name, use to,
                              const gbsi_format **format, gbs_error *err)
{
    char list[LIST_BYTES];
    if (name != NULL) {
        return by_name(name, to, format, err);
    }
    if (strcmp(path, "-") == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "'-' has no file name extension: name the format, one of %s",
                         list_formats(to, list, sizeof list));
    }
    *format = by_ending(path, to);
    const char *advice = *format == NULL && to == READ ? advice_for(path) : NULL;
    if (advice != NULL) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "%s: the file name extension is that of %s",
                         path, advice);
    }
    if (*format == NULL) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "%s: cannot tell the format from the file name extension, expected one of %s; "
            "or name the format",
            path, list_formats(to, list, sizeof list));
    }
    return GBS_OK;
}

const char *gbsi_model_format_of(const char *path)
{
    const gbsi_format *format = path == NULL ? NULL : by_ending(path, READ);
    return format == NULL ? NULL : format->name;
}

const char *gbsi_model_convention_of(const char *path, const gbs_read_options *options)
{
    const gbsi_format *format = NULL;
    options = options == NULL ? &default_read : options;
    if (path == NULL || find_format(path, options->format, READ, &format, NULL) < 0 ||
        (format->takes & GBSI_TAKES_CONVENTION) == 0) {
        return NULL;
    }
    return options->convention != NULL ? options->convention
                                       : gbsi_convention_name(format->convention);
}

/* ---- reading ----------------------------------------------------------------------------- */

static gbs_status read_input(gbsi_input *input, const gbsi_format *format,
                             const gbs_read_options *options, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text text;
    if (format->read_binary != NULL) {
        status = format->read_binary(input, options, model, err);
    } else if (format->read == NULL && format->read_files == NULL) {
        status = gbsi_fail(err, GBS_ERR_UNSUPPORTED, "%s: %s files can be written, not read",
                           input->name, format->name);
    } else if (format->read == NULL) {
        status = gbsi_fail(err, GBS_ERR_UNSUPPORTED, "%s: %s models cannot be read from a stream",
                           input->name, format->name);
    } else {
        GBSI_TRY(gbsi_input_decode(input, options, err));
        GBSI_TRY(gbsi_text_open(&text, input, options, err));
        status = format->read(&text, model, err);
    }

cleanup:
    gbsi_input_free(input);
    return status;
}

static void init_budget(gbsi_budget *budget, const gbs_read_options *options)
{
    const uint64_t limit = options == NULL ? 0 : options->memory_limit;
    gbsi_budget_init(budget, limit != 0 ? limit : gbsi_default_memory_limit(),
                     gbsi_process_bytes());
}

/* @return the options with defaults for missing ones. If given->size is 0, only the members of the
 *   first version of the struct are taken from `given`. */
static const gbs_read_options *all_options(const gbs_read_options *given, gbs_read_options *own)
{
    if (given == NULL || given->size != 0) {
        return given == NULL ? &default_read : given;
    }
    *own = default_read;
    memcpy(own, given, offsetof(gbs_read_options, file_evidence));
    return own;
}

static bool ask(void *options)
{
    const gbs_read_options *o = options;
    return o->stop != NULL && o->stop(o->stop_context) != 0;
}

static gbs_status read_path(const char *path, const gbs_read_options *options, gbs_model **model,
                            gbs_error *err)
{
    const gbsi_format *format = NULL;
    gbsi_input input;
    if (options->format == NULL && by_ending(path, READ) == NULL && strcmp(path, "-") != 0) {
        /* the message about a missing file has priority over a message about the extension */
        GBSI_PASS(gbsi_input_check(path, err));
        if (gbsi_dimmwitted_in_folder(path)) {
            return gbsi_dimmwitted_read(path, options, model, err);
        }
        struct stat is;
        if (stat(path, &is) == 0 && S_ISDIR(is.st_mode)) {
            return gbsi_fail(err, GBS_ERR_IO,
                             "%s: found a folder, expected a file, or a folder of DimmWitted with "
                             "graph.meta",
                             path);
        }
    }
    GBSI_PASS(find_format(path, options->format, READ, &format, err));
    GBSI_PASS(gbsi_check_read_options(format, path, options, err));
    if (format->read_files != NULL && strcmp(path, "-") != 0) {
        return format->read_files(path, options, model, err);
    }
    /* Files of formats with read_binary() are not text and may contain NUL bytes. */
    if (format->read_binary != NULL) {
        GBSI_PASS(gbsi_input_read_begun(path, gbsi_is_gbm, &input, err));
    } else {
        GBSI_PASS(format->read_files != NULL ? gbsi_input_read(path, &input, err)
                                             : gbsi_input_read_text(path, &input, err));
    }
    return read_input(&input, format, options, model, err);
}

gbs_status gbs_model_read(const char *path, const gbs_read_options *options, gbs_model **model,
                          gbs_error *err)
{
    GBSI_NEED(path, model);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbsi_budget budget;
    init_budget(&budget, options);
    gbsi_budget *before = gbsi_budget_enter(&budget);
    gbs_read_options own;
    options = all_options(options, &own);
    gbsi_watch watch =
        gbsi_watch_of(ask, (void *)(uintptr_t)options, 0.0, 0.0); /* ask() only reads the options */
    gbsi_watch *nobody = gbsi_watch_enter(&watch);
    const gbs_status status = read_path(path, options, model, err);
    gbsi_watch_leave(nobody);
    gbsi_budget_leave(before);
    return status;
}

gbs_status gbs_model_read_memory(const char *name, const void *bytes, size_t n_bytes,
                                 const gbs_read_options *options, gbs_model **model, gbs_error *err)
{
    GBSI_NEED(name, bytes, model);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_status status = GBS_OK;
    const gbsi_format *format = NULL;
    gbsi_input input;
    gbsi_budget budget;
    init_budget(&budget, options);
    gbsi_budget *before = gbsi_budget_enter(&budget);
    gbs_read_options own;
    options = all_options(options, &own);
    gbsi_watch watch =
        gbsi_watch_of(ask, (void *)(uintptr_t)options, 0.0, 0.0); /* ask() only reads the options */
    gbsi_watch *nobody = gbsi_watch_enter(&watch);
    GBSI_TRY(find_format(name, options->format, READ, &format, err));
    GBSI_TRY(gbsi_check_read_options(format, name, options, err));
    GBSI_TRY(gbsi_input_memory(name, bytes, n_bytes, &input, err));
    status = read_input(&input, format, options, model, err);

cleanup:
    gbsi_watch_leave(nobody);
    gbsi_budget_leave(before);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------- */

static bool has_other_kinds(const gbs_model *model)
{
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        if (model->factors.kind[f] != GBS_FACTOR_TABLE) {
            return true;
        }
    }
    return false;
}

static void tell_loss(const gbs_write_options *options, const char *path, const char *what,
                      const gbsi_format *format)
{
    char message[512];
    (void)snprintf(message, sizeof message, "%.200s: %s, which %s files cannot hold", path, what,
                   format->name);
    options->warn(options->context, message);
}

/* Warns about properties of the model that the format cannot store. */
static void tell_losses(const gbs_model *model, const char *path, const gbsi_format *format,
                        const gbs_write_options *options)
{
    if (options->warn == NULL) {
        return;
    }
    bool keeps_numbers = (format->holds & GBSI_HOLDS_NUMBERS) != 0 && gbsi_fg_keeps_names(model);
    if (model->n_named > 0 && (format->holds & GBSI_HOLDS_NAMES) == 0 && !keeps_numbers) {
        tell_loss(options, path, "lost the names of variables", format);
    }
    if (model->label != NULL && (format->holds & GBSI_HOLDS_LABELS) == 0) {
        tell_loss(options, path, "lost the labels of states", format);
    }
    if (model->directed && (format->holds & GBSI_HOLDS_DIRECTION) == 0) {
        tell_loss(options, path, "lost that the model is a Bayesian network", format);
    }
    if (model->tied.n_weights > 0 && (format->holds & GBSI_HOLDS_TIES) == 0) {
        tell_loss(options, path, "lost the weights that factors share", format);
    }
    if ((format->holds & GBSI_HOLDS_KINDS) == 0 && has_other_kinds(model)) {
        tell_loss(options, path, "wrote couplings or clauses in another form", format);
    }
}

static gbs_status write_stream(const gbs_model *model, const char *path, const gbsi_format *format,
                               const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *output = NULL;
    GBSI_TRY(gbs_output_open(path, &output, err));
    gbsi_output_fixed_floats(output, options->fixed_floats != 0);
    GBSI_TRY(format->write(model, output, options, err));
    status = gbs_output_commit(output, err);
    output = NULL;

cleanup:
    gbs_output_discard(output);
    return status;
}

gbs_status gbs_model_write(const gbs_model *model, const char *path,
                           const gbs_write_options *options, gbs_error *err)
{
    GBSI_NEED(model, path);
    GBSI_IN_STRUCT(options, gbs_write_options);
    gbs_status status = GBS_OK;
    const gbsi_format *format = NULL;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, gbs_model_bytes(model));
    options = options == NULL ? &default_write : options;
    GBSI_TRY(find_format(path, options->format, WRITE, &format, err));
    GBSI_TRY(gbsi_check_write_options(format, path, options, err));
    if (format->write != NULL) {
        status = write_stream(model, path, format, options, err);
    } else {
        status = gbsi_fail(err, GBS_ERR_UNSUPPORTED, "%s: %s models can be read, not written%s",
                           path, format->name,
                           (format->holds & GBSI_HOLDS_TIES) != 0
                               ? "; .gbm keeps the weights that factors share, too"
                               : "");
    }
    if (status == GBS_OK) {
        tell_losses(model, path, format, options);
    }

cleanup:
    gbsi_budget_leave(before);
    return status;
}
