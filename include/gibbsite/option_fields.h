/* SPDX-License-Identifier: Apache-2.0 */
/* Made by tools/option_fields.c from options.def, enums.def and question_enums.def: change
 * those, and then run
 *
 *     ./dev build */
/* clang-format off */
/** The choices of options, and the fields of gbs_run_options that options.h includes. */
#ifndef GIBBSITE_OPTION_FIELDS_H
#define GIBBSITE_OPTION_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gbs_method {
    /** "auto": exact where that is predicted to take at most half of the time, else sampled */
    GBS_METHOD_AUTO = 100,
    /** "exact": junction trees; an error if they do not fit */
    GBS_METHOD_EXACT = 1,
    /** "sample": Markov chains */
    GBS_METHOD_SAMPLE = 2,
    /** "mean-field": an approximation by independent variables; its error is not known */
    GBS_METHOD_MEAN_FIELD = 3,
    /** "bp": loopy belief propagation, exact on trees; its error is not known */
    GBS_METHOD_BELIEF = 4,
} gbs_method;

typedef enum gbs_scan_kind {
    /** "chromatic": colour by colour of a graph colouring: neighbours differ in colour */
    GBS_SCAN_CHROMATIC = 0,
    /** "systematic": in the order of the model, beginning at origin */
    GBS_SCAN_SYSTEMATIC = 1,
    /** "random": each update takes a variable drawn at random */
    GBS_SCAN_RANDOM = 2,
    /** "permuted": each pass visits all variables in a new random order */
    GBS_SCAN_PERMUTED = 3,
    /** "sequence": the order in gbs_run_options.sequence, read from a scan file */
    GBS_SCAN_SEQUENCE = 4,
    /** "synchronous": all variables at once, from the states before */
    GBS_SCAN_SYNCHRONOUS = 5,
    /** "splash": blocks of variables, each drawn jointly by a junction tree */
    GBS_SCAN_SPLASH = 6,
    /** "cluster": Ising and Potts models: all clusters of equal states, then as chromatic */
    GBS_SCAN_CLUSTER = 7,
    /** "wolff": Ising and Potts models: --clusters clusters, one after the other, then as
     * chromatic */
    GBS_SCAN_WOLFF = 8,
    /** "auto": chromatic or splash, chosen by a pilot run */
    GBS_SCAN_AUTO = 100,
    /** "usual": chromatic, but as auto where hard zeros may block one-variable updates */
    GBS_SCAN_USUAL = 101,
} gbs_scan_kind;

typedef enum gbs_grow_kind {
    /** "fifo": the candidate found first */
    GBS_GROW_FIFO = 0,
    /** "random": a candidate at random */
    GBS_GROW_RANDOM = 1,
    /** "adaptive": the candidate with the largest score */
    GBS_GROW_ADAPTIVE = 2,
} gbs_grow_kind;

typedef enum gbs_score_kind {
    /** "coupling": how much the state of the variable depends on the states of the splash */
    GBS_SCORE_COUPLING = 0,
    /** "literal": the score as printed in the paper, a mean */
    GBS_SCORE_LITERAL = 1,
} gbs_score_kind;

typedef enum gbs_locking_kind {
    /** "reservation": the same result on any number of threads */
    GBS_LOCKING_RESERVATION = 0,
    /** "blanket": threads race: results differ from run to run */
    GBS_LOCKING_BLANKET = 1,
} gbs_locking_kind;

typedef enum gbs_draw_kind {
    /** "random": independent random numbers */
    GBS_DRAW_RANDOM = 0,
    /** "herded": herding with a weight for each joint state of the neighbours (see keys) */
    GBS_DRAW_HERDED = 1,
    /** "herded-shared": herding with a weight for each conditional distribution */
    GBS_DRAW_HERDED_SHARED = 2,
    /** "herded-complete": herding with a weight for each joint state of all other variables */
    GBS_DRAW_HERDED_COMPLETE = 3,
    /** "discretized": herding with a weight for each interval of probabilities */
    GBS_DRAW_DISCRETIZED = 4,
    /** "one-bin": herding with one weight for each variable */
    GBS_DRAW_ONE_BIN = 5,
    /** "randomly-discretized": herding with the conditional probability rounded at random to a
     * multiple of 1 / bins */
    GBS_DRAW_RANDOMLY_DISCRETIZED = 6,
    /** "bounded-error": random while herding weights are at most the threshold, else herding */
    GBS_DRAW_BOUNDED_ERROR = 7,
    /** "cud": random numbers replaced by the whole period of a small shift register */
    GBS_DRAW_CUD = 8,
} gbs_draw_kind;

