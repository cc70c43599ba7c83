/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that read results which this library wrote as CSV, JSON or arrays. The readers of these
 * forms add names, labels and numbers to a gbsi_table; gbsi_table_take() makes a result of them. */
#ifndef GBSI_ANSWERS_RESULT_TABLE_H
#define GBSI_ANSWERS_RESULT_TABLE_H

#include "answers/answers.h"
#include "answers/result.h"

/* A list of texts. */
typedef struct gbsi_texts {
    void *pool; /* char: the texts, each ended by 0 */
    void *at;   /* size_t [n]: index in `pool` at which each text begins */
    size_t pool_capacity, at_capacity, n_bytes, n;
} gbsi_texts;

typedef struct gbsi_table {
    gbsi_text *text;
    char separator; /* separator of columns in CSV */
    char *field;    /* decoded text of the last cell; has room for all bytes of the file */
    size_t n;
    gbsi_token shown;   /* number of bytes that the last cell has in the file, before decoding */
    void *name, *label; /* char: texts, each ended by 0 */
    size_t name_capacity, n_name_bytes, label_capacity, n_label_bytes;
    void *offset, *p, *error; /* size_t [n + 1], double, double */
    size_t offset_capacity, p_capacity, error_capacity, n_p, n_errors, n_labels;
    uint32_t n_variables;
    size_t last_name; /* index in `name` at which the last name begins */
    /* Of the joint table that is being read: */
    gbsi_texts names;  /* names of its variables */
    gbsi_texts states; /* CSV: labels of one row. JSON: labels of all states of all variables */
    void *first;       /* JSON: size_t [names.n]: index in `states` of each variable's state 0 */
    void *order;       /* named [names.n]: the variables, sorted by their names */
    void *picked;      /* size_t [names.n]: index in `states` of each variable's label */
    size_t first_capacity, order_capacity, picked_capacity;
    void *joined; /* char: the texts of a row in one text */
    size_t joined_capacity;
    /* Of an archive of arrays: */
    const gbsi_result_arrays *arrays;
    uint32_t n_labelled; /* number of variables whose states have labels so far */
} gbsi_table;

/* ---- result_table.c ----------------------------------------------------------------------- */

/* A function that adds the last field, r->field[0 .. n). */
typedef gbs_status gbsi_table_add(gbsi_table *r, gbs_error *err);

bool gbsi_table_is(const gbsi_table *r, const char *text); /* compares the last field */
gbsi_table_add gbsi_table_add_variable;    /* adds the field as the name of the next variable */
gbsi_table_add gbsi_table_add_label;       /* adds the field as the label of the next state */
gbsi_table_add gbsi_table_add_probability; /* adds the field as a number */
/* Adds a standard error. An empty field in CSV, or null in JSON, means that the error is not
 * known. */
gbsi_table_add gbsi_table_add_error;
/* Whether the last field is the name of the last variable. */
bool gbsi_table_is_last_variable(const gbsi_table *r);
/* Call add() with another text, or with the digits of a number, in place of the last field. */
gbs_status gbsi_table_add_text(gbsi_table *r, gbsi_table_add *add, const char *text, size_t n,
                               gbs_error *err);
gbs_status gbsi_table_add_number(gbsi_table *r, gbsi_table_add *add, uint64_t number,
                                 gbs_error *err);
/* Gives numbers as names to all variables of r->arrays, if no variable has a name, and numbers
 * as labels to their states, if no state has a label. */
gbs_status gbsi_table_number_rest(gbsi_table *r, gbs_error *err);
/* Makes the result.
 * @param is_map whether the table has states and no probabilities. */
gbs_status gbsi_table_take(gbsi_table *r, bool is_map, gbs_result *result, gbs_error *err);
void gbsi_table_free(gbsi_table *r);

/* ---- result_joint.c: a joint table as one variable whose states are the joint states -------- */

/* Makes the lists `names` and `states` empty. */
void gbsi_table_joint_begin(gbsi_table *r);
/* Adds the last field to one of the two lists. */
gbs_status gbsi_table_joint_add(gbsi_table *r, gbsi_texts *to, gbs_error *err);
/* Adds a variable whose name lists the names of the joint table, sorted, as a line of CSV. */
gbs_status gbsi_table_joint_name(gbsi_table *r, gbs_error *err);
/* Adds the label of a row: the labels states[picked[i]] of all variables i in the same order.
 * @param picked [names.n]; NULL if `states` has the labels of this row alone. */
gbs_status gbsi_table_joint_label(gbsi_table *r, const size_t *picked, gbs_error *err);

/* ---- result_csv.c, result_json.c ----------------------------------------------------------- */

/* @return the separator of the columns, if the text begins with the line of names of marginals or
 * of a state; an index without a name may precede these columns. Otherwise 0. */
char gbsi_csv_separator(const gbsi_text *text);
/* @return the separator of the columns, if the first line is that of a joint table. Otherwise 0. */
char gbsi_csv_joint_separator(const gbsi_text *text);
/* Read CSV with the columns variable,state,probability,... or variable,state, or joint tables. */
gbs_status gbsi_result_read_csv(gbsi_table *r, bool *is_map, gbs_error *err);
gbs_status gbsi_result_read_joints(gbsi_table *r, gbs_error *err);

/* Reads a result in JSON.
 * @param log_z, error out: set for results of logz only. */
gbs_status gbsi_result_read_json(gbsi_table *r, bool *is_map, double *log_density, double *log_z,
                                 double *error, gbs_error *err);
/* Reads the names and labels of r->arrays from the member meta of an archive of arrays. */
gbs_status gbsi_result_read_meta(gbsi_table *r, gbs_error *err);

/* ---- result_arrays.c ----------------------------------------------------------------------- */

/* Reads marginals in an archive of arrays, .npz. */
gbs_status gbsi_result_read_npz(const char *path, const gbs_read_options *options,
                                gbs_result *result, gbs_error *err);

#endif
