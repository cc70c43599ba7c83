/* SPDX-License-Identifier: Apache-2.0 */
/* Which variables come next: a table of functions per scan. It sees the graph, never the plan.
 * A pass is one run through the sequence: a sweep, or one reading of a scan file. */
#ifndef GBSI_SCAN_SCAN_H
#define GBSI_SCAN_SCAN_H

#include "gibbsite/run.h"
#include "graph/graph.h"

/* Traits. */
#define GBSI_SCAN_REPEATS   1u   /* every pass has the same sequence: the schedule is made once */
#define GBSI_SCAN_EACH_ONCE 2u   /* every free variable occurs exactly once in a pass */
#define GBSI_SCAN_COLORED   4u   /* the levels of a pass are the colours of gbsi_graph_color() */
#define GBSI_SCAN_SPLITS    8u   /* a chain is told from two chains that run side by side [M34] */
#define GBSI_SCAN_BLOCKS    16u  /* passes are rounds of splashes; the sequence numbers the plan */
#define GBSI_SCAN_READS     32u  /* the sequence is options.sequence */
#define GBSI_SCAN_BASE      64u  /* what a pilot begins with, and falls back on */
#define GBSI_SCAN_CANDIDATE 128u /* what a pilot tries then, with growing width */

struct gbsi_pass;

/* A sequence owned by the scan, valid until the next call. */
typedef struct gbsi_sequence {
    const uint32_t *variable; /* [n] free variables */
    size_t n;
} gbsi_sequence;

typedef struct gbsi_scan {
    const char *name;      /* "chromatic": used by command line, Python and files; never changes */
    const char *reference; /* where the scan is written down */
    unsigned traits;
    const struct gbsi_pass *pass; /* plan/pass.h: what runs it; NULL: tiles, by the schedule of its
                                     sequences */
    /* *traits holds the table's on entry. A scan file's depend on the file: init may narrow them.
     */
    gbs_status (*init)(const gbsi_graph *graph, const gbs_run_options *options, void **state,
                       unsigned *traits, gbs_error *err);
    /* The sequence of a pass, a pure function of (state as made, seed, pass). */
    gbs_status (*next_pass)(void *state, uint64_t pass, gbsi_sequence *sequence, gbs_error *err);
    void (*free)(void *state);
} gbsi_scan;

/* The scan of gbs_run_options.scan; NULL if there is none. */
const gbsi_scan *gbsi_scan_of(int scan_kind);
/* The traits of its table; 0 if there is none. */
unsigned gbsi_scan_traits(int scan_kind);
/* The number of the first scan with these traits. */
int gbsi_scan_with(unsigned traits);

/* What stands in options.scan: a scan, or a rule by which a pilot chooses one. */
typedef enum gbsi_scan_choice {
    GBSI_CHOICE_NAMED,   /* no choice */
    GBSI_CHOICE_TRIED,   /* by trials */
    GBSI_CHOICE_BY_NEED, /* by trials if updates of single variables may not cross hard zeros */
} gbsi_scan_choice;
gbsi_scan_choice gbsi_scan_choice_of(int scan_kind);
/* All of them, in the order of gbs_scan_kind. */
extern const gbsi_scan *const gbsi_scans[];
extern const size_t gbsi_n_scans;

#endif
