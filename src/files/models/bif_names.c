/* SPDX-License-Identifier: Apache-2.0 */
/* Reads BIF names that contain blanks and commas. bnlearn and pgmpy write such names without
 * quotes. The announced number of states tells where to cut a list of states. Declared names tell
 * where to cut the names of a table. Text that can be cut in two ways is refused. */
#include "base/plural.h"
#include "models/bif.h"

#include <string.h>

#include "base/memory.h"

/* Largest number of pieces between separators that one name may have. */
#define MOST_PIECES 64

/* ---- lists in declarations ------------------------------------------------------------------- */

/* Bits for the characters between a word and the word before it. */
enum {
    COMMA = 1 << 0,   /* a comma */
    SPACED = 1 << 1,  /* a comma followed by a blank */
    INSIDE = 1 << 2,  /* the place is inside parentheses or brackets */
    COMMENT = 1 << 3, /* a comment or a line break, which no name contains */
};

typedef struct word {
    gbsi_bif_token token;
    unsigned before;
} word;

static void add_brackets(gbsi_token token, size_t *depth)
{
    for (size_t i = 0; i < token.n; i++) {
        const char c = token.at[i];
        if (c == '(' || c == '[') {
            ++*depth;
        } else if ((c == ')' || c == ']') && *depth > 0) {
            --*depth;
        }
    }
}

static unsigned look_between(const char *from, const char *to, size_t depth)
{
    unsigned found = depth > 0 ? INSIDE : 0;
    for (const char *at = from; at < to; at++) {
        if (*at == ',') {
            found |= at + 1 < to && gbsi_is_blank(at[1]) ? COMMA | SPACED : COMMA;
        } else if (*at != ' ' && *at != '\t' && *at != '|') {
            found |= COMMENT;
        }
    }
    return found;
}

static const word *word_at(const gbsi_bif_network *network, size_t i)
{
    return (const word *)network->word + i;
}

/* Reads words, quoted names and parentheses up to a brace.
 * @param end out: the token behind the words, which is a brace or another token that no name
 *   contains. */
static gbs_status read_words(gbsi_text *text, gbsi_bif_network *network, gbsi_bif_place place,
                             gbsi_bif_token *end, gbs_error *err)
{
    const char *from = text->at;
    size_t depth = 0;
    network->n_words = 0;
    for (;;) {
        GBSI_PASS(gbsi_bif_next(text, place, end, err));
        if (end->kind == 0 || strchr("wq()", end->kind) == NULL) {
            return GBS_OK;
        }
        GBSI_PASS(gbsi_reserve(&network->word, &network->word_capacity, network->n_words + 1,
                               sizeof(word), text->name, err));
        ((word *)network->word)[network->n_words++] =
            (word){*end, look_between(from, end->shown.at, depth)};
        if (end->kind != 'q') {
            add_brackets(end->shown, &depth);
        }
        from = text->at;
    }
    return GBS_OK;
}

/* Joins the words [first, last) to a name. Fails if one of several words is in quotes, or if a
 * comment or a line break separates words. */
static gbs_status join_words(const gbsi_text *text, const gbsi_bif_network *network, size_t first,
                             size_t last, gbsi_bif_token *name, gbs_error *err)
{
    const gbsi_bif_token *begin = &word_at(network, first)->token;
    const gbsi_bif_token *end = &word_at(network, last - 1)->token;
    *name = *begin;
    if (last - first == 1 && (begin->kind == 'w' || begin->kind == 'q')) {
        return GBS_OK;
    }
    for (size_t i = first; i < last; i++) {
        const word *w = word_at(network, i);
        if (w->token.kind == 'q' || (i > first && (w->before & COMMENT) != 0)) {
            return gbsi_text_unexpected(
                text, w->token.shown,
                "the end of the name before it: quotes, comments and line breaks are no part of it",
                err);
        }
    }
    name->kind = 'w';
    name->text.n = (size_t)(end->shown.at - begin->shown.at) + end->shown.n;
    name->shown = name->text;
    return GBS_OK;
}

/* Rules for cutting a list into names. The rules that make more names come first. */
typedef enum rule {
    AT_WORDS,
    AT_COMMAS,
    AT_SPACED_COMMAS,
    AT_COMMAS_OUTSIDE,
    AT_SPACED_COMMAS_OUTSIDE,
    N_RULES
} rule;

static bool cuts(rule by, unsigned before)
{
    switch (by) {
    case AT_WORDS:
        return true;
    case AT_COMMAS:
        return (before & COMMA) != 0;
    case AT_SPACED_COMMAS:
        return (before & SPACED) != 0;
    case AT_COMMAS_OUTSIDE:
        return (before & COMMA) != 0 && (before & INSIDE) == 0;
    default:
        return (before & SPACED) != 0 && (before & INSIDE) == 0;
    }
}

