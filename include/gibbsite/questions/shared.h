/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that several questions share; README.md explains the columns. Each name expands to one row,
 * with the definitions that the macros GBS_ROW_* have where the table is included. */
#ifndef GIBBSITE_QUESTIONS_SHARED_H
#define GIBBSITE_QUESTIONS_SHARED_H

/* clang-format off */

/* ---- What is observed -------------------------------------------------------------------------- */

#define GBS_SHARED_EVIDENCE \
    GBS_ROW_LIST('e', evidence, "evidence", "FILE|NAME=STATE,...", \
        "observed variables: an evidence file, or variables with their states: 'smoke=yes', " \
        "'age=young|adult', 'crp!=low', 'smoke=#0' (state number 0); may be given several times", \
        "NAME=STATE", "observed: 'smoke=yes', 'age=young|adult'; or a file", QUESTION, "")
#define GBS_SHARED_LIKELIHOOD \
    GBS_ROW_TEXT(0, likelihood, "likelihood", "NAME=STATE:X|...,...", \
        "likelihoods of the states of variables; states that are not named have 0", \
        "...", "soft evidence: 'fever=yes:0.8|no:0.2'", QUESTION, "")
#define GBS_SHARED_VIRTUAL_EVIDENCE \
    GBS_ROW_TEXT(0, virtual_evidence, "virtual-evidence", "FILE", \
        "virtual (soft) evidence: likelihoods of the states of variables", \
        "", "", INPUT, "")
#define GBS_SHARED_FILE_EVIDENCE \
    GBS_ROW_FLAG(0, file_evidence, "file-evidence", 1, \
        "take the observations that the model file itself holds (XMLBIF of SamIam and AISpace) as " \
        "evidence", \
        "", "", INPUT, "")
#define GBS_SHARED_EVIDENCE_FORMAT \
    GBS_ROW_WORD(0, evidence_format, "evidence-format", "single|multi|tab|names", \
        "form of an evidence file; unset: by file name extension (.tab) and content", \
        "", "", INPUT, "")
#define GBS_SHARED_EVIDENCE_INDEX \
    GBS_ROW_COUNT(evidence_index, "evidence-index", 0, 0, UINT32_MAX, "K", \
        "use only sample K, counted from 0, of an evidence file with several; without it: all, with " \
        "results in FILE.0, FILE.1, ... (uai: the first)", \
        "", "", INPUT, "")

/* ---- What is asked and where the answer goes --------------------------------------------------- */

#define GBS_SHARED_QUERY GBS_SHARED_QUERY_IF("")
#define GBS_SHARED_QUERY_IF(needs) \
    GBS_ROW_TEXT(0, query, "query", "LIST|@FILE", \
        "variables to write: names, 0-based numbers, ranges such as 3-7; @FILE: a UAI query file; " \
        "unset: all", \
        "LIST", "variables to answer; unset: all", QUESTION, needs)
#define GBS_SHARED_MONITOR GBS_SHARED_MONITOR_IF("")
#define GBS_SHARED_MONITOR_IF(needs) \
    GBS_ROW_TEXT(0, monitor, "monitor", "LIST", \
        "variables to write: names, 0-based numbers, ranges such as 3-7; unset: all", \
        "LIST", "variables to write; unset: all", QUESTION, needs)
#define GBS_SHARED_GRID_OF_GENERATE \
    GBS_ROW_TEXT(0, grid, "grid", "RxC|AxBxC", \
        "sides of the grid (required)", \
        "", "", QUESTION, "")
#define GBS_SHARED_GRID_OF_INFLUENCES \
    GBS_ROW_TEXT(0, grid, "grid", "RxC", \
        "rows and columns of the variables, for rectangles", \
        "", "", QUESTION, "")
#define GBS_SHARED_TORUS \
    GBS_FIELD_FLAG(torus, "torus", \
        "join opposite sides", \
        "", "", QUESTION, "")
#define GBS_SHARED_VARIABLES \
    GBS_FIELD_COUNT(variables, "variables", 0, 1, GBS_MAX_VARIABLES, "N", \
        "number of variables (required)", "", \
        "", "", QUESTION, "")
