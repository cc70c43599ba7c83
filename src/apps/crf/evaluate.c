/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the true entities that labels find and miss, by the rules of the shared tasks of CoNLL. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "crf/model.h"

struct gbs_label_scores {
    double accuracy;
    uint64_t n_unseen; /* number of tokens whose true label the model does not have */
    size_t n; /* number of rows of scores: a row for all classes together, and a row for each class
                 that occurs */
    gbs_entity_score *entity;
    gbsi_dictionary classes; /* names of the classes */
};

/* A label, split into its class and its position in an entity. */
typedef struct part {
    uint32_t class;    /* number of the class, whose name follows "B-"; OUTSIDE for "O" */
    bool begins, ends; /* whether an entity always begins at the label (B, S), or ends (E, S) */
} part;

#define OUTSIDE UINT32_MAX

typedef struct evaluation {
    const gbs_crf *crf;
    const gbs_sequences *data;
    uint32_t column;
    const uint32_t *label;
    gbsi_dictionary unseen; /* true labels that the model does not have; their numbers follow the
                               numbers of the model's labels */
    bool phrases;           /* whether the labels are single letters, without a class */
    part *part;             /* [n_labels(e)] class and position of each label */
    uint32_t *truth;        /* [n_tokens] true labels */
    gbs_label_scores *scores;
} evaluation;

static uint32_t n_labels(const evaluation *e)
{
    return e->crf->labels.n + e->unseen.n;
}

/* @return the text of a label. @param n out: length of the text. */
static const char *label_text(const evaluation *e, uint32_t y, size_t *n)
{
    const uint32_t n_known = e->crf->labels.n;
    const gbsi_dictionary *of = y < n_known ? &e->crf->labels : &e->unseen;
    const uint32_t number = y < n_known ? y : y - n_known;
    *n = of->length[number];
    return of->text[number];
}

/* @return whether every label is one of `letters`, and some label is "B" or "I". */
static bool are_letters_of(const evaluation *e, const char *letters)
{
    bool begins = false;
    for (uint32_t y = 0; y < n_labels(e); y++) {
        size_t n = 0;
        const char *text = label_text(e, y, &n);
        if (n != 1 || text[0] == '\0' || strchr(letters, text[0]) == NULL) {
            return false;
        }
        begins = begins || text[0] == 'B' || text[0] == 'I';
    }
    return begins;
}

/* Splits a label into its letter and its class, as in "B-X". Labels without a class are a letter
 * alone: conlleval reads "B" as a phrase of a class without a name. */
static gbs_status take_label_apart(evaluation *e, uint32_t y, gbs_error *err)
{
    size_t n = 0;
    const char *text = label_text(e, y, &n);
    part *p = &e->part[y];
    *p = (part){.class = OUTSIDE};
    if (strcmp(text, "O") == 0) {
        return GBS_OK;
    }
    if (e->phrases || (n > 1 && text[1] == '-' && strchr("BIMESLU", text[0]) != NULL)) {
        p->begins = strchr("BSU", text[0]) != NULL;
        p->ends = strchr("ESLU", text[0]) != NULL;
        text += e->phrases ? 1 : 2;
        n -= e->phrases ? 1 : 2;
    }
    return gbsi_dictionary_add(&e->scores->classes, text, n, &p->class, err);
}

/* @return whether an entity ends at a label, or an entity begins at the next label. @param after
 * the next label; NULL if the sequence ends. */
static bool is_border(const part *p, const part *after)
{
    return after == NULL || p->class != after->class || p->ends || after->begins;
}

static void count_sequence(evaluation *e, size_t first, size_t end)
{
    gbs_entity_score *of = e->scores->entity + 1; /* counts of each class */
    bool same = false; /* whether the current true entity and the current entity of the model's
                          labels began at the same token */
    for (size_t t = first; t < end; t++) {
        const part *truth = &e->part[e->truth[t]];
        const part *found = &e->part[e->label[t]];
        const bool last = t + 1 == end;
        const bool truth_begins = t == first || is_border(&e->part[e->truth[t - 1]], truth);
        const bool found_begins = t == first || is_border(&e->part[e->label[t - 1]], found);
        const bool truth_ends = is_border(truth, last ? NULL : &e->part[e->truth[t + 1]]);
        const bool found_ends = is_border(found, last ? NULL : &e->part[e->label[t + 1]]);
        if (truth_begins || found_begins) {
            same = truth_begins && found_begins;
        }
        same = same && truth->class == found->class && truth->class != OUTSIDE;
        if (truth->class != OUTSIDE) {
            of[truth->class].n_true += truth_begins;
        }
        if (found->class != OUTSIDE) {
            of[found->class].n_found += found_begins;
            of[found->class].n_correct += same && truth_ends && found_ends;
        }
        same = same && !truth_ends && !found_ends;
    }
}

static void finish_score(gbs_entity_score *s)
{
    s->precision = s->n_found > 0 ? (double)s->n_correct / (double)s->n_found : 0.0;
    s->recall = s->n_true > 0 ? (double)s->n_correct / (double)s->n_true : 0.0;
    /* 2 p r / (p + r), where p = n_correct / n_found and r = n_correct / n_true */
    s->f1 = s->n_correct > 0 ? 2.0 * (double)s->n_correct / (double)(s->n_found + s->n_true) : 0.0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const gbs_entity_score *)a)->name, ((const gbs_entity_score *)b)->name);
}

