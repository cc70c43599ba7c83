/* SPDX-License-Identifier: Apache-2.0 */
/* A scan decides which variables are updated next; each scan is a table of functions. A scan has
 * access to the graph, never to the plan. A pass is one run through its sequence: a sweep, or a
 * scan file. */
#ifndef GBSI_SCAN_SCAN_H
#define GBSI_SCAN_SCAN_H

#include "gibbsite/run.h"
#include "graph/graph.h"

/* Traits. */
#define GBSI_SCAN_REPEATS   1u   /* every pass has the same sequence: the schedule is made once */
#define GBSI_SCAN_EACH_ONCE 2u   /* every free variable occurs exactly once in a pass */
#define GBSI_SCAN_COLORED   4u   /* the levels of a pass are the colours of gbsi_graph_color() */
#define GBSI_SCAN_SPLITS    8u   /* a chain is composed of two chains that run together [M34] */
#define GBSI_SCAN_BLOCKS    16u  /* passes are rounds of splashes; the sequence numbers the plan */
#define GBSI_SCAN_READS     32u  /* the sequence is options.sequence */
#define GBSI_SCAN_BASE      64u  /* the scan that a pilot tries first, and falls back on */
#define GBSI_SCAN_CANDIDATE 128u /* the scan that a pilot tries next, with growing width */
#define GBSI_SCAN_UNIFORM                                                   \
    256u /* every update takes a variable drawn uniformly at random: bounds \
            hold for the mean over all sequences */

#define GBSI_SCAN_AT_ONCE                                                     \
    512u /* every update reads the states before the pass, so that the target \
            is not left invariant; the first of the two chains is told */

/* A sequence owned by the scan, valid until the next call. */
typedef struct gbsi_sequence {
    const uint32_t *variable; /* [n] free variables */
    size_t n;
} gbsi_sequence;

typedef struct gbsi_scan {
    const char *name;      /* "chromatic": used by command line, Python and files; never changes */
    const char *reference; /* the publication that describes the scan */
    unsigned traits;
    /* Names of the options that this scan has and not all others; NULL after the last, NULL: none.
     * A scan without these functions is refused where they are needed. */
    const char *const *options;
    /* Whether the values of its options go together; NULL: they always do. */
    gbs_status (*check)(const gbs_run_options *options, gbs_error *err);
    /* On entry *traits holds the table's traits. init may remove some: the traits of a scan file
     * depend on the file. Long work asks the watch; NULL: never stops. */
    gbs_status (*init)(const gbsi_graph *graph, const gbs_run_options *options, gbsi_watch *watch,
                       void **state, unsigned *traits, gbs_error *err);
    /* The sequence of a pass, a pure function of (state after init, seed, pass). */
    gbs_status (*next_pass)(void *state, uint64_t pass, gbsi_sequence *sequence, gbs_error *err);
    void (*free)(void *state);
} gbsi_scan;

/* The scan with this number in gbs_run_options.scan; NULL if no scan has this number. */
const gbsi_scan *gbsi_scan_of(int scan_kind);
/* The traits of the scan with this number; 0 if no scan has it. */
unsigned gbsi_scan_traits(int scan_kind);
/* The names of its options, as in its table. */
const char *const *gbsi_scan_options(int scan_kind);
/* The number of the first scan with these traits. */
int gbsi_scan_with(unsigned traits);
/* The name of the scan with GBSI_SCAN_BASE, for messages that advise it. */
const char *gbsi_scan_base_name(void);

/* The value of options.scan is a scan, or a rule by which a pilot chooses one. */
typedef enum gbsi_scan_choice {
    GBSI_CHOICE_NAMED,   /* a scan: nothing to choose */
    GBSI_CHOICE_TRIED,   /* choose by trials */
    GBSI_CHOICE_BY_NEED, /* choose by trials only if hard zeros may stop updates of one variable */
} gbsi_scan_choice;
gbsi_scan_choice gbsi_scan_choice_of(int scan_kind);
/* All scans, in the order of gbs_scan_kind. */
extern const gbsi_scan *const gbsi_scans[];
extern const size_t gbsi_n_scans;

#endif
