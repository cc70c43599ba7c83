/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as a tree (RFC 8259), strictly: no comments, no trailing commas, well-formed UTF-8, no NUL,
 * at most 64 levels. Numbers keep their digits, so that integers of 64 bits are not rounded. */
#ifndef GBSI_REPORT_JSON_H
#define GBSI_REPORT_JSON_H

#include "text/text.h"

typedef enum gbsi_json_kind {
    GBSI_JSON_NULL,
    GBSI_JSON_FALSE,
    GBSI_JSON_TRUE,
    GBSI_JSON_NUMBER,
    GBSI_JSON_STRING,
    GBSI_JSON_ARRAY,
    GBSI_JSON_OBJECT,
} gbsi_json_kind;

/* A value. The values inside an array or object follow it, each followed by the values inside it.
 */
typedef struct gbsi_json {
    gbsi_json_kind kind;
    const char *name; /* name of a member of an object; else NULL */
    const char *text; /* text of strings decoded, of numbers as written; else NULL */
    double number;    /* of numbers */
    size_t n;         /* elements or members */
    size_t size;      /* values from here to the next entry */
    const char *at;   /* position in the text, for messages */
} gbsi_json;

typedef struct gbsi_json_file {
    gbsi_text text;
    gbsi_json *value; /* [n], value[0] is the whole */
    size_t n, capacity;
    char *pool; /* names and texts */
    size_t n_pool;
} gbsi_json_file;

/* @param input the text, borrowed as long as the file exists. @param file out; free it if GBS_OK is
 * returned. */
gbs_status gbsi_json_read(const gbsi_input *input, gbsi_json_file *file, gbs_error *err);
void gbsi_json_free(gbsi_json_file *file);

/* The elements of an array or object in turn: NULL if that value does not exist, or if the argument
 * is NULL. */
const gbsi_json *gbsi_json_first(const gbsi_json *of);
const gbsi_json *gbsi_json_next(const gbsi_json *of, const gbsi_json *element);
/* NULL if no member has that name, or if `object` is NULL or not an object. If several members have
 * it, the first is returned. */
const gbsi_json *gbsi_json_member(const gbsi_json *object, const char *name);

/* GBS_ERR_FORMAT "NAME:LINE:COLUMN: found ..., expected ...". */
gbs_status gbsi_json_unexpected(const gbsi_json_file *file, const gbsi_json *value,
                                const char *expected, gbs_error *err);

#endif
