/* SPDX-License-Identifier: Apache-2.0 */
/* A model while its variables are summed out; private to collapse.c and collapse_core.c. */
#ifndef GBSI_COLLAPSE_COLLAPSE_INSIDE_H
#define GBSI_COLLAPSE_COLLAPSE_INSIDE_H

#include "collapse/collapse.h"

/* The largest number of variables of a piece in a list. Such a piece has at most 1024 entries, and
 * a variable has at least 2 states. */
enum { GBSI_PIECE_VARIABLES = 10 };

/* A piece is a factor of the shrinking model: the factor of the model with the number of the piece,
 * or a factor that eliminations made. Only pieces of few entries are in the lists of their
 * variables. */
typedef struct gbsi_piece {
    bool gone;  /* whether the piece was summed out, or multiplied into another piece */
    bool made;  /* whether the piece has entries of its own, in gbsi_shrinking.value */
    bool wide;  /* whether the piece has more entries than an elimination may have; such a piece is
                   in no list */
    uint32_t n; /* number of variables */
    size_t scope; /* index of the piece's scope: in gbsi_shrinking.scope if `made` is set, else in
                     the scopes of the model */
    size_t value; /* if `made` is set: index of the piece's entries in gbsi_shrinking.value */
} gbsi_piece;

/* A link in the list of pieces that contain a variable. */
typedef struct gbsi_piece_link {
    uint32_t piece;
    uint32_t next; /* next link of the list; GBSI_NONE if this link is the last */
} gbsi_piece_link;

typedef struct gbsi_shrinking {
    const gbsi_conditioned *model;
    gbsi_collapse *collapse; /* the result, whose arrays grow */
    uint32_t most;           /* limit on the entries of an elimination */
    gbsi_watch *watch;
    double
        log_constant; /* sum of the largest log-weights, which were subtracted from made pieces */
    gbsi_piece *piece;
    gbsi_piece_link *link;
    uint32_t *head; /* [n_variables] first link in the list of each variable; the newest pieces come
                       first */
    uint32_t *scope;
    double *value; /* log-weights of made pieces; the last variable of a scope varies fastest */
    size_t n_pieces, n_links, n_scope, n_values;
    size_t room_piece, room_link, room_scope, room_value, room_kept_scope, room_kept_p;
} gbsi_shrinking;

/* Returns the variables of a piece. */
static inline const uint32_t *gbsi_piece_scope(const gbsi_shrinking *s, uint32_t piece)
{
    return s->piece[piece].made ? s->scope + s->piece[piece].scope
                                : s->model->factors.scope + s->piece[piece].scope;
}

/* Adds the log-weights of a piece to a table over n variables, of which the last varies fastest.
 * The n variables must include all variables of the piece. */
void gbsi_piece_add(const gbsi_shrinking *s, uint32_t piece, uint32_t n, const uint32_t *variable,
                    double *table);

/* Makes a piece of n variables whose log-weights are all zero. The piece is in no list. */
gbs_status gbsi_piece_make(gbsi_shrinking *s, uint32_t n, const uint32_t *variable, uint32_t *piece,
                           gbs_error *err);

/* Subtracts the largest log-weight from all entries of a made piece. @return the largest
 * log-weight. */
double gbsi_piece_scale(gbsi_shrinking *s, uint32_t piece);

/* collapse_core.c: multiplies pieces into others that hold all their variables, and makes the core
 * of the remaining pieces. */
gbs_status gbsi_collapse_core(gbsi_shrinking *s, gbs_error *err);

#endif