typedef enum gbs_keys_kind {
    /** "auto": depends on the draw */
    GBS_KEYS_AUTO = 100,
    /** "neighbours": situations with the same joint state of the neighbours */
    GBS_KEYS_NEIGHBOURS = 1,
    /** "shared": situations with the same conditional distribution */
    GBS_KEYS_SHARED = 2,
    /** "sum": situations with the same sum of neighbours' states, where it determines the
     * conditional */
    GBS_KEYS_SUM = 3,
    /** "complete": situations with the same joint state of all other variables */
    GBS_KEYS_COMPLETE = 4,
    /** "bins": situations whose conditional probability is in the same interval */
    GBS_KEYS_BINS = 5,
    /** "one": all situations of the variable */
    GBS_KEYS_ONE = 6,
} gbs_keys_kind;

typedef enum gbs_herd_rule {
    /** "auto": post where one weight serves several probabilities */
    GBS_HERD_RULE_AUTO = 100,
    /** "pre": decide before the probability is added */
    GBS_HERD_PRE = 1,
    /** "post": decide after the probability is added */
    GBS_HERD_POST = 2,
} gbs_herd_rule;

typedef enum gbs_herd_init {
    /** "random": uniform at random */
    GBS_HERD_RANDOM = 0,
    /** "centre": in the middle of their range */
    GBS_HERD_CENTRE = 1,
    /** "zero": at zero */
    GBS_HERD_ZERO = 2,
} gbs_herd_init;

typedef enum gbs_bin_edge {
    /** "right": the edge at the larger probability */
    GBS_BIN_RIGHT = 0,
    /** "left": the edge at the smaller probability */
    GBS_BIN_LEFT = 1,
} gbs_bin_edge;

typedef enum gbs_bin_rule {
    /** "stick": decide state by state */
    GBS_BIN_STICK = 0,
    /** "argmax": take the state with the largest weight */
    GBS_BIN_ARGMAX = 1,
} gbs_bin_rule;

typedef enum gbs_cud_scheme {
    /** "tribble": as in Tribble (2007) */
    GBS_CUD_TRIBBLE = 0,
    /** "chen": as in Chen et al. (2012) */
    GBS_CUD_CHEN = 1,
} gbs_cud_scheme;

typedef enum gbs_estimator_kind {
    /** "rao-blackwell": marginals as averages of conditional distributions */
    GBS_ESTIMATOR_RAO_BLACKWELL = 0,
    /** "count": marginals as relative frequencies of states */
    GBS_ESTIMATOR_COUNT = 1,
    /** "traces": only energy and magnetisation of spins, no marginals */
    GBS_ESTIMATOR_TRACES = 2,
} gbs_estimator_kind;

typedef enum gbs_lattice_choice {
    /** "auto": where the model allows it, it is faster and the estimator is not rao-blackwell */
    GBS_LATTICE_AUTO = 100,
    /** "never": never use bits */
    GBS_LATTICE_NEVER = 1,
    /** "always": use bits, or fail with the reason */
    GBS_LATTICE_ALWAYS = 2,
} gbs_lattice_choice;

typedef enum gbs_schedule_kind {
    /** "linear": by equal steps */
    GBS_SCHEDULE_LINEAR = 0,
    /** "geometric": by equal ratios */
    GBS_SCHEDULE_GEOMETRIC = 1,
} gbs_schedule_kind;

typedef enum gbs_mean_field_schedule {
    /** "seq": one variable after the other, each from the newest values */
    GBS_MEAN_FIELD_SEQUENTIAL = 0,
    /** "jacobi": all variables at once, from the values of the last iteration */
    GBS_MEAN_FIELD_JACOBI = 1,
} gbs_mean_field_schedule;

typedef enum gbs_learn_objective {
    /** "pseudo": the pseudo-likelihood, of complete rows */
    GBS_LEARN_PSEUDO = 0,
    /** "likelihood": the likelihood, by a junction tree; rows may lack values, and variables a
     * column */
    GBS_LEARN_LIKELIHOOD = 1,
    /** "sampled": the likelihood, by chains, where no tree fits; rows may lack values as well */
    GBS_LEARN_SAMPLED = 2,
} gbs_learn_objective;

typedef enum gbs_learn_scan {
    /** "systematic": each once, in the order of the model */
    GBS_LEARN_SCAN_SYSTEMATIC = 0,
    /** "random": as many as have a choice, each any one of them */
    GBS_LEARN_SCAN_RANDOM = 1,
    /** "optimised": those of a scan that is optimised for the weights of the moment, see
     * gibbsite/dobrushin.h */
    GBS_LEARN_SCAN_OPTIMISED = 2,
} gbs_learn_scan;

