/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, reads and sets the options of questions by name. The rows are made from
 * questions/NAME.def, and each row has the place of its field in the question's struct. */
#include "options/questions.h"

#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/status.h"
#include "gibbsite/crf.h"
#include "gibbsite/denoise.h"
#include "gibbsite/fit.h"
#include "gibbsite/generate.h"
#include "gibbsite/ground.h"
#include "gibbsite/machines.h"
#include "gibbsite/segment.h"
#include "options/needs.h"
#include "options/options.h"

/* clang-format off */
#define GBS_ENUM(type) static const gbs_choice choices_of_##type[] = {
#define GBS_CHOICE(symbol, number, name, help) {(number), name, help},
#define GBS_ENUM_END(type) };
#include "gibbsite/question_enums.def"
#undef GBS_ENUM
#undef GBS_CHOICE
#undef GBS_ENUM_END

/* The names of all choices of an option as a text such as "|pcd|cd"; gbs_option.choices is this
 * text without its first character. */
#define GBS_ENUM(type) static const char words_of_##type[] =
#define GBS_CHOICE(symbol, number, name, help) "|" name
#define GBS_ENUM_END(type) ;
#include "gibbsite/question_enums.def"
#undef GBS_ENUM
#undef GBS_CHOICE
#undef GBS_ENUM_END
/* clang-format on */

/* A row of a question's struct: an option of the question, or an option of the run that is kept in
 * this struct. */
typedef struct question_row {
    const char *run; /* name of the option of the run; NULL: an option of the question */
    gbsi_option own; /* row of the option; for an option of the run, only its members `offset` and
                        `width` are set */
    const char *needed;
} question_row;

struct gbs_question {
    const char *name, *type; /* for example "learn rbm" and "gbs_rbm_options" */
    size_t size;             /* size of the struct */
    const question_row *rows;
    size_t n_rows;
};

#include "options/question_rows.h"

/* Questions whose structs have fields for the options of the run that their tables name. */
#define RUN_ROW FIELD_OF_RUN

#define OPTIONS gbs_fit_options
static const question_row rows_of_fit[] = {
#include "gibbsite/questions/fit.def"
};
#undef OPTIONS

#define OPTIONS gbs_aspect_options
static const question_row rows_of_learn_aspects[] = {
#include "gibbsite/questions/learn_aspects.def"
};
#undef OPTIONS

#define OPTIONS gbs_learn_options
static const question_row rows_of_learn_weights[] = {
#include "gibbsite/questions/learn_weights.def"
};
#undef OPTIONS

#define OPTIONS gbs_potts_options
static const question_row rows_of_learn_potts[] = {
#include "gibbsite/questions/learn_potts.def"
};
#undef OPTIONS

#define OPTIONS gbs_crf_learn_options
static const question_row rows_of_learn_crf[] = {
#include "gibbsite/questions/learn_crf.def"
};
#undef OPTIONS

#define OPTIONS gbs_ground_options
static const question_row rows_of_ground[] = {
#include "gibbsite/questions/ground.def"
};
#undef OPTIONS

#define OPTIONS gbs_rbm_options
static const question_row rows_of_learn_rbm[] = {
#include "gibbsite/questions/learn_rbm.def"
};
#undef OPTIONS

/* Questions whose structs lack such fields. Their callers pass a separate gbs_run_options, or the
 * program sets one limit for all its work. If the struct nevertheless has a field for an option of
 * the run, this field has a row GBS_BYNAME_RUN. */
#undef RUN_ROW
#define RUN_ROW NO_FIELD

#define OPTIONS gbs_denoise_options
static const question_row rows_of_denoise[] = {
#include "gibbsite/questions/denoise.def"
};
#undef OPTIONS

#define OPTIONS gbs_generate_bayes_options
static const question_row rows_of_generate_bayes[] = {
#include "gibbsite/questions/generate_bayes.def"
};
#undef OPTIONS

#define OPTIONS gbs_generate_complete_options
static const question_row rows_of_generate_complete[] = {
#include "gibbsite/questions/generate_complete.def"
};
#undef OPTIONS

#define OPTIONS gbs_generate_ising_options
static const question_row rows_of_generate_ising[] = {
#include "gibbsite/questions/generate_ising.def"
};
#undef OPTIONS

#define OPTIONS gbs_generate_potts_options
static const question_row rows_of_generate_potts[] = {
#include "gibbsite/questions/generate_potts.def"
};
#undef OPTIONS

#define OPTIONS gbs_generate_powerlaw_options
static const question_row rows_of_generate_powerlaw[] = {
#include "gibbsite/questions/generate_powerlaw.def"
};
#undef OPTIONS

#define OPTIONS gbs_generate_rbm_options
static const question_row rows_of_generate_rbm[] = {
#include "gibbsite/questions/generate_rbm.def"
};
#undef OPTIONS

#define OPTIONS gbs_generate_regular_options
static const question_row rows_of_generate_regular[] = {
#include "gibbsite/questions/generate_regular.def"
};
#undef OPTIONS

#define OPTIONS gbs_generate_ring_options
static const question_row rows_of_generate_ring[] = {
#include "gibbsite/questions/generate_ring.def"
};
#undef OPTIONS

#define OPTIONS gbs_segment_options
static const question_row rows_of_segment[] = {
#include "gibbsite/questions/segment.def"
};
#undef OPTIONS