#define GBS_SHARED_OUTPUT \
    GBS_ROW_TEXT('o', output, "output", "FILE", \
        "file for the result; its extension determines the format; unset: standard output", \
        "FILE", "file for the result; its extension is its format", RESULT, "")
#define GBS_SHARED_OUTPUT_OF_LEARNING \
    GBS_ROW_TEXT('o', output, "output", "FILE", \
        "file for the model; unset: standard output", \
        "FILE", "file for the model", RESULT, "")
#define GBS_SHARED_FORMAT \
    GBS_ROW_WORD(0, format, "format", GBS_MODEL_FORMATS, \
        "format of the model written", \
        "", "", RESULT, "")
#define GBS_SHARED_FORMAT_OF_LEARNING \
    GBS_ROW_WORD(0, format, "format", GBS_MODEL_FORMATS, \
        "format of the model written", \
        "NAME", "format of the model: gbm, uai, fg, ...", RESULT, "")
#define GBS_SHARED_FORMAT_RESULT \
    GBS_ROW_WORD(0, format, "format", "csv|table|json", \
        "format of the result", \
        "", "", RESULT, "")
#define GBS_SHARED_REPORT GBS_SHARED_REPORT_IF("")
#define GBS_SHARED_REPORT_IF(needs) \
    GBS_ROW_TEXT(0, report, "report", "FILE", \
        "write a page for a browser to FILE: the verdict, what was asked, the answer with charts, and " \
        "what repeats it", \
        "FILE.html", "a page with charts, for a browser", RESULT, needs)
#define GBS_SHARED_SUMMARY GBS_SHARED_SUMMARY_IF("")
#define GBS_SHARED_SUMMARY_IF(needs) \
    GBS_ROW_TEXT(0, summary, "summary", "FILE", \
        "write a summary of the run to FILE, as JSON", \
        "", "", INPUT, needs)
#define GBS_SHARED_REQUIRE_CONVERGED \
    GBS_ROW_FLAG(0, require_converged, "require-converged", 1, \
        "end with status 5 where the answer is not called converged; it is written all the same", \
        "", "", INPUT, "")
#define GBS_SHARED_OBSERVABLES \
    GBS_ROW_FLAG(0, observables, "observables", 1, \
        "spins and Potts models: energy, magnetisation, specific heat, susceptibility and Binder ratio " \
        "with errors and autocorrelation times, after the run and in --summary; nothing is exact then", \
        "", "", SCAN, "sampled")
#define GBS_SHARED_SERIES(needs) \
    GBS_ROW_TEXT(0, series, "series", "FILE", \
        "write the quantities of --observables in every kept sweep to FILE.npz, as arrays of chains by " \
        "sweeps", \
        "", "", SCAN, needs)
#define GBS_SHARED_TARGET \
    GBS_ROW_TEXT(0, targets, "target", "LIST", \
        "with --restarts: variables to estimate; unset: all that the scan visits", \
        "LIST", "variables whose distribution is bounded", SCAN, "")
#define GBS_SHARED_TARGET_OF_INFLUENCES \
    GBS_ROW_LIST(0, target, "target", "LIST|FILE|all|rectangle:...", \
        "variables whose distribution is bounded: names, 0-based numbers, ranges such as 3-7, a file " \
        "of weights, or rectangle:R0,C0,R1,C1 of a grid; certify takes it several times", \
        "LIST|FILE", "variables whose distribution is bounded; FILE: weights", QUESTION, "")
#define GBS_SHARED_INFLUENCE \
    GBS_ROW_WORD(0, influence, "influence", "auto|bound|exact", \
        "exact: influences by enumeration of up to 2^16 configurations of the neighbours; bound: upper " \
        "bounds; unset: auto, exact where that is fast", \
        "NAME", "auto; exact: by enumeration; bound: upper bounds", ACCURACY, "")
#define GBS_SHARED_INFLUENCES \
    GBS_ROW_TEXT(0, influences, "influences", "FILE", \
        "take influences from a Matrix Market file instead of computing them: row i, column j is that " \
        "of variable j - 1 on variable i - 1, 0 to 1", \
        "", "", INPUT, "no influence")