/* Sorts the rows of scores: first the row for all classes together, then a row for each class that
 * occurs, by name. If the only class has no name, the row for all classes replaces the row for this
 * class. */
static void finish(gbs_label_scores *s)
{
    const uint32_t n_classes = s->classes.n;
    gbs_entity_score *all = &s->entity[0];
    s->n = 1;
    for (uint32_t c = 1; c <= n_classes; c++) {
        const gbs_entity_score of = s->entity[c];
        all->n_true += of.n_true;
        all->n_found += of.n_found;
        all->n_correct += of.n_correct;
        if (of.n_true + of.n_found > 0 && !(n_classes == 1 && of.name[0] == '\0')) {
            s->entity[s->n++] = of;
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        finish_score(&s->entity[i]);
    }
    qsort(s->entity + 1, s->n - 1, sizeof *s->entity, by_name);
}

/* Finds the true labels. A label that the model does not have gets a new number; the model never
 * gives a token this number. */
static gbs_status find_truth(evaluation *e, gbs_error *err)
{
    size_t n_right = 0;
    const gbsi_dictionary *labels = &e->crf->labels;
    for (size_t t = 0; t < e->data->n_tokens; t++) {
        const char *text = gbs_sequences_text(e->data, t, e->column);
        uint32_t y = gbsi_dictionary_find(labels, text, strlen(text));
        if (e->label[t] >= labels->n) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "found label %u of token %zu, expected less than %u", e->label[t], t,
                             labels->n);
        }
        if (y == GBSI_NOT_THERE) {
            GBSI_PASS(gbsi_dictionary_add(&e->unseen, text, strlen(text), &y, err));
            y += labels->n;
            e->scores->n_unseen++;
        }
        e->truth[t] = y;
        n_right += y == e->label[t];
    }
    e->scores->accuracy = (double)n_right / (double)e->data->n_tokens;
    return GBS_OK;
}

static gbs_status find_classes(evaluation *e, gbs_error *err)
{
    gbs_label_scores *s = e->scores;
    e->phrases = are_letters_of(e, "BIESO") || are_letters_of(e, "BMESO");
    e->part = gbsi_alloc_array(n_labels(e), sizeof *e->part);
    GBSI_PASS(GBSI_HAVE(err, "labels", e->part));
    for (uint32_t y = 0; y < n_labels(e); y++) {
        GBSI_PASS(take_label_apart(e, y, err));
    }
    s->entity = gbsi_alloc_array_zero(s->classes.n + (size_t)1, sizeof *s->entity);
    GBSI_PASS(GBSI_HAVE(err, "scores", s->entity));
    s->entity[0].name = "";
    for (uint32_t c = 0; c < s->classes.n; c++) {
        s->entity[c + 1].name = s->classes.text[c];
    }
    return GBS_OK;
}

gbs_status gbs_label_scores_new(const gbs_crf *crf, const gbs_sequences *data, uint32_t column,
                                const uint32_t *label, gbs_label_scores **scores, gbs_error *err)
{
    GBSI_NEED(crf, data, label, scores);
    gbs_status status = GBS_OK;
    evaluation e = {.crf = crf, .data = data, .column = column, .label = label};
    if (column >= data->n_columns) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: found %u column%s, expected column %u of labels", data->name,
                         data->n_columns, gbsi_plural(data->n_columns), column);
    }
    e.scores = gbsi_alloc_zero(sizeof *e.scores);
    e.truth = gbsi_alloc_array(data->n_tokens, sizeof *e.truth);
    GBSI_TRY(GBSI_HAVE(err, "labels", e.scores, e.truth));
    GBSI_TRY(find_truth(&e, err));
    GBSI_TRY(find_classes(&e, err));
    for (size_t s = 0; s < data->n; s++) {
        count_sequence(&e, data->first[s], data->first[s + 1]);
    }
    finish(e.scores);
    *scores = e.scores;
    e.scores = NULL;

cleanup:
    gbs_label_scores_free(e.scores);
    gbsi_dictionary_free(&e.unseen);
    GBSI_FREE(e.part, e.truth);
    return status;
}

void gbs_label_scores_free(gbs_label_scores *scores)
{
    if (scores != NULL) {
        gbsi_dictionary_free(&scores->classes);
        GBSI_FREE(scores->entity, scores);
    }
}

double gbs_label_scores_accuracy(const gbs_label_scores *scores)
{
    return scores == NULL ? (double)NAN : scores->accuracy;
}

const gbs_entity_score *gbs_label_scores_entities(const gbs_label_scores *scores, size_t *n)
{
    if (n != NULL) {
        *n = scores == NULL ? 0 : scores->n;
    }
    return scores == NULL ? NULL : scores->entity;
}

uint64_t gbs_label_scores_unseen(const gbs_label_scores *scores)
{
    return scores == NULL ? 0 : scores->n_unseen;
}