typedef enum gbs_learn_method {
    /** "pcd": they go on from the step before */
    GBS_LEARN_PERSISTENT = 0,
    /** "cd": at the rows: contrastive divergence */
    GBS_LEARN_RESTARTED = 1,
} gbs_learn_method;

typedef enum gbs_potts_method {
    /** "pl": maximum pseudo-likelihood, by L-BFGS on all sites together */
    GBS_POTTS_PL = 0,
    /** "pcd": from there maximum likelihood by persistent chains */
    GBS_POTTS_PCD = 1,
    /** "asymmetric": maximum pseudo-likelihood of each site alone, with couplings of its own; the
     * two of a pair are averaged */
    GBS_POTTS_ASYMMETRIC = 2,
} gbs_potts_method;

typedef enum gbs_crf_objective {
    /** "auto": the likelihood; with links its gradient is sampled */
    GBS_CRF_AUTO = 0,
    /** "pseudo": with links: the pseudo-likelihood (Besag 1975), quickly */
    GBS_CRF_PSEUDO = 1,
    /** "likelihood": with links: the likelihood, with a sampled gradient */
    GBS_CRF_CONTRAST = 2,
} gbs_crf_objective;

typedef enum gbs_prior {
    /** "none": nothing: maximum likelihood */
    GBS_PRIOR_NONE = 0,
    /** "bdeu": Dirichlet of weight / (r q) for each entry */
    GBS_PRIOR_BDEU = 1,
    /** "dirichlet": Dirichlet of weight for each entry */
    GBS_PRIOR_DIRICHLET = 2,
} gbs_prior;

typedef enum gbs_expectations {
    /** "auto": the junction tree where it holds: within half of what is free unless memory_limit is
     * given, and 2^40 entries over all rows */
    GBS_EXPECTATIONS_AUTO = 0,
    /** "exact": the junction tree, or an error */
    GBS_EXPECTATIONS_EXACT = 1,
    /** "sample": draws given each row */
    GBS_EXPECTATIONS_SAMPLED = 2,
} gbs_expectations;

typedef enum gbs_rbm_method {
    /** "pcd": persistent chains: where the step before left them */
    GBS_RBM_PCD = 0,
    /** "cd": contrastive divergence: at the rows of the minibatch */
    GBS_RBM_CD = 1,
} gbs_rbm_method;

typedef enum gbs_rbm_draw {
    /** "random": independently */
    GBS_RBM_RANDOM = 0,
    /** "herded": by weights of each unit of each chain */
    GBS_RBM_HERDED = 1,
} gbs_rbm_draw;

typedef enum gbs_noise {
    /** "flip": it shows another level with probability noise_level, each alike */
    GBS_NOISE_FLIP = 0,
    /** "gauss": a normal number of standard deviation noise_level is added to it */
    GBS_NOISE_GAUSS = 1,
} gbs_noise;

typedef enum gbs_smoothing {
    /** "potts": d = 1[x_i != x_j] */
    GBS_SMOOTHING_POTTS = 0,
    /** "quadratic": d = min((x_i - x_j)^2, truncation) */
    GBS_SMOOTHING_QUADRATIC = 1,
} gbs_smoothing;

typedef enum gbs_neighbours {
    /** "4": those above, below, to the left and to the right */
    GBS_NEIGHBOURS_4 = 4,
    /** "8": diagonal ones too */
    GBS_NEIGHBOURS_8 = 8,
} gbs_neighbours;

/**
 * Options of a run: start from gbs_run_options_default() and change fields.
 *
 * Fields never move: later versions of the library append fields. They accept the smaller
 * struct of a program compiled with any earlier version, and use the defaults for the
 * fields it lacks. A default that is followed by ":" and words means what these say.
 */