#define GBS_SHARED_WEIGHTS \
    GBS_ROW_TEXT(0, weights, "weights", "COLUMN", \
        "how many rows each row of DATA stands for, a number of 0 or more, is in this column", \
        "COLUMN", "how many rows each row stands for", QUESTION, "")
#define GBS_SHARED_TABLES(NEEDS) \
    GBS_ROW_WORD(0, table_states, "states", "labels|numbers", \
        "what the cells of tables of data hold: labels of states, or numbers of states from 0; unset: " \
        "labels, and numbers where a variable has no labels", \
        "labels|numbers", "cells are labels, or numbers of states", INPUT, NEEDS) \
    GBS_ROW_FLAG(0, strict, "strict", 1, \
        "refuse tables of data with columns that are no variable of the model, instead of leaving them out", \
        "", "refuse columns that are no variable", INPUT, NEEDS)
/* The smallest positive double. It stands for a typed 0 in fields where the value 0 means "not
 * set". */
#define GBS_SHARED_LEAST 5e-324
#define GBS_SHARED_HELD_OUT \
    GBS_ROW_TEXT(0, held_out, "held-out", "FILE|SHARE", \
        "report the pseudo-likelihood of other rows: those of a table, or a share of the rows of " \
        "DATA (0.2 or 20%), evenly spread, which are then not learnt from", \
        "FILE|SHARE", "rows to judge the result by: others, or 20%", QUESTION, "")
#define GBS_SHARED_CSV_SAFE \
    GBS_ROW_FLAG(0, csv_safe, "csv-safe", 1, \
        "in CSV put an apostrophe before texts that a spreadsheet would take for a formula", \
        "", "an apostrophe before texts like formulas", INPUT, "")
#define GBS_SHARED_FORMAT_TEXT \
    GBS_ROW_WORD(0, format, "format", "text|json", \
        "format of the result; unset: text", \
        "", "", RESULT, "")
#define GBS_SHARED_JSON \
    GBS_ROW_FLAG(0, json, "json", 1, \
        "the same as --format json", \
        "", "", INPUT, "")
#define GBS_SHARED_LOG_BASE GBS_SHARED_LOG_BASE_IF("")
#define GBS_SHARED_LOG_BASE_IF(needs) \
    GBS_ROW_WORD(0, log_base, "log-base", "10|e", \
        "base of the logarithm in a .PR file; unset: 10", \
        "", "", INPUT, needs)
#define GBS_SHARED_UAI_MPE GBS_SHARED_UAI_MPE_IF("")
#define GBS_SHARED_UAI_MPE_IF(needs) \
    GBS_ROW_FLAG(0, uai_mpe, "uai-mpe", 1, \
        "begin a .MAP file with the word MPE", \
        "", "", INPUT, needs)

/* ---- Model files ------------------------------------------------------------------------------- */

#define GBS_SHARED_FROM \
    GBS_ROW_WORD(0, from, "from", GBS_SOURCE_FORMATS, \
        "format of MODEL, by default found from the file name extension", \
        "", "", INPUT, "")
#define GBS_SHARED_CONVENTION \
    GBS_ROW_WORD(0, convention, "convention", "physics|bqm|maxcut", \
        "sign of couplings in MODEL (.mtx, .rud, .coo); unset: the default of its format", \
        "", "", INPUT, "")
#define GBS_SHARED_DIAGONAL \
    GBS_ROW_WORD(0, diagonal, "diagonal", "field|ignore|error", \
        "meaning of the diagonal of a matrix of couplings; unset: field", \
        "", "", INPUT, "")
#define GBS_SHARED_VARTYPE \
    GBS_ROW_WORD(0, vartype, "vartype", "SPIN|BINARY", \
        "what the variables of a .coo file are: spins -1 and +1, or bits 0 and 1; unset: as its line " \
        "'# vartype=' says", \
        "", "", INPUT, "")
#define GBS_SHARED_OFFSET \
    GBS_ROW_REAL(offset, "offset", 0.0, -1e280, 1e280, "E", \
        "constant energy of a .coo file that has no line '# offset='", \
        "", "", INPUT, "")
