/* SPDX-License-Identifier: Apache-2.0 */
/* Reads UAI evidence, which has two generations. They have the same file name extension and no
 * marker, but the number of tokens usually tells which form a file has. The single form is N and
 * then N pairs of a variable and a state. The multiple form is the number of samples S and then S
 * samples in the single form. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answers/evidence_set.h"
#include "base/memory.h"
#include "base/plural.h"
#include "store/model.h"

typedef struct evidence_file {
    gbsi_text *text;
    const gbs_model *model;
    void *value; /* uint64_t [n] */
    size_t value_capacity;
    void *place; /* const char * [n] */
    size_t place_capacity;
    size_t n;
    size_t *seen;    /* [n_variables] 1 + index of the last sample that names the variable */
    uint64_t *state; /* [n_variables] state of the variable in that sample */
} evidence_file;

/* One way to interpret the tokens of an evidence file. */
typedef struct reading {
    bool possible;
    size_t n_repeats; /* number of times that a sample repeats a variable with the same state */
    size_t n_samples;
    /* index of the token that rules out this reading; SIZE_MAX if no single token rules it out */
    size_t wrong;
    char reason[160]; /* why the file cannot be read this way */
} reading;

static uint64_t value_at(const evidence_file *f, size_t i)
{
    return ((const uint64_t *)f->value)[i];
}

static gbsi_token token_at(const evidence_file *f, size_t i)
{
    return (gbsi_token){((const char *const *)f->place)[i], 1};
}

static gbs_status read_tokens(evidence_file *f, gbs_error *err)
{
    for (;;) {
        gbsi_token token = gbsi_text_peek(f->text);
        if (token.n == 0) {
            return GBS_OK;
        }
        GBSI_PASS(gbsi_reserve(&f->value, &f->value_capacity, f->n + 1, sizeof(uint64_t),
                               f->text->name, err));
        GBSI_PASS(gbsi_reserve(&f->place, &f->place_capacity, f->n + 1, sizeof(const char *),
                               f->text->name, err));
        GBSI_PASS(gbsi_text_integer(f->text,
                                    "a number (of samples, observations, a variable or a "
                                    "state), or lines of NAME=STATE",
                                    UINT64_MAX, &((uint64_t *)f->value)[f->n], err));
        ((const char **)f->place)[f->n++] = token.at;
    }
    return GBS_OK;
}

/* Checks the pairs of a sample that begin at token `first`. If a pair is wrong, r->reason says
 * why. */
static void check_pairs(evidence_file *f, size_t sample, size_t first, size_t n_pairs, reading *r)
{
    for (size_t i = first; i < first + 2 * n_pairs && r->possible; i += 2) {
        uint64_t v = value_at(f, i);
        uint64_t state = value_at(f, i + 1);
        if (v >= f->model->n_variables) {
            r->possible = false;
            r->wrong = i;
            (void)snprintf(
                r->reason, sizeof r->reason, "found variable %llu, but the model has %u variable%s",
                (unsigned long long)v, f->model->n_variables, gbsi_plural(f->model->n_variables));
        } else if (state >= f->model->arity[v]) {
            r->possible = false;
            r->wrong = i + 1;
            (void)snprintf(r->reason, sizeof r->reason,
                           "found state %llu of variable %llu, which has %u state%s",
                           (unsigned long long)state, (unsigned long long)v, f->model->arity[v],
                           gbsi_plural(f->model->arity[v]));
        } else if (f->seen[v] != sample + 1) {
            f->seen[v] = sample + 1;
            f->state[v] = state;
        } else if (f->state[v] == state) {
            r->n_repeats++;
        } else {
            r->possible = false;
            r->wrong = i;
            (void)snprintf(r->reason, sizeof r->reason,
                           "variable %llu observed twice, in states %llu and %llu",
                           (unsigned long long)v, (unsigned long long)f->state[v],
                           (unsigned long long)state);
        }
    }
}

/* @return the index of the first token behind the n_samples samples of a file in the multiple form;
 *   SIZE_MAX if there are too few tokens. */
static size_t find_end(const evidence_file *f, uint64_t n_samples)
{
    size_t at = 1;
    for (uint64_t s = 0; s < n_samples; s++) {
        if (at >= f->n || value_at(f, at) > (f->n - at - 1) / 2) {
            return SIZE_MAX;
        }
        at += 1 + 2 * (size_t)value_at(f, at);
    }
    return at;
}

static void forget(evidence_file *f)
{
    memset(f->seen, 0, f->model->n_variables * sizeof *f->seen);
}

static reading try_single(evidence_file *f)
{
    reading r = {.possible = true, .n_samples = 1, .wrong = SIZE_MAX};
    uint64_t n_pairs = value_at(f, 0);
    if (n_pairs > f->n || f->n != 1 + 2 * (size_t)n_pairs) {
        r.possible = false;
        (void)snprintf(r.reason, sizeof r.reason, "%llu pair%s announced, %zu number%s follow",
                       (unsigned long long)n_pairs, gbsi_plural(n_pairs), f->n - 1,
                       gbsi_plural(f->n - 1));
        return r;
    }
    forget(f);
    check_pairs(f, 0, 1, (size_t)n_pairs, &r);
    return r;
}

