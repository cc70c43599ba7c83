/* SPDX-License-Identifier: Apache-2.0 */
/* What readers of lists of couplings share: the options, the diagonal, repeated entries. */
#ifndef GBSI_IO_COUPLINGS_H
#define GBSI_IO_COUPLINGS_H

#include "io/lines.h"
#include "io/spin_list.h"

typedef enum gbsi_diagonal {
    GBSI_DIAGONAL_FIELD,
    GBSI_DIAGONAL_IGNORE,
    GBSI_DIAGONAL_ERROR,
} gbsi_diagonal;

typedef struct gbsi_couplings {
    gbsi_text *text;
    gbsi_text first;      /* before the first entry, to find one again for a message */
    const char *comments; /* lines that begin with one of these are no entries */
    gbsi_convention convention;
    gbsi_diagonal diagonal;
    uint32_t n_variables;
    gbsi_edges edges; /* one for each entry of the file, as they come */
    size_t n_underflow;
} gbsi_couplings;

/* The options. text is borrowed. @param own the format's own convention. */
gbs_status gbsi_couplings_begin(gbsi_couplings *c, gbsi_text *text, gbsi_convention own,
                                const char *comments, gbs_error *err);
void gbsi_couplings_free(gbsi_couplings *c);

/* One entry, i and j from 0, at that place of the line. */
gbs_status gbsi_couplings_add(gbsi_couplings *c, const gbsi_text *line, gbsi_token place,
                              uint64_t i, uint64_t j, double value, gbs_error *err);

/* How entries at (i, j) and (j, i) relate. */
typedef enum gbsi_pairing {
    GBSI_PAIR_ONCE,   /* they are one place, named twice */
    GBSI_PAIR_MIRROR, /* two places, which must agree, of one coupling */
} gbsi_pairing;

/* Repeated entries are a deviation (lenient: summed). @param binary over {0, 1}, not spins. */
gbs_status gbsi_couplings_build(gbsi_couplings *c, gbsi_pairing pairing, bool binary,
                                gbs_model **model, gbs_error *err);

/* The two values of a coupling in a full matrix differ. */
gbs_status gbsi_refuse_mirror(const gbsi_text *text, gbsi_token place, double one, double other,
                              gbs_error *err);

/* A constant that the written file has no place for: told to options->warn unless it is zero. */
void gbsi_tell_constant(const gbs_write_options *options, const gbs_output *output,
                        const char *format, double constant);

#endif