#define GBS_SHARED_WEIGHT_SCALE \
    GBS_ROW_REAL(weight_scale, "weight-scale", 1.0, 1e-300, 1e300, "X", \
        "multiply the weights of clauses (.wcnf, .mln) by X", \
        "", "", INPUT, "")
#define GBS_SHARED_COLORS \
    GBS_ROW_COUNT(colors, "colors", 0, 1, GBS_MAX_ARITY, "K", \
        "number of colours for a graph (.col); unset: such models are refused", \
        "", "", INPUT, "")
#define GBS_SHARED_LENIENT \
    GBS_ROW_FLAG(0, lenient, "lenient", 1, \
        "warn about what gibbsite-formats(5) marks lenient, instead of refusing it", \
        "", "", INPUT, "")
#define GBS_SHARED_NORMALIZE_CPTS \
    GBS_ROW_FLAG(0, normalize_cpts, "normalize-cpts", 1, \
        "scale columns of conditional tables to sum to one", \
        "", "", INPUT, "")
#define GBS_SHARED_TABLE_ORDER \
    GBS_ROW_WORD(0, table_order, "table-order", \
        "parents-child|child-parents|reversed-child|child-reversed", \
        "order in which the entries of conditional tables stand in MODEL, the slowest first; " \
        "reversed: the first parent is the fastest of the parents; unset: that of its format", \
        "", "", INPUT, "")
#define GBS_SHARED_FLOAT_FORMAT \
    GBS_ROW_WORD(0, float_format, "float-format", "shortest|fixed", \
        "numbers with the fewest digits that read back exactly, or as digits[.digits] without exponents", \
        "", "", INPUT, "")
#define GBS_SHARED_WRITE_CONVENTION \
    GBS_ROW_WORD(0, convention_out, "write-convention", "physics|bqm|maxcut", \
        "sign of couplings in the model written; unset: the default of its format", \
        "", "", INPUT, "")
#define GBS_SHARED_WRITE_MODEL \
    GBS_ROW_TEXT(0, write_model, "write-model", "FILE", \
        "write the model, for other verbs; its extension is its format", \
        "FILE", "the model, for other verbs", INPUT, "")

/* ---- Limits ------------------------------------------------------------------------------------ */

#define GBS_SHARED_TIME \
    GBS_ROW_RUN(time_s, "time", "TIME", "stop after 20s, 5m or 2h with what is there", ACCURACY, "")
#define GBS_SHARED_THREADS \
    GBS_ROW_RUN(threads, "threads", \
        "N", "unset: one per processor; the answer is the same", ACCURACY, "")
/* These rows are for verbs whose work is done by one thread, so that scripts can give all verbs the
 * same options. */
#define GBS_SHARED_THREADS_OF_ONE \
    GBS_ROW_RUN(threads, "threads", "N", "any number; one thread does the work", ACCURACY, "")
#define GBS_SHARED_MEMORY_LIMIT \
    GBS_ROW_RUN(memory_limit, "memory-limit", "SIZE", "most memory to use: 512M, 4G", ACCURACY, "")
#define GBS_SHARED_MEMORY_LIMIT_OF_PICTURES \
    GBS_ROW_RUN(memory_limit, "memory-limit", "SIZE", "most memory to use: 512M, 4G", INPUT, "")
#define GBS_SHARED_BUDGET \
    GBS_ROW_RUN(budget_s, "budget", "", "", SCAN, "")
#define GBS_SHARED_MAX_UPDATES \
    GBS_ROW_RUN(max_updates, "max-updates", "", "", SCAN, "sampled")
#define GBS_SHARED_LEAST_CHAINS \
    GBS_ROW_RUN(least_chains, "least-chains", "", "", SCAN, "")
#define GBS_SHARED_PROGRESS \
    GBS_ROW_CHOICE(progress, "progress", "auto|always|never|json", \
        "progress on standard error: a bar, or lines of JSON; auto: a bar if it is a terminal; " \
        "json:FD: lines of JSON on descriptor FD", \
        "", "", INPUT, "")

