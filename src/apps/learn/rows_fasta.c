/* SPDX-License-Identifier: Apache-2.0 */
/* Reads alignments in FASTA. A first pass over all sequences counts their letters. The counts
 * determine the alphabet, whether small letters are insertions, and the meaning of '*' at the end
 * of a sequence. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "learn/rows.h"
#include "text/text.h"

#define PROTEIN "-ACDEFGHIKLMNPQRSTVWY"
#define GAPS    "-.~"
#define MOST_ODD                                                                            \
    0.05 /* largest share of letters outside the alphabet with which an alignment counts as \
            written in the alphabet */
/* An alignment is read as nucleic acids if the share of ACGTUN among its letters is at least this
 * large. The share may be smaller if there are at least MANY letters: about a third of the letters
 * of proteins are EFILPQ, so that many letters without EFILPQ are hardly a protein. The other
 * letters then stand for one of several nucleotides each. */
#define LEAST_OF_FEW  0.85
#define LEAST_OF_MANY 0.5
#define MANY          40.0

/* The states of proteins are in the order of direct-coupling analysis. The sign '?', letters that
 * the alphabet does not have, and letters of IUPAC that stand for one of several residues are read
 * as gaps. */
static const struct {
    const char *name, *states, *several;
} alphabets[] = {
    [GBS_ALPHABET_PROTEIN] = {"proteins", PROTEIN, "BJXZ?"},
    [GBS_ALPHABET_RNA] = {"RNA", "-ACGU", "BDHKMNRSVWXY?"},
    [GBS_ALPHABET_DNA] = {"DNA", "-ACGT", "BDHKMNRSVWXY?"},
};

enum { NOT_A_SITE = UCHAR_MAX };

typedef struct alignment {
    const gbsi_text *text;
    gbs_alphabet alphabet;
    uint64_t n_of[UCHAR_MAX + 1]; /* number of occurrences of each byte in the sequences */
    size_t n_sequences, n_starred;
    size_t width;  /* number of signs of the first sequence */
    bool even;     /* whether all sequences have this number of signs */
    bool is_mixed; /* whether capitals and small letters occur */
    bool inserts;  /* whether the format is A2M, in which small letters and '.' are insertions */
    bool ends;     /* whether '*' at the end of a sequence is not a site */
    uint8_t state_of[UCHAR_MAX + 1]; /* state of each byte; NOT_A_SITE: the byte is left out */
} alignment;

/* The text between two headers. */
typedef struct sequence {
    const char *at, *end;
} sequence;

static const char *behind_line(const gbsi_text *text, const char *at)
{
    const char *newline = memchr(at, '\n', (size_t)(text->end - at));
    return newline == NULL ? text->end : newline + 1;
}

