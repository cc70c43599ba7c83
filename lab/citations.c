/* SPDX-License-Identifier: Apache-2.0 */
/* Generated networks for citation matching, in the manner of the Cora networks of Singla & Domingos
 * (2006), Entity resolution with Markov logic, ICDM. Citations fall into groups of eight that may
 * be of the same paper. Each citation has three strings that other citations share: an author, a
 * title and a venue. An atom says that two citations are of one paper, or that two strings have one
 * meaning. Two strings have an atom if they occur in two citations of one group. Two authors of
 * each group also belong to the previous group, and all groups share the venues. All citations are
 * therefore in one network. The clauses have the weights below:
 *
 *     same strings look alike                        one atom, by evidence drawn from the seed
 *     two citations are different, mostly            one atom
 *     same citation => same author, title, venue     two atoms
 *     same title => same citation                    two atoms
 *     same citation is transitive                    three atoms, of three in a row */
#include "lab/citations.h"

#include <assert.h>

#include "base/memory.h"

#define GROUP 8u /* number of citations of a group */
/* Number of authors of a group; the first two also belong to the previous group */
#define AUTHORS 5u
#define NEW     3u
#define TITLES  5u
#define VENUES  40u

#define ALIKE     1.0 /* standard deviation of the evidence for two strings */
#define DIFFERENT 0.5
#define IMPLIES   4.0
#define TITLE     4.0
#define CHAIN     4.0

typedef struct network {
    const laboratory *lab;
    gbs_builder *builder;
    uint32_t n; /* number of atoms */
    uint32_t n_authors;
    /* atom of each pair of strings; UINT32_MAX if the pair has no atom yet */
    uint32_t *author, *title, *venue;
} network;

static gbs_status add_atom(network *w, uint32_t *atom, gbs_error *err)
{
    static const uint32_t two = 2;
    const gbs_status status = gbs_builder_add_variables(w->builder, 1, &two, atom, err);
    w->n += status >= 0;
    return status;
}

/* Adds a clause of n literals. @param state state of each literal: 1 for the variable, 0 for its
 * negation. */
static gbs_status add_clause(network *w, uint32_t n, const uint32_t *atom, const uint32_t *state,
                             double weight, gbs_error *err)
{
    return gbs_builder_add_logical(w->builder, GBS_LOGICAL_CLAUSE, n, atom, state, weight, err);
}

/* Adds a weight on a single atom; a positive weight makes the atom likely to be true. */
static gbs_status believe(network *w, uint32_t atom, double weight, gbs_error *err)
{
    static const uint32_t truth[2] = {0, 1};
    return add_clause(w, 1, &atom, &truth[weight > 0.0], weight > 0.0 ? weight : -weight, err);
}

static gbs_status imply(network *w, uint32_t body, uint32_t head, double weight, gbs_error *err)
{
    static const uint32_t state[2] = {0, 1};
    const uint32_t atom[2] = {body, head};
    return add_clause(w, 2, atom, state, weight, err);
}

/* Finds the atom of two strings. A new atom gets its evidence. @param pair [n][n] atoms of all
 * pairs. */
static gbs_status find_pair(network *w, uint32_t *pair, uint32_t n, uint32_t i, uint32_t j,
                            uint32_t *atom, gbs_error *err)
{
    uint32_t *at = &pair[(size_t)(i < j ? i : j) * n + (i < j ? j : i)];
    if (*at == UINT32_MAX) {
        GBSI_PASS(add_atom(w, at, err));
        GBSI_PASS(believe(w, *at, ALIKE * lab_normal(w->lab, LAB_ALIKE, *at), err));
    }
    *atom = *at;
    return GBS_OK;
}

/* Strings of a citation. */
typedef struct citation {
    uint32_t author, title, venue;
} citation;

static uint32_t pick(const laboratory *lab, uint32_t index, uint32_t which, uint32_t n)
{
    double u[2];
    lab_uniforms(lab, LAB_STRINGS, index, which, u);
    return (uint32_t)(u[0] * n);
}