/* ---- Random numbers, chains and their sweeps --------------------------------------------------- */

#define GBS_SHARED_SEED GBS_SHARED_SEED_IF("")
#define GBS_SHARED_SEED_IF(needs) \
    GBS_ROW_RUN(seed, "seed", "N", "what all random numbers follow from", ACCURACY, needs)
#define GBS_SHARED_SEED_OF_GENERATE \
    GBS_SHARED_SEED \
    GBS_BYNAME_RUN(seed, "seed")
#define GBS_SHARED_SEED_SCAN \
    GBS_ROW_RUN(seed, "seed", "N", "what all random numbers follow from", SCAN, "")
#define GBS_SHARED_METHOD \
    GBS_ROW_RUN(method, "method", "NAME", "auto: exact if fast enough; exact; sample", ACCURACY, "")
#define GBS_SHARED_METHOD_OF_PICTURES \
    GBS_ROW_RUN(method, "method", "NAME", "auto: exact if fast enough; exact; sample", SCAN, "")
#define GBS_SHARED_TARGET_ERROR \
    GBS_ROW_RUN(target_error, "target-error", \
        "X", "stop when every standard error is this small", ACCURACY, "")
#define GBS_SHARED_SWEEPS GBS_SHARED_SWEEPS_IF("sampled")
#define GBS_SHARED_SWEEPS_IF(needs) \
    GBS_ROW_RUN(sweeps, "sweeps", "N", "stop after so many sweeps: 5000, 10k, 1e6", ACCURACY, needs)
#define GBS_SHARED_SWEEPS_OF_LEARNING(needs) \
    GBS_FIELD_COUNT(sweeps, "sweeps", 1, 1, 1u << 20, "K", \
        "sweeps of the chains in each step, the k of CD-k", "", \
        "", "", SCAN, needs)
#define GBS_SHARED_CHAINS GBS_SHARED_CHAINS_IF("sampled")
#define GBS_SHARED_CHAINS_IF(needs) \
    GBS_ROW_RUN(chains, "chains", "N", "number of independent chains", ACCURACY, needs)
#define GBS_SHARED_CHAINS_OF_PICTURES \
    GBS_ROW_RUN(chains, "chains", "N", "number of independent chains", SCAN, "sampled")
#define GBS_SHARED_BURN_IN \
    GBS_ROW_RUN(burn_in, "burn-in", "", "", SCAN, "sampled")
#define GBS_SHARED_SCAN \
    GBS_ROW_RUN(scan, "scan", "NAME|FILE", "the order of updates; unset: three usual ones", SCAN, "sampled")
#define GBS_SHARED_ORIGIN \
    GBS_ROW_RUN(origin, "origin", "", "", SCAN, "sampled")
#define GBS_SHARED_TEMPER \
    GBS_ROW_RUN(temper, "temper", "", "", SCAN, "sampled")
#define GBS_SHARED_LATTICE \
    GBS_ROW_RUN(lattice, "lattice", "", "", SCAN, "sampled")
#define GBS_SHARED_ESTIMATOR \
    GBS_ROW_RUN(estimator, "estimator", "", "", SCAN, "sampled")
#define GBS_SHARED_START \
    GBS_ROW_TEXT(0, start, "start", "FILE", \
        "initial state of every chain; unset: drawn at random", \
        "", "", SCAN, "sampled")
#define GBS_SHARED_PARTIAL_SCAN \
    GBS_ROW_RUN_FLAG(partial_scan, "partial-scan", "", "", SCAN, "sampled")
#define GBS_SHARED_RESTARTS \
    GBS_ROW_RUN_FLAG(restarts, "restarts", "", "", SCAN, "sampled")

/* ---- Splashes ---------------------------------------------------------------------------------- */

#define GBS_SHARED_WIDTH \
    GBS_ROW_RUN(width, "width", "", "", SCAN, "sampled")
#define GBS_SHARED_SPLASH_SIZE \
    GBS_ROW_RUN(splash_size, "splash-size", "", "", SCAN, "sampled")
#define GBS_SHARED_SPLASHES \
    GBS_ROW_RUN(splashes, "splashes", "", "", SCAN, "sampled")