/* @return the sequence after a header. @param header start of the header line. */
static sequence sequence_behind(const gbsi_text *text, const char *header)
{
    sequence s = {.at = behind_line(text, header)};
    s.end = s.at;
    while (s.end < text->end && *s.end != '>') {
        s.end = behind_line(text, s.end);
    }
    return s;
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static char capital(char c)
{
    return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

/* @return the last sign of a sequence; the end of the sequence if it has no signs. */
static const char *last_sign(sequence s)
{
    const char *last = s.end;
    while (last > s.at && gbsi_is_blank(last[-1])) {
        --last;
    }
    return last > s.at ? last - 1 : s.end;
}

static gbs_status look_at(alignment *a, sequence s, gbs_error *err)
{
    size_t width = 0;
    const char *last = last_sign(s);
    for (const char *at = s.at; at < s.end; ++at) {
        if (gbsi_is_blank(*at)) {
            continue;
        }
        if (!is_letter(*at) && strchr(GAPS "*?", *at) == NULL) {
            return gbsi_text_unexpected(a->text, (gbsi_token){at, 1},
                                        "a letter of a sequence, '-' or '.'", err);
        }
        if (at == last && *at == '*') {
            ++a->n_starred;
        } else {
            ++a->n_of[(uint8_t)*at];
        }
        ++width;
    }
    if (width == 0) {
        return gbsi_text_fail(a->text, (gbsi_token){s.at - 1, 1}, err,
                              "found no letters below this line, expected those of a sequence");
    }
    a->width = a->n_sequences == 0 ? width : a->width;
    a->even = (a->even || a->n_sequences == 0) && a->width == width;
    ++a->n_sequences;
    return GBS_OK;
}

/* @return the number of letters of a set, or of all letters. */
static uint64_t count(const alignment *a, const char *letters)
{
    uint64_t n = 0;
    for (int c = 'A'; c <= 'Z'; ++c) {
        if (letters == NULL || strchr(letters, c) != NULL) {
            n += a->n_of[c] + (a->inserts ? 0 : a->n_of[c - 'A' + 'a']);
        }
    }
    return n;
}

static gbs_alphabet tell_alphabet(const alignment *a)
{
    const double all = (double)count(a, NULL);
    const double least = all < MANY ? LEAST_OF_FEW : LEAST_OF_MANY;
    if (all == 0.0 || (double)count(a, "EFIJLOPQZ") > MOST_ODD * all ||
        (double)count(a, "ACGTUN") < least * all) {
        return GBS_ALPHABET_PROTEIN;
    }
    return count(a, "U") > count(a, "T") ? GBS_ALPHABET_RNA : GBS_ALPHABET_DNA;
}

/* @return the state of a capital, '*' or '?'; 0 if the alphabet does not have the sign. */
static uint8_t state_of(const alignment *a, char c)
{
    const char *states = alphabets[a->alphabet].states;
    const char *found = strchr(states, c);
    if (found == NULL && a->alphabet != GBS_ALPHABET_PROTEIN && (c == 'T' || c == 'U')) {
        found = strchr(states, c == 'T' ? 'U' : 'T');
    }
    return found == NULL ? 0 : (uint8_t)(found - states);
}

/* Finds the state of each byte. @return the number of letters read as gaps. @param odd out: the
 * number of these letters that are not in the alphabet. */
static uint64_t find_states(alignment *a, uint64_t *odd)
{
    uint64_t n_unknown = 0;
    *odd = 0;
    for (unsigned byte = 0; byte <= UCHAR_MAX; ++byte) {
        const char c = (char)byte;
        const bool is_gap = c != '\0' && strchr(GAPS, c) != NULL;
        const bool is_small = c >= 'a' && c <= 'z';
        const bool is_out = a->inserts && (is_small || c == '.');
        a->state_of[byte] = is_out || gbsi_is_blank(c) ? NOT_A_SITE : state_of(a, capital(c));
        if (a->n_of[byte] > 0 && a->state_of[byte] == 0 && !is_gap) {
            const bool is_several = strchr(alphabets[a->alphabet].several, capital(c)) != NULL;
            n_unknown += a->n_of[byte];
            *odd += is_several ? 0 : a->n_of[byte];
        }
    }
    return n_unknown;
}

/* @return the first letter that the alphabet does not have. */
static const char *find_odd(const alignment *a)
{
    const char *at = a->text->at;
    for (; at < a->text->end; at = sequence_behind(a->text, at).end) {
        const sequence s = sequence_behind(a->text, at);
        for (const char *c = s.at; c < s.end; ++c) {
            if ((is_letter(*c) || *c == '*') && a->state_of[(uint8_t)*c] == 0 &&
                strchr(alphabets[a->alphabet].several, capital(*c)) == NULL) {
                return c;
            }
        }
    }
    return at;
}

/* @return the number of signs of a sequence without small letters and '.'. */
static size_t kept_in_a2m(sequence s)
{
    size_t n = 0;
    for (const char *at = s.at; at < s.end; ++at) {
        n += !gbsi_is_blank(*at) && *at != '.' && !(*at >= 'a' && *at <= 'z');
    }
    return n;
}

/* @return whether all sequences have equal numbers of signs without small letters and '.', as in
 * A2M. If numbers are equal only with small letters, small letters mark a part of the alignment,
 * such as repeats. */
static bool is_a2m(const alignment *a)
{
    bool same = true;
    size_t first = 0;
    for (const char *at = a->text->at; at < a->text->end && same;) {
        const sequence s = sequence_behind(a->text, at);
        const size_t n = kept_in_a2m(s);
        first = at == a->text->at ? n : first;
        same = n == first;
        at = s.end;
    }
    return same || !a->even;
}

/* Finds the alphabet and the state of each byte. */
static gbs_status settle(alignment *a, uint64_t *n_unknown, gbs_error *err)
{
    uint64_t odd = 0;
    uint64_t n_small = 0;
    const bool told = a->alphabet == GBS_ALPHABET_AUTO;
    for (int c = 'a'; c <= 'z'; ++c) {
        n_small += a->n_of[c];
    }
    a->inserts = false;
    a->is_mixed = n_small > 0 && count(a, NULL) > n_small;
    a->inserts = a->is_mixed && is_a2m(a);
    a->ends = a->n_starred == a->n_sequences || !a->even;
    a->alphabet = told ? tell_alphabet(a) : a->alphabet;
    *n_unknown = find_states(a, &odd) + (a->ends ? 0 : a->n_starred);
    const double share = (double)odd / (double)(count(a, NULL) + a->n_of['*']);
    if (told && odd > 0 && share > MOST_ODD) {
        return gbsi_text_fail(a->text, gbsi_text_at(a->text, find_odd(a)), err,
                              "found letters that %s do not have, %.3g %% of all, expected at most "
                              "5 %% of an alignment whose alphabet is not named",
                              alphabets[a->alphabet].name, 100.0 * share);
    }
    return GBS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Reads the sites of a sequence. @param state NULL, or out: the state of each site. @return the
 * number of sites. */
static size_t read_sites(const alignment *a, sequence s, uint8_t *state)
{
    size_t n = 0;
    const char *last = last_sign(s);
    s.end = a->ends && last < s.end && *last == '*' ? last : s.end;
    for (const char *at = s.at; at < s.end; ++at) {
        const uint8_t x = a->state_of[(uint8_t)*at];
        if (x != NOT_A_SITE) {
            if (state != NULL) {
                state[n] = x;
            }
            ++n;
        }
    }
    return n;
}

static gbs_status add_sequence(const alignment *a, sequence s, gbs_rows *rows, gbs_error *err)
{
    const size_t n = read_sites(a, s, NULL);
    if (n == rows->n_sites) {
        GBSI_PASS(gbsi_rows_reserve(rows, 1, err));
        (void)read_sites(a, s, rows->state + rows->n * n);
        rows->weight[rows->n++] = 1.0;
        return GBS_OK;
    }
    return gbsi_text_fail(a->text, (gbsi_token){last_sign(s), 0}, err,
                          "found %zu site%s, expected %" PRIu32, n, gbsi_plural(n), rows->n_sites);
}

/* Opens the rows; the first sequence sets the number of sites. */
static gbs_status open_rows(const alignment *a, gbs_rows **rows, gbs_error *err)
{
    const sequence s = sequence_behind(a->text, a->text->at);
    const size_t n = read_sites(a, s, NULL);
    const char *states = alphabets[a->alphabet].states;
    if (n == 0 || n > GBS_MAX_SITES) {
        return gbsi_text_fail(a->text, (gbsi_token){last_sign(s), 0}, err,
                              "found %zu site%s, expected 1 to %u", n, gbsi_plural(n),
                              GBS_MAX_SITES);
    }
    const gbs_status status = gbs_rows_new((uint32_t)n, (uint32_t)strlen(states), rows, err);
    if (status >= 0) {
        (*rows)->letters = states;
        (*rows)->alphabet = a->alphabet;
    }
    return status;
}

gbs_status gbsi_rows_read_fasta(const gbsi_text *text, gbs_alphabet alphabet, gbs_rows **rows,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_rows *own = NULL;
    alignment a = {.text = text, .alphabet = alphabet};
    uint64_t n_unknown = 0;
    for (const char *at = text->at; at < text->end;) {
        const sequence s = sequence_behind(text, at);
        GBSI_TRY(look_at(&a, s, err));
        at = s.end;
    }
    GBSI_TRY(settle(&a, &n_unknown, err));
    GBSI_TRY(open_rows(&a, &own, err));
    own->n_unknown = n_unknown;
    if (a.is_mixed) {
        (void)snprintf(own->note, sizeof own->note, "%s",
                       a.inserts
                           ? "capitals and small letters: small letters and '.' are taken for "
                             "insertions (A2M) and left out; to keep them, write capitals"
                           : "small letters are read as capitals: without them, as in A2M, "
                             "sequences differ in length");
    }
    for (const char *at = text->at; at < text->end;) {
        const sequence s = sequence_behind(text, at);
        GBSI_TRY(add_sequence(&a, s, own, err));
        at = s.end;
    }
    *rows = own;
    own = NULL;

cleanup:
    gbs_rows_free(own);
    return status;
}