static gbs_status join(network *w, uint32_t same, const citation *a, const citation *b,
                       gbs_error *err)
{
    uint32_t atom = 0;
    if (a->author != b->author) {
        GBSI_PASS(find_pair(w, w->author, w->n_authors, a->author, b->author, &atom, err));
        GBSI_PASS(imply(w, same, atom, IMPLIES, err));
    }
    if (a->venue != b->venue) {
        GBSI_PASS(find_pair(w, w->venue, VENUES, a->venue, b->venue, &atom, err));
        GBSI_PASS(imply(w, same, atom, IMPLIES, err));
    }
    if (a->title != b->title) {
        GBSI_PASS(find_pair(w, w->title, TITLES, a->title, b->title, &atom, err));
        GBSI_PASS(imply(w, same, atom, IMPLIES, err));
        GBSI_PASS(imply(w, atom, same, TITLE, err));
    }
    return GBS_OK;
}

/* Adds transitivity: if two of same(i, j), same(j, k) and same(i, k) are true, the third is true
 * too. */
static gbs_status chain(network *w, uint32_t ij, uint32_t jk, uint32_t ik, gbs_error *err)
{
    static const uint32_t state[3] = {0, 0, 1};
    const uint32_t atom[3][3] = {{ij, jk, ik}, {ij, ik, jk}, {jk, ik, ij}};
    for (int i = 0; i < 3; i++) {
        GBSI_PASS(add_clause(w, 3, atom[i], state, CHAIN, err));
    }
    return GBS_OK;
}

static gbs_status add_group(network *w, uint32_t group, gbs_error *err)
{
    citation c[GROUP];
    uint32_t same[GROUP][GROUP];
    for (uint32_t i = 0; i < TITLES * TITLES; i++) {
        w->title[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < GROUP; i++) {
        const uint32_t index = group * GROUP + i;
        c[i] = (citation){group * NEW + pick(w->lab, index, 0, AUTHORS),
                          pick(w->lab, index, 1, TITLES), pick(w->lab, index, 2, VENUES)};
    }
    for (uint32_t i = 0; i < GROUP; i++) {
        for (uint32_t j = i + 1; j < GROUP; j++) {
            GBSI_PASS(add_atom(w, &same[i][j], err));
            GBSI_PASS(believe(w, same[i][j], -DIFFERENT, err));
            GBSI_PASS(join(w, same[i][j], &c[i], &c[j], err));
        }
    }
    for (uint32_t i = 0; i + 2 < GROUP; i++) {
        GBSI_PASS(chain(w, same[i][i + 1], same[i + 1][i + 2], same[i][i + 2], err));
    }
    return GBS_OK;
}

gbs_status lab_citations_make(const laboratory *lab, uint32_t groups, gbs_model **model,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    network w = {.lab = lab, .n_authors = groups * NEW + AUTHORS - NEW};
    assert(groups <= 1000);
    const size_t n_pairs = (size_t)w.n_authors * w.n_authors;
    w.author = gbsi_alloc_array(n_pairs, sizeof *w.author);
    w.title = gbsi_alloc_array(TITLES * TITLES, sizeof *w.title);
    w.venue = gbsi_alloc_array(VENUES * VENUES, sizeof *w.venue);
    GBSI_TRY(GBSI_HAVE(err, "citations", w.author, w.title, w.venue));
    memset(w.author, 0xFF, n_pairs * sizeof *w.author);
    memset(w.venue, 0xFF, VENUES * VENUES * sizeof *w.venue);
    GBSI_TRY(gbs_builder_new(&w.builder, err));
    for (uint32_t g = 0; g < groups; g++) {
        GBSI_TRY(add_group(&w, g, err));
    }
    GBSI_TRY(gbs_builder_build(w.builder, model, err));
cleanup:
    gbs_builder_free(w.builder);
    GBSI_FREE(w.author, w.title, w.venue);
    return status;
}