#define GBS_SHARED_CLUSTERS \
    GBS_ROW_RUN(clusters, "clusters", "", "", SCAN, "sampled")
#define GBS_SHARED_GROW \
    GBS_ROW_RUN(grow, "grow", "", "", SCAN, "sampled")
#define GBS_SHARED_ADAPT \
    GBS_ROW_RUN(adapt, "adapt", "", "", SCAN, "sampled")
#define GBS_SHARED_SCORE \
    GBS_ROW_RUN(score, "score", "", "", LAB, "sampled")
#define GBS_SHARED_LOCKING \
    GBS_ROW_RUN(locking, "locking", "", "", LAB, "sampled")

/* ---- Draws ------------------------------------------------------------------------------------- */

#define GBS_SHARED_DRAW \
    GBS_ROW_RUN(draw, "draw", "", "", DRAW, "sampled")
#define GBS_SHARED_KEYS \
    GBS_ROW_RUN(keys, "keys", "", "", DRAW, "sampled; draw has keys")
#define GBS_SHARED_HERD_RULE \
    GBS_ROW_RUN(herd_rule, "herd-rule", "", "", DRAW, "sampled; draw has keys")
#define GBS_SHARED_HERD_INIT \
    GBS_ROW_RUN(herd_init, "herd-init", "", "", LAB, "sampled; draw has keys")
#define GBS_SHARED_BINS \
    GBS_ROW_RUN(bins, "bins", "", "", DRAW, "sampled; draw has keys")
#define GBS_SHARED_BIN_EDGE \
    GBS_ROW_RUN(bin_edge, "bin-edge", "", "", LAB, "sampled; draw has keys")
#define GBS_SHARED_BIN_RULE \
    GBS_ROW_RUN(bin_rule, "bin-rule", "", "", LAB, "sampled; draw has keys")
#define GBS_SHARED_THRESHOLD \
    GBS_ROW_RUN(threshold, "threshold", "", "", DRAW, "sampled; draw has keys")
#define GBS_SHARED_DUMMY_EDGES \
    GBS_ROW_TEXT(0, dummy_edges, "dummy-edges", "FILE|ring:S", \
        "pairs of variables that herding treats as neighbours: from a file, or those at distances 2 to " \
        "S round a ring", \
        "", "", LAB, "sampled; draw has keys")
#define GBS_SHARED_CUD_SCHEME \
    GBS_ROW_RUN(cud_scheme, "cud-scheme", "", "", LAB, "sampled")
#define GBS_SHARED_CUD_BITS \
    GBS_ROW_RUN(cud_bits, "cud-bits", "", "", LAB, "sampled")
#define GBS_SHARED_CUD_OFFSET \
    GBS_ROW_RUN(cud_offset, "cud-offset", "", "", LAB, "sampled")

/* ---- Mean field and annealing ------------------------------------------------------------------ */

#define GBS_SHARED_DAMPING \
    GBS_ROW_RUN(damping, "damping", "", "", SCAN, "")
#define GBS_SHARED_MEAN_FIELD_SCHEDULE \
    GBS_ROW_RUN(mean_field_schedule, "mean-field-schedule", "", "", LAB, "")
#define GBS_SHARED_ITERATIONS \
    GBS_ROW_RUN(iterations, "iterations", "", "", SCAN, "")
#define GBS_SHARED_SCHEDULE \
    GBS_ROW_RUN(schedule, "schedule", "", "", SCAN, "sampled")
#define GBS_SHARED_TAU0 \
    GBS_ROW_RUN(tau0, "tau0", "", "", SCAN, "sampled")
#define GBS_SHARED_BLOCK_TIME \
    GBS_ROW_RUN(block_time, "block-time", "", "", SCAN, "sampled")

/* ---- Checkpoints ------------------------------------------------------------------------------- */

#define GBS_SHARED_CHECKPOINT \
    GBS_ROW_TEXT(0, checkpoint, "checkpoint", "FILE", \
        "write where the run stands to FILE, so that --resume FILE goes on from there: before the " \
        "first sweep, every --checkpoint-every, and when the run ends", \
        "", "", INPUT, "")