/* @return the number of names into which a rule cuts the words; 0 if the rule does not apply. */
static size_t count_names(const gbsi_bif_network *network, rule by)
{
    size_t n = network->n_words > 0;
    for (size_t i = 0; i < network->n_words; i++) {
        const word *w = word_at(network, i);
        if (by == AT_WORDS && w->token.kind != 'w' && w->token.kind != 'q') {
            return 0;
        }
        n += i > 0 && cuts(by, w->before);
    }
    return n;
}

static bool same_cuts(const gbsi_bif_network *network, rule a, rule b)
{
    for (size_t i = 1; i < network->n_words; i++) {
        const unsigned before = word_at(network, i)->before;
        if (cuts(a, before) != cuts(b, before)) {
            return false;
        }
    }
    return true;
}

/* Finds the rule that makes n names. Fails if two rules make n different names. */
static gbs_status choose_rule(const gbsi_text *text, const gbsi_bif_network *network,
                              gbsi_token count, size_t n, rule *chosen, gbs_error *err)
{
    *chosen = N_RULES;
    for (rule by = AT_WORDS; by < N_RULES; by++) {
        if (count_names(network, by) != n) {
            continue;
        }
        if (*chosen != N_RULES && !same_cuts(network, *chosen, by)) {
            return gbsi_text_fail(text, count, err,
                                  "found states that can be cut into %zu names in several ways, "
                                  "expected names with blanks or commas in quotes",
                                  n);
        }
        *chosen = *chosen == N_RULES ? by : *chosen;
    }
    if (*chosen != N_RULES) {
        return GBS_OK;
    }
    const size_t by_words = count_names(network, AT_WORDS);
    return gbsi_text_fail(text, count, err,
                          "found %zu state%s announced, but %zu listed; names with blanks or "
                          "commas need quotes where "
                          "their number does not tell where they end",
                          n, gbsi_plural(n),
                          by_words != 0 ? by_words : count_names(network, AT_COMMAS));
}

gbs_status gbsi_bif_read_states(gbsi_text *text, gbsi_bif_network *network, uint32_t variable,
                                gbsi_token count, size_t n, gbs_error *err)
{
    gbsi_bif_token end;
    rule by = AT_WORDS;
    GBSI_PASS(read_words(text, network, GBSI_BIF_STATE, &end, err));
    if (end.kind != '}') {
        return gbsi_text_unexpected(text, end.shown, "a state or '}'", err);
    }
    GBSI_PASS(choose_rule(text, network, count, n, &by, err));
    for (size_t first = 0; first < network->n_words;) {
        gbsi_bif_token name;
        size_t last = first + 1;
        while (last < network->n_words && !cuts(by, word_at(network, last)->before)) {
            last++;
        }
        GBSI_PASS(join_words(text, network, first, last, &name, err));
        GBSI_PASS(gbsi_bif_add_state(text, network, variable, &name, err));
        first = last;
    }
    return GBS_OK;
}

gbs_status gbsi_bif_read_variable(gbsi_text *text, gbsi_bif_network *network, gbsi_bif_token *name,
                                  gbs_error *err)
{
    gbsi_bif_token end;
    GBSI_PASS(read_words(text, network, GBSI_BIF_PLAIN, &end, err));
    if (network->n_words == 0) {
        return gbsi_text_unexpected(text, end.shown, "the name of a variable", err);
    }
    if (end.kind != '{') {
        return gbsi_text_unexpected(text, end.shown, "'{'", err);
    }
    GBSI_PASS(join_words(text, network, 0, network->n_words, name, err));
    network->has_long_names = network->has_long_names || network->n_words > 1;
    return GBS_OK;
}

/* ---- names in tables ------------------------------------------------------------------------- */

typedef struct search {
    const gbsi_bif_network *network;
    const char *separators;
    /* [n_names] the variable whose state each name is; NULL if the names are any number of
     * variables */
    const uint32_t *owner;
    size_t n_names;
    gbsi_token *piece; /* [n_pieces] pieces of the text between separators */
    size_t n_pieces;
    size_t *end;    /* [n_pieces] index of the piece behind each name that was chosen until now */
    uint32_t *id;   /* [n_pieces] numbers of the names chosen until now */
    uint32_t *best; /* [n_pieces] numbers of the names in the first choice that used all pieces */
    size_t n_best;
    size_t n_found; /* number of choices that used all pieces; 2 stands for two or more */
    size_t n_steps; /* number of further calls of is_name() that are allowed */
} search;

static gbsi_token trim(const char *from, const char *to)
{
    while (from < to && gbsi_is_blank(*from)) {
        from++;
    }
    while (to > from && gbsi_is_blank(to[-1])) {
        to--;
    }
    return (gbsi_token){from, (size_t)(to - from)};
}

/* Cuts text at the separators, and ignores pieces that consist of blanks.
 * @param piece out: the pieces; NULL if they are only counted.
 * @return the number of pieces. */