/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are members of an initialiser */
static const gbs_question questions[] = {
#define GBS_QUESTION(table, question_name, options) \
    {.name = question_name,                         \
     .type = #options,                              \
     .size = sizeof(options),                       \
     .rows = rows_of_##table,                       \
     .n_rows = sizeof rows_of_##table / sizeof rows_of_##table[0]},
#include "gibbsite/questions.def"
#undef GBS_QUESTION
};
/* NOLINTEND(bugprone-macro-parentheses) */

enum { N_QUESTIONS = sizeof questions / sizeof questions[0] };

/* ---- lists of questions and options --------------------------------------------------------- */

size_t gbs_question_count(void)
{
    return N_QUESTIONS;
}

const gbs_question *gbs_question_at(size_t index)
{
    return index < N_QUESTIONS ? &questions[index] : NULL;
}

const gbs_question *gbs_question_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < N_QUESTIONS; i++) {
        if (gbsi_same_name(questions[i].name, name, ' ')) {
            return &questions[i];
        }
    }
    return NULL;
}

const char *gbs_question_name(const gbs_question *question)
{
    return question == NULL ? NULL : question->name;
}

size_t gbs_question_size(const gbs_question *question)
{
    return question == NULL ? 0 : question->size;
}

size_t gbs_question_n_options(const gbs_question *question)
{
    return question == NULL ? 0 : question->n_rows;
}

/* Returns the option of a row, with the place of its field in the question's struct. */
static gbsi_option option_of(const question_row *row)
{
    gbsi_option option = row->own;
    if (row->run != NULL) {
        option = *gbsi_option_find(row->run);
        option.offset = row->own.offset;
        option.width = row->own.width;
    }
    return option;
}

const gbs_option *gbs_question_option(const gbs_question *question, size_t index)
{
    if (question == NULL || index >= question->n_rows) {
        return NULL;
    }
    const question_row *row = &question->rows[index];
    return row->run != NULL ? gbs_option_find(row->run) : &row->own.shown;
}

const gbs_option *gbs_question_find_option(const gbs_question *question, const char *name)
{
    for (size_t i = 0; name != NULL && i < gbs_question_n_options(question); i++) {
        const gbs_option *option = gbs_question_option(question, i);
        if (gbsi_same_name(option->name, name, '-')) {
            return option;
        }
    }
    return NULL;
}

/* ---- values ------------------------------------------------------------------------------ */

gbs_status gbs_question_init(const gbs_question *question, void *options, size_t size,
                             gbs_error *err)
{
    GBSI_NEED(question, options);
    if (size < question->size) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: found %zu bytes, expected at least %zu",
                         question->type, size, question->size);
    }
    memset(options, 0, size);
    memcpy(options, &size, sizeof size); /* `size` is the first field of every struct */
    for (size_t i = 0; i < question->n_rows; i++) {
        const gbsi_option option = option_of(&question->rows[i]);
        gbsi_option_put_default(&option, options);
    }
    return GBS_OK;
}

static gbs_status find(const gbs_question *question, const char *name, gbsi_option *option,
                       gbs_error *err)
{
    for (size_t i = 0; i < question->n_rows; i++) {
        *option = option_of(&question->rows[i]);
        if (gbsi_same_name(option->shown.name, name, '-')) {
            return GBS_OK;
        }
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s has no option \"%.100s\"", question->name, name);
}

gbs_status gbs_question_set(const gbs_question *question, void *options, const char *name,
                            const char *text, gbs_error *err)
{
    GBSI_NEED(question, options, name);
    gbsi_option option;
    const gbs_status status = find(question, name, &option, err);
    return status < 0 ? status : gbsi_option_put_text(&option, options, text, err);
}

gbs_status gbs_question_get(const gbs_question *question, const void *options, const char *name,
                            char *text, size_t size, gbs_error *err)
{
    GBSI_NEED(question, options, name);
    gbsi_option option;
    const gbs_status status = find(question, name, &option, err);
    return status < 0 ? status : gbsi_option_get_text(&option, options, text, size, err);
}

/* ---- what options need ------------------------------------------------------------------- */

typedef struct asked {
    const gbs_question *question;
    const void *options;
} asked;

/* Whether option `name` differs from its default or, with `values`, has one of them. The result is
 * GBSI_HELD_ELSEWHERE if `name` is not an option of the struct. */
static gbsi_held holds(const void *context, const char *name, const char *values)
{
    const asked *a = context;
    gbsi_option option;
    char value[64];
    if (find(a->question, name, &option, NULL) < 0) {
        return GBSI_HELD_ELSEWHERE;
    }
    if (values == NULL) {
        return gbsi_option_has_default(&option, a->options) ? GBSI_HELD_NO : GBSI_HELD_YES;
    }
    (void)gbsi_option_get_text(&option, a->options, value, sizeof value, NULL);
    return gbsi_is_among(value, values) ? GBSI_HELD_YES : GBSI_HELD_NO;
}

/* Checks all conditions of a row, if its value is not the default. */
static gbs_status check_needed(const gbs_question *question, const question_row *row,
                               const void *options, gbs_error *err)
{
    const gbsi_option option = option_of(row);
    const asked a = {question, options};
    char said[GBSI_SAID_SIZE];
    return gbsi_option_has_default(&option, options) ||
                   gbsi_needs_hold(row->needed, holds, &a, said)
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT, "--%s %s", option.shown.name, said);
}

gbs_status gbsi_question_settle(const char *name, const void *given, void *taken, gbs_error *err)
{
    const gbs_question *question = gbs_question_find(name);
    gbs_status status = gbsi_struct_in(given, question->size, question->type, err);
    memset(taken, 0, question->size);
    if (status >= 0 && given != NULL) {
        memcpy(taken, given, question->size);
    }
    for (size_t i = 0; i < question->n_rows && status >= 0; i++) {
        const gbsi_option option = option_of(&question->rows[i]);
        status = gbsi_option_settle(&option, taken, err);
    }
    for (size_t i = 0; i < question->n_rows && status >= 0; i++) {
        status = check_needed(question, &question->rows[i], taken, err);
    }
    return status;
}