#define GBS_SHARED_CHECKPOINT_OF_LEARNING(needs) \
    GBS_ROW_TEXT(0, checkpoint, "checkpoint", "FILE", \
        "write where learning stands to FILE, so that --resume FILE goes on from there: before the " \
        "first step, every --checkpoint-every, and at the end", \
        "", "", INPUT, needs)
#define GBS_SHARED_CHECKPOINT_EVERY \
    GBS_ROW_RUN(checkpoint_every_s, "checkpoint-every", "", "", INPUT, "checkpoint")
#define GBS_SHARED_RESUME \
    GBS_ROW_TEXT(0, resume, "resume", "FILE", \
        "go on from a checkpoint of the same model and evidence, with the same bits; options that are " \
        "not given are those of the run before", \
        "", "", INPUT, "")
#define GBS_SHARED_RESUME_OF_LEARNING(needs) \
    GBS_ROW_TEXT(0, resume, "resume", "FILE", \
        "go on from a checkpoint of the same rows and options, to the same bits", \
        "", "", INPUT, needs)

/* ---- Spins that are generated ------------------------------------------------------------------ */

#define GBS_SHARED_COUPLING \
    GBS_FIELD_REAL(coupling, "coupling", 1.0, -1e6, 1e6, "J", \
        "coupling of a pair of neighbours, in units of the log-weight", "", \
        "", "", QUESTION, "")
#define GBS_SHARED_COUPLING_SPREAD \
    GBS_FIELD_REAL(coupling_spread, "coupling-spread", 0.0, 0.0, 1e6, "D", \
        "couplings are uniform in J-D to J+D", "", \
        "", "", QUESTION, "")
#define GBS_SHARED_FIELD \
    GBS_FIELD_REAL(field, "field", 0.0, -1e6, 1e6, "H", \
        "field on a single spin, in units of the log-weight", "", \
        "", "", QUESTION, "")
#define GBS_SHARED_RANDOM_FIELD \
    GBS_FIELD_REAL(random_field, "random-field", 0.0, 0.0, 1e6, "D", \
        "fields are uniform in H-D to H+D", "", \
        "", "", QUESTION, "")

/* ---- Learning ---------------------------------------------------------------------------------- */

#define GBS_SHARED_INTERVALS \
    GBS_ROW_TEXT(0, intervals, "intervals", "FILE", \
        "write every parameter with its standard error, as CSV", \
        "FILE", "every weight with its standard error, as CSV", RESULT, "")
#define GBS_SHARED_CURVE(needs) \
    GBS_ROW_TEXT(0, curve, "curve", "FILE", \
        "write the objective, the length of its gradient and what held-out rows have after each " \
        "iteration, as CSV", \
        "FILE", "how it went, iteration by iteration, as CSV", RESULT, needs)
#define GBS_SHARED_RATE(needs) \
    GBS_BYNAME_REAL(rate, "rate", 0.05, 1e-9, 1000.0, "X", "size of the first step", "") \
    GBS_BYNAME_REAL(rate_last, "rate-last", 0.0, 1e-9, 1000.0, "X", \
        "size of the last step, at most that of the first", "a fifth of the first") \
    GBS_ROW_TEXT(0, rate, "rate", "FIRST[:LAST]", \
        "size of the first step, and that of the last one, a fifth of it if not given; unset: 0.05", \
        "FIRST[:LAST]", "sizes of the first and the last step", SCAN, needs)

/* ---- Messages ---------------------------------------------------------------------------------- */

#define GBS_SHARED_QUIET \
    GBS_ROW_FLAG('q', quiet, "quiet", 2, \
        "only the verdict on standard error; -qq: not even that", \
        "", "", INPUT, "")
#define GBS_SHARED_VERBOSE \
    GBS_ROW_FLAG('v', verbose, "verbose", 1, \
        "more messages on standard error", \
        "", "", INPUT, "")
#define GBS_SHARED_HELP \
    GBS_ROW_FLAG('h', help, "help", 1, \
        "print this text", \
        "", "", INPUT, "")

/* clang-format on */

#endif
