/* SPDX-License-Identifier: Apache-2.0 */
/* Readers and writers of model formats, which gibbsite/formats.def lists. */
#ifndef GBSI_MODELS_FORMATS_H
#define GBSI_MODELS_FORMATS_H

#include "models/couplings.h"
#include "text/output.h"
#include "text/text.h"

/* Properties of a model that a format can store. Other properties are lost in writing, and a
 * warning names them. */
enum {
    GBSI_HOLDS_NAMES = 1 << 0,     /* names of variables */
    GBSI_HOLDS_LABELS = 1 << 1,    /* labels of states */
    GBSI_HOLDS_DIRECTION = 1 << 2, /* whether a model is a Bayesian network */
    GBSI_HOLDS_KINDS = 1 << 3,     /* every kind of factor in its own form, not as a table */
    /* names that are increasing whole numbers, see gbsi_fg_keeps_names() */
    GBSI_HOLDS_NUMBERS = 1 << 4,
    GBSI_HOLDS_TIES = 1 << 5, /* ties of factors to shared weights */
};

/* Options that a format accepts. An option is refused for all formats without its bit. */
enum {
    /* the option for the sign convention, in reading and in writing */
    GBSI_TAKES_CONVENTION = 1 << 0,
    GBSI_TAKES_DIAGONAL = 1 << 1,
    GBSI_TAKES_WEIGHT_SCALE = 1 << 2,
    GBSI_TAKES_STATES = 1 << 3,
    GBSI_TAKES_TABLE_ORDER = 1 << 4,
    /* the options for the type of variables and for a constant energy */
    GBSI_TAKES_VARTYPE = 1 << 5,
};

/* A format. One of the functions read, read_binary and read_files is set if the format can be read;
 * read_files may have one of the others beside it for streams. write is set if the format can be
 * written. */
typedef struct gbsi_format {
    const char *name; /* name that users type, which never changes between versions */
    /* File name extensions, such as ".rud .rudy" or ".wcnf <.cnf", in any letter case. '<' marks an
     * extension that is used only in reading. If several extensions fit a file name, the longest
     * one decides. */
    const char *endings;
    unsigned holds;             /* GBSI_HOLDS_* */
    unsigned takes;             /* GBSI_TAKES_* */
    gbsi_convention convention; /* sign convention of the format, if the format has couplings */
    gbs_status (*read)(gbsi_text *text, gbs_model **model, gbs_error *err);
    /* Reads a model from bytes that are not text. */
    gbs_status (*read_binary)(const gbsi_input *input, const gbs_read_options *options,
                              gbs_model **model, gbs_error *err);
    /* Reads from a path that the reader opens itself. The path names a file that the reader maps,
     * or one of several files, or their folder. */
    gbs_status (*read_files)(const char *path, const gbs_read_options *options, gbs_model **model,
                             gbs_error *err);
    gbs_status (*write)(const gbs_model *model, gbs_output *output,
                        const gbs_write_options *options, gbs_error *err);
} gbsi_format;

/* Whether the input begins like a .gbm file. */
bool gbsi_is_gbm(const gbsi_input *input);

/* Readers and writers of all formats. Options are never NULL. Readers of text find the options in
 * text->options. */
#define GBSI_DECLARE_TEXT(id)                                                        \
    gbs_status gbsi_##id##_read(gbsi_text *text, gbs_model **model, gbs_error *err); \
    gbs_status gbsi_##id##_write(const gbs_model *model, gbs_output *output,         \
                                 const gbs_write_options *options, gbs_error *err);
#define GBSI_DECLARE_FILES(id)                                                     \
    gbs_status gbsi_##id##_read(const char *path, const gbs_read_options *options, \
                                gbs_model **model, gbs_error *err);
#define GBSI_DECLARE_READING(id) \
    gbs_status gbsi_##id##_read(gbsi_text *text, gbs_model **model, gbs_error *err);
#define GBSI_DECLARE_DRAWING(id)                                             \
    gbs_status gbsi_##id##_write(const gbs_model *model, gbs_output *output, \
                                 const gbs_write_options *options, gbs_error *err);
#define GBSI_DECLARE_BYTES(id)                                                            \
    gbs_status gbsi_##id##_read(const gbsi_input *input, const gbs_read_options *options, \
                                gbs_model **model, gbs_error *err);                       \
    gbs_status gbsi_##id##_read_file(const char *path, const gbs_read_options *options,   \
                                     gbs_model **model, gbs_error *err);                  \
    gbs_status gbsi_##id##_write(const gbs_model *model, gbs_output *output,              \
                                 const gbs_write_options *options, gbs_error *err);
#define GBS_FORMAT(id, name, endings, what, form, ...) GBSI_DECLARE_##form(id)
#include "gibbsite/formats.def"

/* Whether `path` is a folder that contains graph.meta. */
bool gbsi_dimmwitted_in_folder(const char *path);
/* Whether the names of the variables are labels of a .fg file: increasing whole numbers. */
bool gbsi_fg_keeps_names(const gbs_model *model);

/* These functions refuse options that have no meaning for the format.
 * @param path path of the file, for the message. */
gbs_status gbsi_check_read_options(const gbsi_format *format, const char *path,
                                   const gbs_read_options *options, gbs_error *err);
gbs_status gbsi_check_write_options(const gbsi_format *format, const char *path,
                                    const gbs_write_options *options, gbs_error *err);

#endif