static size_t cut_pieces(const search *s, const char *from, const char *to, gbsi_token *piece)
{
    size_t n = 0;
    for (const char *at = from; at <= to; at++) {
        if (at == to || strchr(s->separators, *at) != NULL) {
            const gbsi_token cut = trim(from, at);
            if (piece != NULL && cut.n > 0) {
                piece[n] = cut;
            }
            n += cut.n > 0;
            from = at + 1;
        }
    }
    return n;
}

/* Whether the pieces [first, last) form a name that may be number `level` of the list. */
static bool is_name(search *s, size_t level, size_t first, size_t last)
{
    const uint32_t owner = s->owner == NULL ? GBSI_BIF_VARIABLES : s->owner[level];
    const gbsi_token *begin = &s->piece[first];
    const gbsi_token *end = &s->piece[last - 1];
    s->n_steps--;
    return gbsi_name_map_find(&s->network->names, owner, begin->at,
                              (size_t)(end->at - begin->at) + end->n, &s->id[level]);
}

static void keep_choice(search *s, size_t n)
{
    if (s->n_found++ == 0) {
        memcpy(s->best, s->id, n * sizeof *s->best);
        s->n_best = n;
    }
}

/* Tries the possible ends of each name in turn, and returns to the name before it where no end
 * fits. */
static void look(search *s)
{
    size_t level = 0;
    size_t from = 0;
    size_t to = 1;
    while (s->n_found < 2 && s->n_steps > 0) {
        const bool room = s->owner == NULL || level < s->n_names;
        while (room && to <= s->n_pieces && to - from <= MOST_PIECES && s->n_steps > 0 &&
               !is_name(s, level, from, to)) {
            to++;
        }
        if (room && to <= s->n_pieces && to - from <= MOST_PIECES && s->n_steps > 0) {
            s->end[level++] = to;
            from = to++;
            if (from == s->n_pieces && (s->owner == NULL || level == s->n_names)) {
                keep_choice(s, level);
            }
            continue;
        }
        if (level == 0) {
            return;
        }
        to = s->end[--level] + 1;
        from = level == 0 ? 0 : s->end[level - 1];
    }
    s->n_found = 2; /* after too many steps the text counts as ambiguous */
}

gbs_status gbsi_bif_find_names(const gbsi_text *text, const gbsi_bif_network *network,
                               gbsi_token among, gbsi_token place, const char *separators,
                               const uint32_t *owner, size_t n_names, uint32_t **id, size_t *n,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    search s = {.network = network, .separators = separators, .owner = owner, .n_names = n_names};
    const char *end = among.at + among.n;
    s.n_pieces = cut_pieces(&s, among.at, end, NULL);
    /* limit on the calls of is_name(); most pieces need only one or two calls */
    s.n_steps = s.n_pieces * 8 + 65536;
    if (s.n_pieces == 0) {
        *n = 0;
        return GBS_OK;
    }
    s.piece = gbsi_alloc_array(s.n_pieces, sizeof *s.piece);
    s.end = gbsi_alloc_array(s.n_pieces, sizeof *s.end);
    s.id = gbsi_alloc_array(s.n_pieces, sizeof *s.id);
    s.best = gbsi_alloc_array(s.n_pieces, sizeof *s.best);
    GBSI_TRY(GBSI_HAVE(err, text->name, s.piece, s.end, s.id, s.best));
    (void)cut_pieces(&s, among.at, end, s.piece);
    look(&s);
    if (s.n_found > 1) {
        GBSI_TRY(gbsi_text_fail(text, place, err,
                                "found names that can be cut in several ways, expected names with "
                                "blanks or commas in quotes"));
    }
    *n = s.n_best;
    *id = s.best;
    s.best = NULL;

cleanup:
    GBSI_FREE(s.piece, s.end, s.id, s.best);
    return status;
}

gbs_status gbsi_bif_table_names(gbsi_bif_tables *tables, gbsi_token among, gbsi_token place,
                                const char *separators, bool *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_bif_network *network = &tables->network;
    uint32_t *id = NULL;
    size_t n = 0;
    GBSI_TRY(gbsi_bif_find_names(tables->text, network, among, place, separators, NULL, 0, &id, &n,
                                 err));
    *found = n > 0;
    for (size_t i = 0; i < n; i++) {
        const gbsi_bif_token name = {
            .kind = 'w', .text = gbsi_bif_variable_at(network, id[i])->name, .shown = place};
        GBSI_TRY(i == 0 ? gbsi_bif_table_child(tables, &name, err)
                        : gbsi_bif_table_parent(tables, &name, err));
    }

cleanup:
    gbsi_free(id);
    return status;
}

gbsi_token gbsi_bif_inside(const gbsi_text *text, char stop)
{
    const char *end = memchr(text->at, stop, gbsi_text_left(text));
    const char *close = end;
    while (close != NULL && close > text->at && *close != ')') {
        close--;
    }
    return close == NULL || *close != ')' ? (gbsi_token){text->at, 0}
                                          : (gbsi_token){text->at, (size_t)(close - text->at)};
}