typedef struct gbs_run_options {
    size_t size; /**< bytes in the caller's struct; gbs_run_options_init() sets it */
    /* The arrays are borrowed until gbs_run_new() returns. */
    const uint32_t *sequence; /**< for GBS_SCAN_SEQUENCE: [sequence_length] variable ids */
    size_t sequence_length;
    const uint32_t *dummy_edges; /**< NULL, or [2 * n_dummy_edges] pairs of variables: herding
                                      treats the two variables of a pair as neighbours */
    size_t n_dummy_edges;
    const uint32_t *target; /**< with restarts: NULL, or [n_targets] variables to estimate; other
                                 variables are updated but have no estimate */
    size_t n_targets;
    const uint32_t *start; /**< NULL, or [n_variables]: the initial state of every chain */
    /** junction trees, chains or an approximation; auto: exact if predicted to take at most half of
     * the time. Option --method: a gbs_method, default GBS_METHOD_AUTO. */
    int method;
    /** mean-field, bp: weight of the new value in an update; 1: no damping; auto: 1, for bp 0.5
     * after 50 iterations. Option --damping (D): 1e-6 to 1.0, default GBS_DAMPING_AUTO: auto is
     * GBS_DAMPING_AUTO. */
    double damping;
    /** mean-field: update variables one after the other (seq) or all at once. Option
     * --mean-field-schedule: a gbs_mean_field_schedule, default GBS_MEAN_FIELD_SEQUENTIAL. */
    int mean_field_schedule;
    /** mean-field, bp: largest number of iterations, each over all variables. Option --iterations
     * (iterations): 1 to UINT64_MAX, default 10000. */
    uint64_t iterations;
    /** order in which variables are updated; auto: a pilot run chooses chromatic or splash; usual:
     * chromatic, but as auto where hard zeros may block one-variable updates. Option --scan: a
     * gbs_scan_kind, default GBS_SCAN_USUAL. */
    int scan;
    /** first variable of the systematic scan. Option --origin (variable): 0 to UINT32_MAX, default
     * 0. */
    uint64_t origin;
    /** splash: largest width of a block's junction tree; 1: the block is a tree. Option --width
     * (W): 1 to 16, default 5. */
    uint64_t width;
    /** splash: largest number of variables in one block. Option --splash-size (variables): 1 to
     * UINT64_C(1) << 20, default 0: 1000, or less so that blocks grow side by side. */
    uint64_t splash_size;
    /** splash: number of blocks drawn at the same time. Option --splashes (P): 1 to 1024, default
     * 8. */
    uint64_t splashes;
    /** splash: which variable a block takes next; adaptive: by --score, in the first --adapt
     * rounds. Option --grow: a gbs_grow_kind, default GBS_GROW_RANDOM. */
    int grow;
    /** splash: rounds of burn-in in which blocks grow by --score; later they grow at random. Option
     * --adapt (rounds): 0 to UINT64_MAX, default 0. */
    uint64_t adapt;
    /** splash: score for adaptive growth; literal: the score as printed in the paper, a mean.
     * Option --score: a gbs_score_kind, default GBS_SCORE_COUPLING. */
    int score;
    /** splash: how blocks are kept apart; blanket: threads race, results differ from run to run.
     * Option --locking: a gbs_locking_kind, default GBS_LOCKING_RESERVATION. */
    int locking;
    /** how a value is picked from its conditional distribution. Option --draw: a gbs_draw_kind,
     * default GBS_DRAW_RANDOM. */
    int draw;
    /** which situations share a herding weight; auto: depends on --draw. Option --keys: a
     * gbs_keys_kind, default GBS_KEYS_AUTO. */
    int keys;
    /** herding: decide before (pre) or after (post) adding the probability to the weight; auto:
     * post where one weight serves several probabilities. Option --herd-rule: a gbs_herd_rule,
     * default GBS_HERD_RULE_AUTO. */
    int herd_rule;
    /** initial value of herding weights. Option --herd-init: a gbs_herd_init, default
     * GBS_HERD_RANDOM. */
    int herd_init;
    /** discretized draws: which edge of an interval of probabilities belongs to it. Option
     * --bin-edge: a gbs_bin_edge, default GBS_BIN_RIGHT. */
    int bin_edge;
    /** discretized, more than two states: decide state by state, or take the largest weight. Option
     * --bin-rule: a gbs_bin_rule, default GBS_BIN_STICK. */
    int bin_rule;
    /** bounded-error: draw at random while weights are at most C; 0: herding; auto: C is found by
     * shorter and longer trial runs. Option --threshold (C): 0.0 to 1e9, default 1.0: auto is
     * GBS_THRESHOLD_AUTO. */
    double threshold;
    /** discretized draws: number of intervals of probabilities. Option --bins (bins): 1 to 65536,
     * default 0: the square root of the sweeps (bounded-error: of sweeps / (1 + threshold)), at
     * most 64. */
    uint64_t bins;
    /** cud: how numbers are read from the shift register. Option --cud-scheme: a gbs_cud_scheme,
     * default GBS_CUD_TRIBBLE. */
    int cud_scheme;
    /** cud: bits of the shift register, 3 to 32; its period is 2^M - 1 sweeps. Option --cud-bits
     * (M): 1 to 32, default 0: follows from --sweeps or --target-error. */
    uint64_t cud_bits;
    /** cud: bits from one number to the next, coprime to the period. Option --cud-offset (G): 1 to
     * UINT32_MAX, default 0: depends on --cud-scheme and the number of variables. */
    uint64_t cud_offset;
    /** average conditionals, count states, or only record energy and magnetisation of spins. Option
     * --estimator: a gbs_estimator_kind, default GBS_ESTIMATOR_RAO_BLACKWELL. */
    int estimator;
    /** one spin per bit: a word holds sites of a lattice, or chains; auto: with --estimator count
     * or traces, where it is faster. Option --lattice: a gbs_lattice_choice, default
     * GBS_LATTICE_AUTO. */
    int lattice;
    /** map: how the temperature falls from tau0 to tau0 / sweeps. Option --schedule: a
     * gbs_schedule_kind, default GBS_SCHEDULE_LINEAR. */
    int schedule;
    /** map: the first temperature. Option --tau0 (T): 1e-6 to 1e6, default 0.0: from the sizes of
     * the couplings. */
    double tau0;
    /** independent chains. Option --chains (chains): 1 to 4096, default 16. */
    uint64_t chains;
    /** passes kept per chain. Option --sweeps (passes): 1 to UINT64_MAX / 2, default 0: until
     * another option or its default ends the run. */
    uint64_t sweeps;
    /** passes discarded first. Option --burn-in (passes): 0 to UINT64_MAX - 1, default
     * GBS_BURN_IN_AUTO: until split R-hat of the log density < 1.05. */
    uint64_t burn_in;
    /** take a burn-in proved to bring every marginal this close to its limit (total variation),
     * from any start. Option --certified (probability): 0.0 to 1.0, default 0.0: --burn-in
     * decides. */
    double certified;
    /** sample: keep every N-th pass. Option --thin (passes): 1 to UINT32_MAX, default 1. */
    uint64_t thin;
    /** stop when all standard errors are below X, or after --sweeps if that is sooner. Option
     * --target-error (probability): 0.0 to 1.0, default 0.0: 0.005, or none with --sweeps. */
    double target_error;
    /** stop after this long. Option --time (seconds): 0.0 to 1e9, default 0.0: no limit. */
    double time_s;
    /** stop after this many updates over all chains. Option --max-updates (updates): 1 to
     * UINT64_MAX, default 0: 50000000000, or no limit with --sweeps. */
    uint64_t max_updates;
    /** 64-bit seed of the random numbers. Option --seed: 0 to UINT64_MAX, default 1. */
    uint64_t seed;
    /** number of threads; results do not depend on it. Option --threads (threads): 1 to 1024,
     * default 0: all cores. */
    uint64_t threads;
    /** refuse work that would need more memory than this. Option --memory-limit (bytes): 1 to
     * UINT64_MAX, default 0: half of the machine's memory or cgroup limit. */
    uint64_t memory_limit;
    /** the scan file may omit variables, which then have no estimate. Option --partial-scan: 0 or
     * 1, default 0. */
    int partial_scan;
    /** every pass of the scan file starts from a new state and yields one independent draw. Option
     * --restarts: 0 or 1, default 0. */
    int restarts;
    /** auto: without --time, the time by which exact answers and sampling are compared; it stops
     * nothing. Option --budget (seconds): 1e-3 to 1e9, default 60.0. */
    double budget_s;
    /** temperatures of a ladder of chains that swap states; auto: where plain chains disagree.
     * Option --temper (N): 2 to 256, default 0: auto; 1 is off. */
    uint64_t temper;
    /** where the memory limit is too small for --chains, halve them, but to no fewer than this.
     * Option --least-chains (chains): 1 to 4096, default 0: refuse the run. */
    uint64_t least_chains;
    /** with --checkpoint: time from one checkpoint to the next. Option --checkpoint-every
     * (seconds): 1e-9 to 1e9, default 300.0. */
    double checkpoint_every_s;
    /** map: maxima over blocks of variables after a schedule may take up to X times as long as its
     * sweeps; 0: there are none. Option --block-time (X): 0.0 to 1e6, default 32.0. */
    double block_time;
    /** wolff: number of clusters that a pass grows and moves, one after the other. Option
     * --clusters (clusters): 1 to UINT64_C(1) << 30, default 1. */
    uint64_t clusters;
} gbs_run_options;

#ifdef __cplusplus
}
#endif
#endif
