/* SPDX-License-Identifier: Apache-2.0 */
/* Adds facts of similarity predicates NAME0, NAME20, ... that a database lacks. The facts follow
 * from the words that the names of two constants share. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ground/grounding.h"

/* The words of each constant of a type, as sorted numbers without repeats. */
typedef struct words {
    gbsi_name_map map;
    char *text; /* text of all names in lower case */
    uint32_t *word;
    size_t *start;    /* [n + 1] where the words of each constant begin in `word` */
    uint32_t n_words; /* number of different words */
    uint32_t *uses;   /* [n_words] number of constants that have the word */
} words;

static void words_free(words *w)
{
    gbsi_name_map_free(&w->map);
    GBSI_FREE(w->text, w->word, w->start, w->uses);
}

/* ---- words of a type ------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* @return whether c is a letter, a digit, or a byte beyond ASCII, which is part of a letter in
 * UTF-8. */
static bool is_letter(char c)
{
    return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || is_digit(c);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Writes a name in lower case to w->text + used, and splits this text into words. */
static gbs_status split(words *w, gbsi_token name, size_t used, size_t *n, gbs_error *err)
{
    char *text = w->text + used;
    const size_t first = *n;
    size_t kept = first;
    for (size_t i = 0; i < name.n; i++) {
        text[i] = lower(name.at[i]);
    }
    for (size_t i = 0; i < name.n;) {
        size_t end = i;
        uint32_t id = w->n_words;
        bool added = false;
        while (end < name.n && is_letter(text[end])) {
            end++;
        }
        if (end > i) {
            GBSI_PASS(gbsi_name_map_add(&w->map, 0, text + i, end - i, id, &added, err));
            (void)gbsi_name_map_find(&w->map, 0, text + i, end - i, &id);
            w->n_words += added;
            w->word[(*n)++] = id;
        }
        i = end + 1;
    }
    qsort(w->word + first, *n - first, sizeof *w->word, by_number);
    for (size_t i = first; i < *n; i++) {
        if (kept == first || w->word[kept - 1] != w->word[i]) {
            w->word[kept++] = w->word[i];
        }
    }
    *n = kept;
    return GBS_OK;
}

/* Drops the words that all constants have, such as a prefix: they distinguish nothing. */
static void drop_common(words *w, uint32_t n_constants)
{
    size_t kept = 0;
    size_t begin = 0;
    for (size_t i = 0; i < w->start[n_constants]; i++) {
        w->uses[w->word[i]]++;
    }
    for (uint32_t a = 0; a < n_constants; a++) {
        const size_t end = w->start[a + 1];
        for (size_t i = begin; i < end; i++) {
            if (w->uses[w->word[i]] < n_constants) {
                w->word[kept++] = w->word[i];
            }
        }
        begin = end;
        w->start[a + 1] = kept;
    }
}

static gbs_status words_of(words *w, const gbsi_logic_type *type, gbs_error *err)
{
    size_t n_bytes = 0;
    size_t used = 0;
    size_t n = 0;
    for (uint32_t a = 0; a < type->n; a++) {
        n_bytes += type->constant[a].n;
    }
    w->text = gbsi_alloc(n_bytes + 1);
    w->word = gbsi_alloc_array(n_bytes + 1, sizeof *w->word);
    w->start = gbsi_alloc_array_zero((size_t)type->n + 1, sizeof *w->start);
    GBSI_PASS(GBSI_HAVE(err, "words", w->text, w->word, w->start));
    for (uint32_t a = 0; a < type->n; a++) {
        GBSI_PASS(split(w, type->constant[a], used, &n, err));
        w->start[a + 1] = n;
        used += type->constant[a].n;
    }
    w->uses = gbsi_alloc_array_zero((size_t)w->n_words + 1, sizeof *w->uses);
    GBSI_PASS(GBSI_HAVE(err, "words", w->uses));
    if (type->n > 1) {
        drop_common(w, type->n);
    }
    return GBS_OK;
}

/* Counts the words that both names have, and the words that at least one of them has. */
static void compare(const words *w, uint32_t a, uint32_t b, size_t *both, size_t *either)
{
    size_t i = w->start[a];
    size_t j = w->start[b];
    *both = 0;
    while (i < w->start[a + 1] && j < w->start[b + 1]) {
        const uint32_t x = w->word[i];
        const uint32_t y = w->word[j];
        *both += x == y;
        i += x <= y;
        j += y <= x;
    }
    *either = w->start[a + 1] - w->start[a] + w->start[b + 1] - w->start[b] - *both;
}

/* ---- predicates ----------------------------------------------------------------------------- */

enum { MOST_BANDS = 101 };

typedef struct bands {
    uint32_t predicate[MOST_BANDS]; /* [percent] number of the predicate; UINT32_MAX: none */
    uint32_t type; /* type of both arguments; UINT32_MAX: no predicate has been found yet */
} bands;

static gbs_status take(const gbsi_program *p, uint32_t id, unsigned percent, bands *found,
                       gbs_error *err)
{
    const gbsi_predicate *q = &p->predicate[id];
    const bool pair = q->n_arguments == 2 && q->type[0] == q->type[1] &&
                      (found->type == UINT32_MAX || found->type == q->type[0]);
    if (!pair) {
        return gbsi_text_fail(p->text, q->name, err,
                              "found a similarity predicate of other arguments, expected two of "
                              "one type");
    }
    if (q->n_facts != 0 || q->open) {
        return gbsi_text_fail(p->text, q->name, err,
                              "found a similarity predicate %s, expected one that is computed from "
                              "names",
                              q->open ? "among the query predicates"
                                      : "of which the database has facts");
    }
    found->type = q->type[0];
    found->predicate[percent] = id;
    return GBS_OK;
}

/* Finds the predicates whose names are NAME followed by a number of percent. */
static gbs_status find_bands(const gbsi_program *p, gbsi_token name, bands *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    found->type = UINT32_MAX;
    for (unsigned k = 0; k < MOST_BANDS; k++) {
        found->predicate[k] = UINT32_MAX;
    }
    for (uint32_t id = 0; id < p->n_predicates; id++) {
        const gbsi_token own = p->predicate[id].name;
        unsigned percent = 0;
        size_t i = name.n;
        if (own.n <= name.n || own.n > name.n + 3 || memcmp(own.at, name.at, name.n) != 0) {
            continue;
        }
        for (; i < own.n && is_digit(own.at[i]); i++) {
            percent = percent * 10 + (unsigned)(own.at[i] - '0');
        }
        if (i == own.n && percent < MOST_BANDS) {
            GBSI_TRY(take(p, id, percent, found, err));
        }
    }
    if (found->type == UINT32_MAX) {
        char shown[GBSI_SHOWN];
        status = gbsi_fail(err, GBS_ERR_FORMAT,
                           "%s: found the similarity predicates %s, expected a name to which "
                           "declared predicates add a number from 0 to 100",
                           p->text->name, gbsi_token_show(name, shown));
    }

cleanup:
    return status;
}

/* Adds a fact for every pair of constants: the fact of the highest band that the pair's share of
 * common words reaches. */
static gbs_status add_facts(gbsi_grounding *g, const bands *found, const words *w, gbs_error *err)
{
    uint32_t pair[2];
    const uint32_t n = g->program.type[found->type].n;
    for (pair[0] = 0; pair[0] < n; pair[0]++) {
        for (pair[1] = 0; pair[1] < n; pair[1]++) {
            size_t both = 0;
            size_t either = 0;
            compare(w, pair[0], pair[1], &both, &either);
            if (gbsi_watch_spend(&g->watch, 8 + either)) {
                return gbsi_watch_fail(err, "comparing names");
            }
            unsigned k = pair[0] == pair[1] ? 100
                         : either == 0      ? 0
                                            : (unsigned)(100 * both / either);
            while (k > 0 && found->predicate[k] == UINT32_MAX) {
                k--;
            }
            if (found->predicate[k] != UINT32_MAX) {
                GBSI_PASS(gbsi_fact_add(g, found->predicate[k], pair, true, (gbsi_token){0}, err));
                g->report.n_similar++;
            }
        }
    }
    return GBS_OK;
}

static gbs_status similar(gbsi_grounding *g, gbsi_token name, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bands found;
    words w = {.n_words = 0};
    GBSI_TRY(find_bands(&g->program, name, &found, err));
    GBSI_TRY(words_of(&w, &g->program.type[found.type], err));
    GBSI_TRY(add_facts(g, &found, &w, err));

cleanup:
    words_free(&w);
    return status;
}

gbs_status gbsi_similar_facts(gbsi_grounding *g, const char *names, gbs_error *err)
{
    for (const char *at = names; at != NULL; at++) {
        const size_t n = strcspn(at, ",");
        GBSI_PASS(similar(g, (gbsi_token){at, n}, err));
        at += n;
        if (*at == '\0') {
            break;
        }
    }
    return GBS_OK;
}
