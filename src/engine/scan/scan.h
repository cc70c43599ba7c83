/* SPDX-License-Identifier: Apache-2.0 */
/* A scan decides which variables are updated next; each scan is a table of functions. A scan reads
 * the graph, but never the plan. A pass goes once through the sequence that the scan gives. The
 * pass of a scan file goes once through the file. */
#ifndef GBSI_SCAN_SCAN_H
#define GBSI_SCAN_SCAN_H

#include "gibbsite/run.h"
#include "graph/graph.h"

/* Traits of a scan. */
#define GBSI_SCAN_REPEATS   1u   /* all passes have the same sequence */
#define GBSI_SCAN_EACH_ONCE 2u   /* every free variable occurs exactly once in a pass */
#define GBSI_SCAN_COLORED   4u   /* the levels of a pass are the colours of gbsi_graph_color() */
#define GBSI_SCAN_SPLITS    8u   /* a chain is made of two chains that run together [M34] */
#define GBSI_SCAN_BLOCKS    16u  /* passes are rounds of splashes; the sequence numbers the slots */
#define GBSI_SCAN_READS     32u  /* the scan reads its sequence from options.sequence */
#define GBSI_SCAN_BASE      64u  /* a pilot tries this scan first, and uses it by default */
#define GBSI_SCAN_CANDIDATE 128u /* a pilot tries this scan after that, with growing width */
/* Every update takes a variable drawn uniformly at random. Bounds on the variation are then valid
 * for the mean over all sequences */
#define GBSI_SCAN_UNIFORM 256u

/* Every update reads the states before the pass, so that the target is not left invariant. If a
 * chain is made of two chains, only the first one is reported */
#define GBSI_SCAN_AT_ONCE 512u

/* Before the updates of its sequence, a pass moves clusters of variables: all clusters of the
 * chain, or, with GBSI_SCAN_GROWS too, options.clusters clusters that grow one after the other. */
#define GBSI_SCAN_CLUSTERS 1024u
#define GBSI_SCAN_GROWS    2048u

/* A sequence that the scan owns. It is valid until the next call of next_pass(). */
typedef struct gbsi_sequence {
    /* [n] free variables; in a sequence for bounds, GBSI_NONE is a variable drawn uniformly */
    const uint32_t *variable;
    size_t n;
} gbsi_sequence;

typedef struct gbsi_scan {
    const char *name;      /* name of the scan in the command line, in Python and in files; the name
                              never changes */
    const char *reference; /* the publication that describes the scan */
    unsigned traits;
    /* Names of the options that apply to this scan but not to all other scans, followed by NULL.
     * The pointer is NULL if no option is special to the scan. */
    const char *const *options;
    /* Checks whether the values of the scan's options fit each other; NULL if the values always
     * fit. */
    gbs_status (*check)(const gbs_run_options *options, gbs_error *err);
    /* Makes the state of a scan. On entry *traits has the traits of the table. The function may
     * remove some of these traits, because the traits of a scan file depend on the file. A watch
     * that is not NULL may stop long work. */
    gbs_status (*init)(const gbsi_graph *graph, const gbs_run_options *options, gbsi_watch *watch,
                       void **state, unsigned *traits, gbs_error *err);
    /* Gives the sequence of a pass, as a pure function of (state after init, seed, pass). */
    gbs_status (*next_pass)(void *state, uint64_t pass, gbsi_sequence *sequence, gbs_error *err);
    void (*free)(void *state);
} gbsi_scan;

/* Returns the scan with this number in gbs_run_options.scan; NULL if there is no such scan. */
const gbsi_scan *gbsi_scan_of(int scan_kind);
/* Returns the traits of the scan with this number; 0 if there is no such scan. */
unsigned gbsi_scan_traits(int scan_kind);
/* Returns the member `options` of the scan with this number. */
const char *const *gbsi_scan_options(int scan_kind);
/* Returns the number of the first scan with these traits. */
int gbsi_scan_with(unsigned traits);
/* Returns the name of the scan with GBSI_SCAN_BASE, for messages that recommend this scan. */
const char *gbsi_scan_base_name(void);

/* Kinds of values of options.scan. A value is a scan, or a rule by which a pilot chooses a scan. */
typedef enum gbsi_scan_choice {
    GBSI_CHOICE_NAMED,   /* the value is a scan */
    GBSI_CHOICE_TRIED,   /* a pilot chooses by trials */
    GBSI_CHOICE_BY_NEED, /* a pilot chooses by trials only if hard zeros may block updates of single
                            variables */
} gbsi_scan_choice;
gbsi_scan_choice gbsi_scan_choice_of(int scan_kind);
/* All scans, in the order of gbs_scan_kind. */
extern const gbsi_scan *const gbsi_scans[];
extern const size_t gbsi_n_scans;

#endif
