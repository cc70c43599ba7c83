/* SPDX-License-Identifier: Apache-2.0 */
/* Readers and writers of model formats, which gibbsite/formats.def lists. */
#ifndef GBSI_MODELS_FORMATS_H
#define GBSI_MODELS_FORMATS_H

#include "models/couplings.h"
#include "text/output.h"
#include "text/text.h"

/* The properties of a model that a format can hold. All other contents are lost in writing, and a
 * warning says so. */
enum {
    GBSI_HOLDS_NAMES = 1 << 0,     /* names of variables */
    GBSI_HOLDS_LABELS = 1 << 1,    /* labels of states */
    GBSI_HOLDS_DIRECTION = 1 << 2, /* whether a model is a Bayesian network */
    GBSI_HOLDS_KINDS = 1 << 3,     /* every kind of factor in its own form, not as a table */
    GBSI_HOLDS_NUMBERS = 1 << 4,   /* names that are numbers, as gbsi_fg_keeps_names() tells */
    GBSI_HOLDS_TIES = 1 << 5,      /* ties of factors to weights that they share */
};

/* Options that have a meaning for a format. They are refused for all other formats. */
enum {
    GBSI_TAKES_CONVENTION = 1 << 0, /* the option for a convention, in reading and in writing */
    GBSI_TAKES_DIAGONAL = 1 << 1,
    GBSI_TAKES_WEIGHT_SCALE = 1 << 2,
    GBSI_TAKES_STATES = 1 << 3,
    GBSI_TAKES_TABLE_ORDER = 1 << 4,
    GBSI_TAKES_VARTYPE = 1 << 5, /* the option for the type of variables, and a constant energy */
};

/* A format has one of the three readers or none; read_files may go with another one that reads
 * streams. A format has a writer or none. */
typedef struct gbsi_format {
    const char *name; /* name as users type it; it never changes */
    /* file name extensions: ".rud .rudy", ".wcnf <.cnf"; compared in any letter case; '<' marks
     * one that is only read; if an extension ends in another one, the longer one decides */
    const char *endings;
    unsigned holds;             /* GBSI_HOLDS_* */
    unsigned takes;             /* GBSI_TAKES_* */
    gbsi_convention convention; /* the convention that the format uses, if it has one */
    gbs_status (*read)(gbsi_text *text, gbs_model **model, gbs_error *err);
    /* Reads bytes that are not text. */
    gbs_status (*read_binary)(const gbsi_input *input, const gbs_read_options *options,
                              gbs_model **model, gbs_error *err);
    /* Reads from a path that the reader opens itself: several files, of which the path names one
     * or their folder, or a file that is to be mapped. */
    gbs_status (*read_files)(const char *path, const gbs_read_options *options, gbs_model **model,
                             gbs_error *err);
    gbs_status (*write)(const gbs_model *model, gbs_output *output,
                        const gbs_write_options *options, gbs_error *err);
} gbsi_format;

/* Whether the input begins like a .gbm file. */
bool gbsi_is_gbm(const gbsi_input *input);

/* Readers and writers of all formats. Options are never NULL (text formats: text->options). */
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

/* Whether path is a folder that holds graph.meta. */
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