static reading try_multi(evidence_file *f)
{
    reading r = {.possible = true, .wrong = SIZE_MAX};
    uint64_t n_samples = value_at(f, 0);
    if (n_samples >= f->n || find_end(f, n_samples) != f->n) {
        r.possible = false;
        (void)snprintf(r.reason, sizeof r.reason,
                       "%llu sample%s announced, which do not fit the %zu number%s that follow",
                       (unsigned long long)n_samples, gbsi_plural(n_samples), f->n - 1,
                       gbsi_plural(f->n - 1));
        return r;
    }
    r.n_samples = (size_t)n_samples;
    forget(f);
    size_t at = 1;
    for (size_t s = 0; s < r.n_samples && r.possible; s++) {
        size_t n_pairs = (size_t)value_at(f, at);
        check_pairs(f, s, at + 1, n_pairs, &r);
        at += 1 + 2 * n_pairs;
    }
    return r;
}

/* Refuses a file that fits neither generation. The message names the place of the wrong token,
 * or the beginning of the file if no single token is wrong. */
static gbs_status refuse_both(const evidence_file *f, const reading *single, const reading *multi,
                              gbs_error *err)
{
    size_t at = single->wrong != SIZE_MAX ? single->wrong : multi->wrong;
    return gbsi_text_fail(f->text, token_at(f, at == SIZE_MAX ? 0 : at), err,
                          "found neither evidence of one sample (%s) nor of several (%s)",
                          single->reason, multi->reason);
}

static gbs_status choose(evidence_file *f, bool *multi, size_t *n_repeats, gbs_error *err)
{
    const char *named = f->text->options->evidence_format;
    reading one = try_single(f);
    reading several = try_multi(f);
    if (named != NULL) {
        *multi = strcmp(named, "multi") == 0;
        if (!*multi && strcmp(named, "single") != 0) {
            return gbsi_fail(
                err, GBS_ERR_ARGUMENT,
                "evidence format '%.100s' is not known, expected single, multi, tab or names",
                named);
        }
        const reading *r = *multi ? &several : &one;
        *n_repeats = r->n_repeats;
        return r->possible
                   ? GBS_OK
                   : gbsi_text_fail(f->text, token_at(f, r->wrong == SIZE_MAX ? 0 : r->wrong), err,
                                    "found %s, expected evidence of the form '%s'", r->reason,
                                    named);
    }
    /* A repetition is a mistake in the file or a sign of the wrong reading. */
    if (one.possible && several.possible && (one.n_repeats == 0) != (several.n_repeats == 0)) {
        one.possible = one.n_repeats == 0;
        several.possible = several.n_repeats == 0;
    }
    if (!one.possible && !several.possible) {
        return refuse_both(f, &one, &several, err);
    }
    if (one.possible && several.possible && f->n > 1) { /* a lone 0 means the same in either form */
        return gbsi_text_fail(f->text, token_at(f, 0), err,
                              "found evidence that can be read as one sample or as %zu sample%s: "
                              "give --evidence-format single or multi",
                              several.n_samples, gbsi_plural(several.n_samples));
    }
    *multi = !one.possible;
    *n_repeats = *multi ? several.n_repeats : one.n_repeats;
    return GBS_OK;
}

/* Adds a sample. The number of its pairs is token `at`. */
static gbs_status add_sample(const evidence_file *f, gbsi_evidence_set *set, size_t at,
                             gbs_error *err)
{
    size_t end = at + 1 + 2 * (size_t)value_at(f, at);
    GBSI_PASS(gbsi_evidence_set_begin(set, err));
    for (size_t i = at + 1; i < end; i += 2) {
        gbsi_observation observation = {(uint32_t)value_at(f, i), (uint32_t)value_at(f, i + 1),
                                        token_at(f, i).at};
        GBSI_PASS(gbsi_evidence_set_add(set, observation, err));
    }
    return GBS_OK;
}

static gbs_status use_tokens(evidence_file *f, gbsi_evidence_set *set, gbs_error *err)
{
    bool multi = false;
    size_t n_repeats = 0;
    if (f->n == 0) {
        gbsi_text_warn(f->text, "the file is empty: no evidence");
        return gbsi_evidence_set_begin(set, err);
    }
    GBSI_PASS(choose(f, &multi, &n_repeats, err));
    if (n_repeats != 0) {
        gbsi_text_warn(f->text, "%zu observation%s repeated", n_repeats,
                       gbsi_plural_of(n_repeats, " is", "s are"));
    }
    if (!multi || f->n == 1) { /* a lone 0 means no sample or an empty sample, which are equal */
        return add_sample(f, set, 0, err);
    }
    for (size_t at = 1; at < f->n; at += 1 + 2 * (size_t)value_at(f, at)) {
        GBSI_PASS(add_sample(f, set, at, err));
    }
    return GBS_OK;
}

gbs_status gbsi_evidence_read_uai(gbsi_evidence_set *set, gbs_error *err)
{
    gbs_status status = GBS_OK;
    evidence_file f = {.text = &set->text, .model = set->model};
    size_t n = f.model->n_variables;
    f.seen = gbsi_alloc_array(n, sizeof *f.seen);
    f.state = gbsi_alloc_array(n, sizeof *f.state);
    GBSI_TRY(GBSI_HAVE(err, set->name, f.seen, f.state));
    f.text->comment = '#';
    f.text->is_glued = true;
    GBSI_TRY(read_tokens(&f, err));
    status = use_tokens(&f, set, err);

cleanup:
    GBSI_FREE(f.seen, f.state, f.value, f.place);
    return status;
}
