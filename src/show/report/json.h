/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON strictly into a tree (RFC 8259): no comments, no trailing commas, well-formed
 * UTF-8, no NUL, at most 64 levels. Numbers keep their digits, so integers of 64 bits are not
 * rounded. */
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

/* A value. The elements of an array or object are stored behind the array or object, in order. Each
 * element is followed by the values inside this element. */
typedef struct gbsi_json {
    gbsi_json_kind kind;
    const char *name; /* name of the value as a member of an object, otherwise NULL */
    const char *text; /* decoded string, or number as it is written; otherwise NULL */
    double number;    /* value of a number */
    size_t n;         /* number of elements or members */
    size_t size;      /* number of values from here to the next element */
    const char *at;   /* position in the text, for messages */
} gbsi_json;

typedef struct gbsi_json_file {
    gbsi_text text;
    gbsi_json *value; /* [n] values; value[0] is the whole file */
    size_t n, capacity;
    char *pool; /* texts of names, strings and numbers */
    size_t n_pool;
} gbsi_json_file;

/* @param input the text; must last as long as `file`, which borrows it.
 * @param file out; to be freed if GBS_OK is returned. */
gbs_status gbsi_json_read(const gbsi_input *input, gbsi_json_file *file, gbs_error *err);
void gbsi_json_free(gbsi_json_file *file);

/* These functions return the elements of an array or object one after another. They return NULL
 * after the last element, or if the argument is NULL. */
const gbsi_json *gbsi_json_first(const gbsi_json *of);
const gbsi_json *gbsi_json_next(const gbsi_json *of, const gbsi_json *element);
/* @return the member called `name`. NULL if no member has this name, or if `object` is NULL or not
 * an object. If several members have the name, the first one is returned. */
const gbsi_json *gbsi_json_member(const gbsi_json *object, const char *name);

/* Fails with GBS_ERR_FORMAT and "NAME:LINE:COLUMN: found ..., expected ...". */
gbs_status gbsi_json_unexpected(const gbsi_json_file *file, const gbsi_json *value,
                                const char *expected, gbs_error *err);

#endif
