/* SPDX-License-Identifier: Apache-2.0 */
/* A model while its variables are summed out: shared by collapse.c and collapse_core.c alone. */
#ifndef GBSI_COLLAPSE_COLLAPSE_INSIDE_H
#define GBSI_COLLAPSE_COLLAPSE_INSIDE_H

#include "collapse/collapse.h"

/* Variables of a factor that may be summed over: each has two states or more. */
enum { GBSI_PIECE_VARIABLES = 10 };

/* A factor: of the model with the same number, or made. Only pieces of few entries are listed at
 * their variables. */
typedef struct gbsi_piece {
    bool gone;    /* summed out, or multiplied into another */
    bool made;    /* the piece owns its entries */
    bool wide;    /* has more entries than an elimination may have: not listed */
    uint32_t n;   /* variables */
    size_t scope; /* start of its scope in shrinking.scope if made, else in the model's scopes */
    size_t value; /* start of its entries in shrinking.value, for made pieces only */
} gbsi_piece;

/* A link in the list of pieces that contain a variable. */
typedef struct gbsi_piece_link {
    uint32_t piece;
    uint32_t next; /* GBSI_NONE: the last */
} gbsi_piece_link;

typedef struct gbsi_shrinking {
    const gbsi_conditioned *model;
    gbsi_collapse *collapse; /* its arrays grow */
    uint32_t most;           /* entries of an elimination */
    gbsi_watch *watch;
    double log_constant; /* of made pieces */
    gbsi_piece *piece;
    gbsi_piece_link *link;
    uint32_t *head; /* [n_variables] into link: pieces made last come first */
    uint32_t *scope;
    double *value; /* natural logs, the last variable of a scope fastest */
    size_t n_pieces, n_links, n_scope, n_values;
    size_t room_piece, room_link, room_scope, room_value, room_kept_scope, room_kept_p;
} gbsi_shrinking;

/* The variables of a piece. */
static inline const uint32_t *gbsi_piece_scope(const gbsi_shrinking *s, uint32_t piece)
{
    return s->piece[piece].made ? s->scope + s->piece[piece].scope
                                : s->model->factors.scope + s->piece[piece].scope;
}

/* Adds the log-weights of a piece to a table over at least its variables, the last fastest. */
void gbsi_piece_add(const gbsi_shrinking *s, uint32_t piece, uint32_t n, const uint32_t *variable,
                    double *table);

/* A piece of these variables, zero everywhere. Not listed. */
gbs_status gbsi_piece_make(gbsi_shrinking *s, uint32_t n, const uint32_t *variable, uint32_t *piece,
                           gbs_error *err);

/* Takes the largest log-weight out of a made piece. @return it. */
double gbsi_piece_scale(gbsi_shrinking *s, uint32_t piece);

/* collapse_core.c: multiplies pieces into others that hold all their variables, and makes the core
 * of the remaining pieces. */
gbs_status gbsi_collapse_core(gbsi_shrinking *s, gbs_error *err);

#endif
