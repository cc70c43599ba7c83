/* SPDX-License-Identifier: Apache-2.0 */
/* Readers and writers of model formats, one pair per format: gibbsite/formats.def lists them. */
#ifndef GBSI_MODELS_FORMATS_H
#define GBSI_MODELS_FORMATS_H

#include "models/couplings.h"
#include "text/output.h"
#include "text/text.h"

/* The properties of a model that a format can hold. All other contents are lost in writing, and a
 * warning says so. */
enum {
    GBSI_HOLDS_NAMES = 1 << 0,     /* of variables */
    GBSI_HOLDS_LABELS = 1 << 1,    /* of states */
    GBSI_HOLDS_DIRECTION = 1 << 2, /* whether a model is a Bayesian network */
    GBSI_HOLDS_KINDS = 1 << 3,     /* every kind of factor in its own form, not as a table */
    GBSI_HOLDS_NUMBERS = 1 << 4,   /* numbers of variables in names, as gbsi_fg_keeps_names() tells
                                    */
    GBSI_HOLDS_TIES = 1 << 5,      /* ties of factors to weights that they share */
};

/* Options that mean something to a format; the registry refuses them for all others. */
enum {
    GBSI_TAKES_CONVENTION = 1 << 0, /* a convention is accepted in reading and in writing */
    GBSI_TAKES_DIAGONAL = 1 << 1,
    GBSI_TAKES_WEIGHT_SCALE = 1 << 2,
    GBSI_TAKES_STATES = 1 << 3,
    GBSI_TAKES_TABLE_ORDER = 1 << 4,
    GBSI_TAKES_VARTYPE = 1 << 5, /* and a constant energy */
};

/* A format has one of the three readers (or none; read_files may go with one for streams) and a
 * writer or none. */
typedef struct gbsi_format {
    const char *name;    /* name as users type it; it never changes */
    const char *endings; /* ".rud .rudy", ".wcnf <.cnf": compared in any case, longest first where
                            one ends in another */
    unsigned holds;      /* GBSI_HOLDS_* */
    unsigned takes;      /* GBSI_TAKES_* */
    gbsi_convention convention; /* the convention that the format uses, if it has one */
    gbs_status (*read)(gbsi_text *text, gbs_model **model, gbs_error *err);
    /* Bytes that are no text. */
    gbs_status (*read_binary)(const gbsi_input *input, const gbs_read_options *options,
                              gbs_model **model, gbs_error *err);
    /* A path the reader opens itself: several files, of which the user named one (or their
     * folder), or one to be mapped. */
    gbs_status (*read_files)(const char *path, const gbs_read_options *options, gbs_model **model,
                             gbs_error *err);
    gbs_status (*write)(const gbs_model *model, gbs_output *output,
                        const gbs_write_options *options, gbs_error *err);
} gbsi_format;

/* The readers and writers of every format. Options are never NULL (text formats: text->options). */
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
/* Whether the names of variables are labels of a .fg file: whole numbers that increase. */
bool gbsi_fg_keeps_names(const gbs_model *model);

/* Refuse options that mean nothing to the format. @param path path of the file, for the message. */
gbs_status gbsi_check_read_options(const gbsi_format *format, const char *path,
                                   const gbs_read_options *options, gbs_error *err);
gbs_status gbsi_check_write_options(const gbsi_format *format, const char *path,
                                    const gbs_write_options *options, gbs_error *err);

#endif
