/* SPDX-License-Identifier: Apache-2.0 */
/* The option table: the rows of gibbsite/options.def and the program's own. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "gibbsite/machines.h"
#include "gibbsite/segment.h"

#define AT(field)     offsetof(cli_arguments, field)
#define RUN_AT(field) (offsetof(cli_arguments, run) + offsetof(gbs_run_options, field))

/* clang-format off */
#define RUN(field, name) {name, 0, CLI_RUN, CLI_SAMPLERS, RUN_AT(field), 0, 0, 0, 0, 0, 0, "", ""},
#define GBS_OPTION_ENUM(field, name, type, def, help)                  RUN(field, name)
#define GBS_OPTION_UINT(field, name, def, min, max, unit, help, unset) RUN(field, name)
#define GBS_OPTION_SIZE(field, name, def, min, max, unit, help, unset) RUN(field, name)
#define GBS_OPTION_REAL(field, name, def, min, max, unit, help, unset) RUN(field, name)
#define GBS_OPTION_TIME(field, name, def, min, max, unit, help, unset) RUN(field, name)
#define GBS_OPTION_AUTO(field, name, def, min, max, unit, help, mark)  RUN(field, name)
#define GBS_OPTION_LEVELS(field, name, max, unit, help)                RUN(field, name)
#define GBS_OPTION_FLAG(field, name, help)                                                         \
    {name, 0, CLI_FLAG, CLI_SAMPLERS, RUN_AT(field), 0, 0, 1, 0, 0, 0, "", help},

#define FLAG(letter, field, name, verbs, help)                                                     \
    {name, letter, CLI_FLAG, verbs, AT(field), 0, 0, 1, 0, 0, 0, "", help},
#define TEXT(letter, field, name, verbs, unit, help)                                               \
    {name, letter, CLI_TEXT, verbs, AT(field), 0, 0, 0, 0, 0, 0, unit, help},
#define NAME(letter, field, name, verbs, unit, help)                                               \
    {name, letter, CLI_NAME, verbs, AT(field), 0, 0, 0, 0, 0, 0, unit, help},
#define REAL(field, name, verbs, def, min, max, unit, help)                                        \
    {name, 0, CLI_REAL, verbs, AT(field), 0, 0, 0, def, min, max, unit, help},
#define UINT(field, name, verbs, def, min, max, unit, help)                                        \
    {name, 0, CLI_UINT, verbs, AT(field), def, min, max, 0, 0, 0, unit, help},

static const char model_formats[] =
#define GBS_FORMAT(id, name, ...) "|" name
#include "gibbsite/formats.def"
    ;
#define CLI_MODEL_FORMATS (model_formats + 1)

/* The same without those that are written only. */
static const char source_formats[] =
#define SOURCE_TEXT(name)    "|" name
#define SOURCE_BYTES(name)   "|" name
#define SOURCE_FILES(name)   "|" name
#define SOURCE_DRAWING(name) ""
#define GBS_FORMAT(id, name, endings, what, form, ...) SOURCE_##form(name)
#include "gibbsite/formats.def"
    ;
#define CLI_SOURCE_FORMATS (source_formats + 1)

static const cli_option table[] = {
    {"evidence", 'e', CLI_LIST, CLI_OBSERVES, AT(evidence), 0, 0, 0, 0, 0, 0,
     "FILE|NAME=STATE,...", "observed variables: an evidence file, or variables with their states: "
     "'smoke=yes', 'age=young|adult', 'crp!=low', 'smoke=#0' (state number 0); "
     "may be given several times"},
    TEXT(0, virtual_evidence, "virtual-evidence", CLI_OBSERVES, "FILE",
         "virtual (soft) evidence: likelihoods of the states of variables")
    TEXT(0, likelihood, "likelihood", CLI_OBSERVES, "NAME=STATE:X|...,...",
         "likelihoods of the states of variables; states that are not named have 0")
#include "gibbsite/options.def"
    TEXT(0, dummy_edges, "dummy-edges", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE, "FILE|ring:S",
         "pairs of variables that herding treats as neighbours: from a file, or those at distances "
         "2 to S round a ring")
    TEXT(0, start, "start", CLI_RUNS | CLI_VERB_DECOMPOSE | CLI_VERB_MAP, "FILE",
         "initial state of every chain; unset: drawn at random")
    TEXT('o', output, "output", CLI_MODELS | CLI_GENERATES | CLI_VERB_UAI | CLI_VERB_DIAGNOSE | CLI_PICTURES | CLI_VERB_REPORT | CLI_VERB_GROUND, "FILE",
         "file for the result; its extension determines the format; unset: standard output")
    TEXT('o', output, "output", CLI_VERB_LABEL, "FILE",
         "file for the labelled data; unset: standard output")
    TEXT('o', output, "output", CLI_VERB_LEARN, "FILE",
         "file for the model; unset: standard output")
    TEXT(0, queried, "query-predicates", CLI_VERB_GROUND, "LIST",
         "predicates whose atoms are variables unless DATABASE has them; the others are false "
         "unless it has them; unset: those without a fact")
    TEXT(0, similarity, "similarity", CLI_VERB_GROUND, "LIST",
         "predicates NAME0, NAME20, ... that DATABASE lacks: computed from the words that the names "
         "of two constants share")
    NAME(0, template_style, "template-style", CLI_VERB_LEARN, "crf++|wapiti",
         "whose rules the templates follow, and the model's format; unset: crf++")
    NAME(0, objective, "objective", CLI_VERB_LEARN, "likelihood|pseudo|sampled",
         "what is maximised: weights: pseudo if unset; likelihood, by a junction tree, and sampled, by "
         "chains, where rows may lack values; crf with links between tokens: likelihood, by chains, if unset")
    REAL(l2, "l2", CLI_VERB_LEARN, 1.0, 0.0, 1e12, "X", "penalty: X/2 times the sum of squared weights")
    REAL(l1, "l1", CLI_VERB_LEARN, 0.0, 0.0, 1e12, "X",
         "penalty: X times the sum of absolute weights, which makes many of them 0; of potts and rbm of couplings alone")
    UINT(least_count, "least-count", CLI_VERB_LEARN, 1, 1, UINT64_MAX, "N",
         "leave out features that fewer than N tokens have")
    UINT(em_iterations, "iterations", CLI_VERB_LEARN, 1000, 1, INT32_MAX, "N",
         "largest number of iterations")
    REAL(em_tolerance, "tolerance", CLI_VERB_LEARN, 1e-5, 1e-15, 1.0, "X",
         "crf, potts: converged once the objective falls by a smaller share of itself in ten iterations; weights: "
         "once no weight moves by more in a step, with --l1 once the gradient of a row is at most as long")
    NAME(0, learn_method, "method", CLI_VERB_LEARN, "pl|asymmetric|pcd|cd",
         "potts: pl: maximum pseudo-likelihood; asymmetric: of each site alone; pcd: from there maximum likelihood by persistent "
         "chains; unset: pl; rbm, weights --objective sampled: pcd: persistent chains; cd: chains begin at the "
         "rows in each step; unset: pcd")
    UINT(hidden, "hidden", CLI_VERB_LEARN, 0, 1, GBS_MAX_HIDDEN, "N",
         "rbm: number of hidden units (required)")
    NAME(0, learn_draw, "draw", CLI_VERB_LEARN, "random|herded",
         "rbm: units of the chains are drawn independently, or by herding with 16 weights each; unset: random")
    UINT(epochs, "epochs", CLI_VERB_LEARN, 100, 1, INT32_MAX, "N", "rbm: passes through the rows")
    UINT(batch, "batch", CLI_VERB_LEARN, 64, 1, 1u << 20, "N", "rbm: rows of a step, and chains")
    UINT(patience, "patience", CLI_VERB_LEARN, 0, 1, INT32_MAX, "N",
         "rbm --held-out: end after N epochs on end without a higher pseudo-likelihood of the held-out rows, with the "
         "weights of the epoch that had the highest; unset: all epochs, the last weights")
    UINT(probes, "probes", CLI_VERB_LEARN, 0, 1, GBS_MAX_POTTS_PROBES, "N",
         "crf, potts and weights, with --intervals: standard errors by N probes, each with a share of 1 / sqrt(2 N) of itself "
         "as its own standard error; unset: by a matrix of up to 4096 free parameters, else, and for crf, 32")
    UINT(learn_sweeps, "sweeps", CLI_VERB_LEARN, 1, 1, 1u << 20, "K",
         "rbm, weights --objective sampled: sweeps of the chains in each step, the k of CD-k")
    NAME(0, learn_scan, "scan", CLI_VERB_LEARN, "systematic|random|optimised",
         "weights --objective sampled: variables that a sweep of a chain takes: all in the order of the model, "
         "as many at random, or those of a scan optimised for the weights of the moment; unset: systematic")
    REAL(learn_accuracy, "accuracy", CLI_VERB_LEARN, 0.01, 1e-9, 0.999, "EPS",
         "weights --scan optimised: total variation distance from the model that a sweep of a chain comes to, "
         "from any start")
    TEXT(0, curve, "curve", CLI_VERB_LEARN, "FILE",
         "rbm: write the pseudo-likelihood of rows and held-out rows after each epoch, as CSV; weights: the "
         "objective, the length of its gradient and what held-out rows have after each iteration")
    TEXT(0, patch, "patch", CLI_VERB_LEARN, "SIDE[,STEP]",
         "aspects: side of a patch in pixels, and how far the next one is; unset: 20,10")
    UINT(texture_words, "texture-words", CLI_VERB_LEARN, 200, 1, 65536, "N",
         "aspects: number of words of texture, at most")
    UINT(color_words, "color-words", CLI_VERB_LEARN, 50, 1, 65536, "N",
         "aspects: number of words of colour, at most")
    UINT(position_cells, "position-cells", CLI_VERB_LEARN, 0, 0, 256, "N",
         "aspects: cut pictures into N x N cells, each a word for what lies there; 0: places say "
         "nothing")
    REAL(identity, "identity", CLI_VERB_LEARN, 0.0, 0.0, 1.0, "SHARE",
         "potts: rows with the same state in at least this share of the sites, 0.8 say, count as one "
         "together; unset: every row counts one")
    UINT(learn_chains, "chains", CLI_VERB_LEARN, 1000, 1, UINT32_MAX, "N",
         "potts --method pcd, weights --objective sampled: number of chains; unset: 100 for weights")
    UINT(learn_steps, "steps", CLI_VERB_LEARN, 200, 1, INT32_MAX, "N",
         "potts --method pcd, weights --objective sampled, crf with links: number of steps, each after a sweep "
         "of every chain, of potts at most; unset: 1000 for weights, 500 for crf")
    TEXT(0, rate, "rate", CLI_VERB_LEARN, "FIRST[:LAST]",
         "rbm, potts --method pcd: size of the first step, and that of the last one, a fifth of it if "
         "not given; unset: 0.05")
    TEXT(0, truth, "truth", CLI_VERB_LABEL, "COLUMN|last",
         "compare the labels with those in this column of DATA, a number from 0 or the last one")
    NAME(0, posterior, "posterior", CLI_VERB_LABEL, "best|all",
         "add the probability of the label found, or of every label, as LABEL/PROBABILITY; unset: "
         "none is computed")
    TEXT('o', output, "output", CLI_VERB_REPRODUCE, "FOLDER",
         "folder for tables, charts and verdict.txt; created if it does not exist (required)")
    TEXT(0, focus, "focus", CLI_VERB_DECOMPOSE, "V",
         "the variable whose errors are decomposed: a name or a 0-based number (required)")
    FLAG(0, asymptotic, "asymptotic", CLI_VERB_DECOMPOSE,
         "compute the limit of D_cor for each key, without sampling")
    FLAG(0, list, "list", CLI_VERB_REPRODUCE, "list the experiments")
    FLAG(0, quick, "quick", CLI_VERB_REPRODUCE,
         "fewer and shorter runs, some seconds for each experiment")
    FLAG(0, check, "check", CLI_VERB_REPRODUCE, "exit with status 1 if the claim is not confirmed")
    TEXT(0, data, "data", CLI_VERB_REPRODUCE, "FOLDER",
         "read the pictures or models of the paper from FOLDER, for experiments that take them; "
         "unset: generated ones")
    NAME(0, format, "format", CLI_VERB_MARGINALS,
         "mar|csv|table|json|npz|netcdf|dimmwitted|pbm|pgm|ppm|png", "format of the result")
    TEXT(0, picture, "picture", CLI_VERB_MARGINALS, "RxC",
         "write a picture (.png, .pgm, .ppm, .pbm) of R rows and C columns, a pixel per variable")
    UINT(state, "state", CLI_VERB_MARGINALS, GBS_MAX_ARITY, 0, GBS_MAX_ARITY - 1,
         "K", "the picture shows the probability of state K; unset: of state 1 if there are two "
         "states, otherwise it shows the most probable states")
    NAME(0, format, "format", CLI_VERB_SAMPLE,
         "csv|tab|npz|npy|netcdf|cmdstan|coda|pbm|pgm|ppm|png", "format of the draws")
    TEXT(0, picture, "picture", CLI_VERB_SAMPLE, "RxC",
         "write the last draw of the first chain as a picture (.png, .pgm, .ppm, .pbm) of R rows "
         "and C columns, a pixel per variable")
    NAME(0, format, "format", CLI_VERB_MAP, "map|csv|table|json", "format of the state")
    NAME(0, format, "format", CLI_VERB_LOGZ, "pr|json", "format of the estimate")
    {"task", 0, CLI_CHOICE, CLI_VERB_EXACT, AT(task), 0, 0, 3, 0, 0, 0, "mar|pr|map|sample",
     "the answer: marginals, partition function, most probable state, or independent samples"},
    NAME(0, format, "format", CLI_VERB_EXACT, "mar|csv|table|json|npz|tab|npy|netcdf|cmdstan|coda",
         "format of marginals or samples")
    UINT(samples, "samples", CLI_VERB_EXACT, 1000, 1, UINT64_MAX / 2, "N",
         "number of samples, for --task sample")
    TEXT(0, monitor, "monitor", CLI_VERB_SAMPLE | CLI_VERB_EXACT, "LIST",
         "variables to write: names, 0-based numbers, ranges such as 3-7; unset: all")
    TEXT(0, monitor, "monitor", CLI_VERB_MARGINALS, "LIST",
         "diagnose the traces of these variables and of the log density: R-hat and effective sample "
         "sizes by ranks, after the run and in --summary")
    TEXT(0, query, "query", CLI_VERB_MARGINALS | CLI_VERB_EXACT, "LIST|@FILE",
         "variables to write: names, 0-based numbers, ranges such as 3-7; @FILE: a UAI query file; "
         "unset: all")
    TEXT(0, query, "query", CLI_VERB_SENSITIVITY, "NAME=STATE",
         "the state of a variable whose probability is looked at (required)")
    UINT(top, "top", CLI_VERB_SENSITIVITY, 0, 1, UINT64_MAX, "N",
         "show the N parameters with the largest derivatives; unset: 20 in a table, all of them, in "
         "the model's order, in CSV and JSON")
    REAL(reach, "reach", CLI_VERB_SENSITIVITY, 0.0, 0.0, 1.0, "P",
         "also find the value of each parameter with which the probability would be P; unset: do not")
    TEXT(0, plot, "plot", CLI_VERB_SENSITIVITY, "FILE.svg",
         "draw a tornado chart: p where each parameter is 10 per cent smaller and larger, for the "
         "20 parameters, or N of --top, that move it most")
    NAME(0, format, "format", CLI_VERB_SENSITIVITY | CLI_VERB_DIAGNOSE, "csv|table|json",
         "format of the result")
    UINT(top, "top", CLI_VERB_DIAGNOSE, 0, 1, UINT64_MAX, "N",
         "show the N quantities with the largest R-hat; unset: 20 in a table, all of them, in the "
         "order of the file, in CSV and JSON")
    TEXT(0, plot, "plot", CLI_VERB_DIAGNOSE, "FILE.svg",
         "draw the quantity with the largest R-hat: its draws, and how the ranks of each chain "
         "spread")
    {"joint", 0, CLI_LIST, CLI_VERB_MARGINALS, AT(joint), 0, 0, 0, 0, 0, 0, "LIST",
     "the joint distribution of these variables, in place of marginals; may be given several times"},
    TEXT(0, cases, "cases", CLI_VERB_MARGINALS, "FILE",
         "a CSV table with a column for each of some variables and a row for each case, which is "
         "answered in a row; an empty field or NA is not observed; -: standard input")
    TEXT(0, prior, "prior", CLI_VERB_FIT, "none|bdeu:ESS|dirichlet:ALPHA",
         "none: maximum likelihood (default); bdeu: an equivalent sample of ESS rows, spread evenly over "
         "each table; dirichlet: ALPHA rows for each entry; the tables are then posterior means")
    TEXT(0, weights, "weights", CLI_VERB_FIT | CLI_VERB_LEARN, "COLUMN",
         "how many rows each row of DATA stands for, a number of 0 or more, is in this column")
    TEXT(0, held_out, "held-out", CLI_VERB_FIT, "FILE|SHARE",
         "report how probable other rows are: those of a table, or a share of the rows of DATA (0.2 "
         "or 20%), evenly spread, which are then not fitted")
    TEXT(0, held_out, "held-out", CLI_VERB_LEARN, "FILE|SHARE",
         "potts, rbm, weights: report the pseudo-likelihood of other rows: those of a table, or a share of the "
         "rows of DATA (0.2 or 20%), evenly spread, which are then not learnt from")
    UINT(em_iterations, "iterations", CLI_VERB_FIT, 1000, 1, UINT64_MAX, "N",
         "EM: largest number of iterations, each over all rows with missing values")
    REAL(em_tolerance, "tolerance", CLI_VERB_FIT, 1e-6, 1e-15, 1.0, "X",
         "EM: converged once no probability changes by more in an iteration")
    TEXT(0, intervals, "intervals", CLI_VERB_FIT, "FILE",
         "write every probability with an interval and the number of rows behind it, as CSV")
    TEXT(0, intervals, "intervals", CLI_VERB_LEARN, "FILE",
         "crf, weights, potts: write every parameter with its standard error, as CSV")
    REAL(level, "level", CLI_VERB_FIT, 0.95, 0.001, 0.999999, "X",
         "probability that an interval covers")
    NAME(0, format, "format", CLI_VERB_CONVERT | CLI_VERB_FIT | CLI_VERB_LEARN | CLI_VERB_GROUND | CLI_GENERATES, CLI_MODEL_FORMATS,
         "format of the model written")
    NAME(0, float_format, "float-format", CLI_VERB_CONVERT | CLI_VERB_FIT | CLI_VERB_LEARN | CLI_VERB_GROUND | CLI_GENERATES, "shortest|fixed",
         "numbers with the fewest digits that read back exactly, or as digits[.digits] without "
         "exponents")
    NAME(0, convention_out, "write-convention", CLI_VERB_CONVERT | CLI_GENERATES,
         "physics|bqm|maxcut", "sign of couplings in the model written; unset: the default of "
         "its format")
    UINT(levels, "levels", CLI_VERB_DENOISE, 2, 2, 256, "K",
         "levels of grey of the picture without noise, or number of labels; with --labels and a palette, "
         "unset means its number of colours")
    NAME(0, format, "format", CLI_VERB_DENOISE, "csv|table", "format of the table of --truth")
    NAME(0, format, "format", CLI_VERB_SEGMENT, "csv|table",
         "format of the table of classes; unset: a table on a terminal, CSV elsewhere")
    FLAG(0, labels, "labels", CLI_VERB_DENOISE,
         "the value of a pixel, or its index in a palette, is a label from 0 to K-1")
    TEXT(0, noise_kind, "noise", CLI_VERB_DENOISE, "flip:P|gauss:S",
         "flip: a pixel shows another level with probability P; gauss: noise of standard deviation S is "
         "added, where neighbouring levels are 1 apart; without :P or :S it is estimated; unset: gauss "
         "for grey pictures, flip for others")
    REAL(coupling, "coupling", CLI_VERB_DENOISE, -1.0, 0.0, 100.0, "J",
         "what neighbours that differ cost, in units of the log-weight; unset: estimated")
    REAL(coupling, "coupling", CLI_VERB_SEGMENT, GBS_SEGMENT_COUPLING, 0.0, 100.0, "J",
         "added to the log-weight where neighbouring patches have the same class")
    TEXT(0, smoothing, "smoothing", CLI_VERB_DENOISE, "potts|quadratic:T",
         "potts: J where neighbours differ (default); quadratic: J times the square of their difference "
         "in levels, at most T; without :T there is no limit")
    NAME(0, neighbours, "neighbours", CLI_VERB_DENOISE, "4|8",
         "of a pixel; with 8, diagonal ones count J/sqrt 2; unset: 4")
    NAME(0, neighbours, "neighbours", CLI_VERB_SEGMENT, "4|8", "of a patch; unset: 4")
    TEXT(0, estimate, "estimate", CLI_VERB_DENOISE, "noise,coupling",
         "estimate one or both from the noisy picture, beginning with the values given")
    TEXT(0, truth, "truth", CLI_VERB_DENOISE, "IMAGE",
         "compare with the picture without noise: print how many pixels are wrong, and mean squares")
    TEXT(0, truth, "truth", CLI_VERB_SEGMENT, "IMAGE",
         "compare with a label map: grey or a palette, whose pixel values are numbers of classes; "
         "other values have none")
    TEXT(0, targets, "target", CLI_VERB_SEGMENT, "RxC[+ROW+COLUMN]",
         "a rectangle of R x C patches, in the middle or from this row and column: only its patches "
         "are cut, by a scan optimised for them unless --scan is given")
    TEXT(0, overlay, "overlay", CLI_VERB_SEGMENT, "FILE",
         "write the picture in the colours of its classes")
    TEXT(0, mean, "mean", CLI_VERB_DENOISE, "FILE", "write the mean level of each pixel as a picture")
    TEXT(0, uncertainty, "uncertainty", CLI_VERB_DENOISE, "FILE",
         "write the probability that a pixel of the result is wrong as a picture; white: 1 - 1/K")
    TEXT(0, best, "map", CLI_VERB_DENOISE, "FILE",
         "write the most probable picture as a whole, found as by gibbsite map")
    TEXT(0, write_model, "write-model", CLI_PICTURES, "FILE",
         "write the model, for other verbs; its extension is its format")
    TEXT(0, summary, "summary", CLI_SAMPLERS | CLI_VERB_EXACT | CLI_VERB_FIT | CLI_VERB_LABEL | CLI_VERB_LEARN, "FILE",
         "write a summary of the run to FILE, as JSON")
    TEXT(0, report, "report", CLI_RUNS | CLI_VERB_EXACT | CLI_ANNEALS, "FILE",
         "write a page for a browser to FILE: the verdict, what was asked, the answer with charts, and "
         "what repeats it")
    TEXT(0, checkpoint, "checkpoint", CLI_RUNS | CLI_VERB_MAP | CLI_VERB_LOGZ, "FILE",
         "write where the run stands to FILE, so that --resume FILE goes on from there: before the "
         "first sweep, every --checkpoint-every, and when the run ends")
    TEXT(0, checkpoint, "checkpoint", CLI_VERB_LEARN, "FILE",
         "potts --method pcd, rbm, weights --objective sampled: write where learning stands to FILE, so that --resume FILE goes on from there: "
         "before the first step, every --checkpoint-every, and at the end")
    TEXT(0, resume, "resume", CLI_VERB_LEARN, "FILE",
         "potts --method pcd, rbm, weights --objective sampled: go on from a checkpoint of the same rows and options, to the same bits")
    TEXT(0, resume, "resume", CLI_RUNS | CLI_VERB_MAP | CLI_VERB_LOGZ, "FILE",
         "go on from a checkpoint of the same model and evidence, with the same bits; options that "
         "are not given are those of the run before")
    {"progress", 0, CLI_CHOICE, CLI_RUNS | CLI_ANNEALS | CLI_VERB_GROUND | CLI_VERB_DECOMPOSE | CLI_VERB_REPRODUCE | CLI_VERB_EXACT | CLI_VERB_FIT | CLI_VERB_SENSITIVITY | CLI_VERB_LABEL | CLI_VERB_LEARN, AT(progress), 0, 0, 3, 0, 0, 0,
     "auto|always|never|json", "progress on standard error: a bar, or lines of JSON; auto: "
     "a bar if it is a terminal; json:FD: lines of JSON on descriptor FD"},
    FLAG(0, json, "json", CLI_VERB_INFO | CLI_VERB_CERTIFY, "write JSON instead of text")
    FLAG(0, draws, "draws", CLI_VERB_INFO, "all figures of the model, and how much memory each draw would need")
    FLAG(0, list_variables, "variables", CLI_VERB_INFO,
         "list the variables: numbers, names, factors, observed and possible states")
    TEXT(0, targets, "target", CLI_RUNS, "LIST",
         "with --restarts: variables to estimate; unset: all that the scan visits")
    {"target", 0, CLI_LIST, CLI_INFLUENCES, AT(target), 0, 0, 0, 0, 0, 0,
     "LIST|FILE|all|rectangle:...", "variables whose distribution is bounded: names, "
     "0-based numbers, ranges such as 3-7, a file of weights, or rectangle:R0,C0,R1,C1 of a grid; "
     "certify takes it several times"},
    TEXT(0, grid, "grid", CLI_INFLUENCES, "RxC",
         "rows and columns of the variables, for rectangles")
    TEXT(0, steps, "steps", CLI_VERB_CERTIFY, "T,...",
         "numbers of updates to bound; unset: those in 1, 2, 5, ... 100 passes, none with "
         "--accuracy")
    TEXT(0, steps, "steps", CLI_VERB_SCAN, "T",
         "number of updates in the scan; unset: found for --match or --accuracy, otherwise one per "
         "free variable")
    TEXT(0, match, "match", CLI_VERB_SCAN, "systematic:T",
         "find a scan with a variation as small as that of T updates of the systematic scan; "
         "its length is doubled from 2")
    REAL(accuracy, "accuracy", CLI_VERB_CERTIFY, 0.0, 0.0, 1e140, "EPS",
         "also find the number of passes after which the variation is at most this; unset: do not")
    REAL(accuracy, "accuracy", CLI_VERB_SCAN, 0.0, 0.0, 1e140, "EPS",
         "variation to reach; without --steps, the length is doubled until it is; unset: as "
         "small as possible")
    FLAG(0, iterate, "iterate", CLI_VERB_SCAN,
         "improve the result again until its variation no longer falls")
    NAME(0, influence, "influence", CLI_INFLUENCES, "auto|bound|exact",
         "exact: influences by enumeration of up to 2^16 configurations of the neighbours; "
         "bound: upper bounds; unset: auto, exact where that is fast")
    NAME(0, from, "from", CLI_MODELS | CLI_VERB_UAI | CLI_VERB_LEARN, CLI_SOURCE_FORMATS,
         "format of MODEL, by default found from the file name extension")
    NAME(0, convention, "convention", CLI_MODELS, "physics|bqm|maxcut",
         "sign of couplings in MODEL (.mtx, .rud, .coo); unset: the default of its format")
    NAME(0, diagonal, "diagonal", CLI_MODELS, "field|ignore|error",
         "meaning of the diagonal of a matrix of couplings; unset: field")
    REAL(weight_scale, "weight-scale", CLI_MODELS, 1.0, 1e-300, 1e300, "X",
         "multiply the weights of clauses (.wcnf, .mln) by X")
    UINT(unroll, "unroll", CLI_VERB_CONVERT, 0, 1, UINT32_MAX, "T",
         "unroll a network of two slices, in which X' is X in the next slice, over T slices X[0], "
         "X[1], ...; unset: two slices as they are")
    UINT(colors, "colors", CLI_MODELS, 0, 1, GBS_MAX_ARITY, "K",
         "number of colours for a graph (.col); unset: such models are refused")
    FLAG(0, lenient, "lenient", CLI_MODELS | CLI_VERB_COMPARE | CLI_VERB_UAI,
         "warn about what gibbsite-formats(5) marks lenient, instead of refusing it")
    FLAG(0, normalize_cpts, "normalize-cpts", CLI_MODELS,
         "scale columns of conditional tables to sum to one")
    NAME(0, evidence_format, "evidence-format", CLI_OBSERVES | CLI_VERB_UAI,
         "single|multi|tab",
         "form of an evidence file; unset: by file name extension (.tab) and content")
    UINT(evidence_index, "evidence-index", CLI_OBSERVES | CLI_VERB_UAI, 0, 0,
         UINT32_MAX, "K",
         "use only sample K, counted from 0, of an evidence file with several; without it: all, "
         "with results in FILE.0, FILE.1, ... (uai: the first)")
    TEXT(0, grid, "grid", CLI_VERB_ISING | CLI_VERB_POTTS, "RxC|AxBxC",
         "sides of the grid (required)")
    FLAG(0, torus, "torus", CLI_VERB_ISING | CLI_VERB_POTTS, "join opposite sides")
    UINT(variables, "variables",
         CLI_VERB_RING | CLI_VERB_BAYES | CLI_VERB_COMPLETE | CLI_VERB_REGULAR | CLI_VERB_POWERLAW,
         0, 1, GBS_MAX_VARIABLES, "N", "number of variables (required)")
    UINT(degree, "degree", CLI_VERB_REGULAR, 0, 0, GBS_MAX_VARIABLES, "D",
         "number of neighbours of each variable; less than N, and N D even (required)")
    UINT(edges, "edges", CLI_VERB_POWERLAW, 0, 1, GBS_MAX_VARIABLES, "M",
         "number of earlier variables that each new variable is joined to; less than N (required)")
    UINT(visible, "visible", CLI_VERB_RBM, 0, 1, GBS_MAX_VARIABLES, "N",
         "number of variables in the first layer (required)")
    UINT(hidden, "hidden", CLI_VERB_RBM, 0, 1, GBS_MAX_VARIABLES, "M",
         "number of variables in the second layer (required)")
    REAL(coupling, "coupling", CLI_SPINS | CLI_VERB_POTTS, 1.0, -1e6, 1e6, "J",
         "coupling of a pair of neighbours, in units of the log-weight")
    REAL(coupling_spread, "coupling-spread", CLI_SPINS, 0.0, 0.0, 1e6, "D",
         "couplings are uniform in J-D to J+D")
    REAL(field, "field", CLI_SPINS, 0.0, -1e6, 1e6, "H",
         "field on a single spin, in units of the log-weight")
    REAL(random_field, "random-field", CLI_SPINS, 0.0, 0.0, 1e6, "D",
         "fields are uniform in H-D to H+D")
    TEXT(0, states, "states", CLI_VERB_POTTS, "K", "number of states of each variable (required)")
    REAL(noise, "noise", CLI_VERB_POTTS, 0.0, 0.0, 1e6, "S",
         "standard deviation of the noise of the picture, in grey levels; 0: no data term")
    UINT(parents, "parents", CLI_VERB_BAYES, 0, 0, UINT32_MAX, "K",
         "largest number of parents of a variable (required)")
    TEXT(0, states, "states", CLI_VERB_BAYES, "A:B", "each variable has A to B states (required)")
    TEXT(0, model, "model", CLI_VERB_COMPARE, "FILE",
         "the model of A and B: turns labels into numbers, and says which state weighs more")
    REAL(tolerance, "tolerance", CLI_VERB_COMPARE, 0.0, 0.0, 1e9, "X",
         "largest difference that is accepted: of a probability, of log10 Z, or in the number of "
         "variables with different states")
    NAME(0, log_base, "log-base", CLI_VERB_COMPARE, "10|e|10,e|e,10",
         "base of the logarithms in .PR files; 10,e: 10 in A and e in B; unset: 10")
    NAME(0, log_base, "log-base", CLI_VERB_UAI | CLI_VERB_EXACT | CLI_VERB_LOGZ, "10|e",
         "base of the logarithm in a .PR file; unset: 10")
    FLAG(0, require_converged, "require-converged",
         CLI_SAMPLERS | CLI_VERB_LOGZ | CLI_VERB_SENSITIVITY | CLI_VERB_DIAGNOSE,
         "end with status 5 where the answer is not called converged; it is written all the same")
    FLAG(0, probability, "probability", CLI_VERB_MAP,
         "estimate P(state) where it is not known exactly: after the search, ln Z as logz does")
    FLAG(0, uai_mpe, "uai-mpe", CLI_VERB_UAI | CLI_VERB_EXACT | CLI_VERB_MAP,
         "begin a .MAP file with the word MPE")
    {"quiet", 'q', CLI_FLAG, CLI_ALL, AT(quiet), 0, 0, 2, 0, 0, 0, "",
     "only the verdict on standard error; -qq: not even that"},
    FLAG('v', verbose, "verbose", CLI_ALL & ~(CLI_VERB_COMPARE | CLI_VERB_DIAGNOSE | CLI_VERB_REPORT), "more messages on standard error")
    FLAG('h', help, "help", CLI_ALL, "print this text")
};
/* clang-format on */

_Static_assert(sizeof table / sizeof table[0] <= CLI_MAX_OPTIONS, "cli_arguments.given");

const cli_option *cli_option_table(size_t *n)
{
    *n = sizeof table / sizeof table[0];
    return table;
}

/* Rows of options.def are for the sampling verbs, but for these. */
static const struct {
    const char *name;
    unsigned verbs;
} elsewhere[] = {
    {"scan", CLI_SAMPLERS | CLI_VERB_INFO | CLI_VERB_CERTIFY},
    {"origin", CLI_SAMPLERS | CLI_VERB_INFO | CLI_INFLUENCES},
    {"certified", CLI_VERB_MARGINALS},
    {"checkpoint-every", CLI_RUNS | CLI_VERB_MAP | CLI_VERB_LOGZ | CLI_VERB_LEARN},
    {"partial-scan", CLI_RUNS},
    {"restarts", CLI_RUNS},
    {"temper", CLI_SAMPLERS | CLI_VERB_LOGZ},
    {"time", CLI_SAMPLERS | CLI_INFLUENCES | CLI_VERB_FIT | CLI_VERB_SENSITIVITY | CLI_VERB_LABEL |
                 CLI_VERB_LEARN | CLI_VERB_GROUND},
    {"method", CLI_SAMPLERS | CLI_VERB_FIT | CLI_VERB_SENSITIVITY},
    {"target-error", CLI_SAMPLERS | CLI_VERB_FIT | CLI_VERB_SENSITIVITY},
    {"budget", CLI_SAMPLERS | CLI_VERB_INFO | CLI_ANNEALS | CLI_VERB_SENSITIVITY},
    {"chains", CLI_SAMPLERS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE | CLI_VERB_SENSITIVITY},
    {"least-chains", CLI_SAMPLERS | CLI_ANNEALS},
    {"estimator", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_DENOISE},
    {"lattice", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_DENOISE},
    {"draw", CLI_SAMPLERS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE},
    {"keys", CLI_SAMPLERS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE},
    {"herd-rule", CLI_SAMPLERS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE},
    {"herd-init", CLI_SAMPLERS | CLI_VERB_DECOMPOSE},
    {"bin-edge", CLI_SAMPLERS | CLI_VERB_DECOMPOSE},
    {"bins", CLI_SAMPLERS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE},
    {"threshold", CLI_SAMPLERS | CLI_VERB_DECOMPOSE},
    {"bin-rule", CLI_SAMPLERS | CLI_VERB_DECOMPOSE},
    {"sweeps", CLI_SAMPLERS | CLI_VERB_FIT | CLI_VERB_DECOMPOSE | CLI_VERB_SENSITIVITY},
    {"burn-in", CLI_SAMPLERS | CLI_VERB_DECOMPOSE | CLI_VERB_SENSITIVITY},
    {"memory-limit", CLI_OBSERVES | CLI_PICTURES | CLI_VERB_CONVERT | CLI_VERB_FIT | CLI_GENERATES |
                         CLI_VERB_LABEL | CLI_VERB_LEARN | CLI_VERB_GROUND},
    {"threads", CLI_SAMPLERS | CLI_VERB_DECOMPOSE | CLI_VERB_REPRODUCE | CLI_VERB_EXACT |
                    CLI_VERB_FIT | CLI_VERB_SENSITIVITY | CLI_VERB_LABEL | CLI_VERB_LEARN},
    {"thin", CLI_VERB_SAMPLE},
    {"damping", CLI_VERB_MARGINALS | CLI_PICTURES},
    {"schedule", CLI_SEARCHES},
    {"tau0", CLI_SEARCHES},
    {"block-time", CLI_SEARCHES},
    {"mean-field-schedule", CLI_VERB_MARGINALS | CLI_PICTURES},
    {"iterations", CLI_VERB_MARGINALS | CLI_PICTURES},
    {"seed", CLI_SAMPLERS | CLI_VERB_FIT | CLI_VERB_LEARN | CLI_GENERATES | CLI_VERB_UAI |
                 CLI_VERB_DECOMPOSE | CLI_VERB_REPRODUCE | CLI_VERB_EXACT | CLI_VERB_SENSITIVITY},
};

/* Rows of options.def that annealing takes as well. */
static const struct {
    const char *name;
    unsigned verbs;
} of_annealing[] = {{"method", CLI_ANNEALS | CLI_VERB_LABEL},
                    {"scan", CLI_ANNEALS | CLI_VERB_LABEL},
                    {"origin", CLI_ANNEALS},
                    {"time", CLI_ANNEALS},
                    {"chains", CLI_ANNEALS | CLI_VERB_LABEL},
                    {"sweeps", CLI_ANNEALS | CLI_VERB_LABEL},
                    {"burn-in", CLI_VERB_LABEL},
                    {"seed", CLI_ANNEALS | CLI_VERB_LABEL},
                    {"max-updates", CLI_ANNEALS | CLI_VERB_LABEL},
                    {"budget", CLI_VERB_LABEL},
                    {"threads", CLI_ANNEALS},
                    {"memory-limit", CLI_ANNEALS},
                    {"draw", CLI_SEARCHES},
                    {"keys", CLI_SEARCHES},
                    {"herd-rule", CLI_SEARCHES},
                    {"herd-init", CLI_SEARCHES},
                    {"bins", CLI_SEARCHES},
                    {"bin-edge", CLI_SEARCHES},
                    {"bin-rule", CLI_SEARCHES},
                    {"threshold", CLI_SEARCHES},
                    {"target-error", CLI_VERB_LOGZ}};

static unsigned annealing_verbs(const char *name)
{
    for (size_t i = 0; i < sizeof of_annealing / sizeof of_annealing[0]; i++) {
        if (strcmp(name, of_annealing[i].name) == 0) {
            return of_annealing[i].verbs;
        }
    }
    return 0;
}

unsigned cli_option_verbs(const cli_option *option)
{
    const int of_run = option->offset < AT(run) + sizeof(gbs_run_options);
    for (size_t i = 0; of_run && i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        if (strcmp(option->name, elsewhere[i].name) == 0) {
            return elsewhere[i].verbs | annealing_verbs(option->name);
        }
    }
    return option->verbs | annealing_verbs(option->name);
}

const cli_option *cli_find_option(const char *name, unsigned verb)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, name) == 0 && (cli_option_verbs(&table[i]) & verb) != 0) {
            return &table[i];
        }
    }
    return NULL;
}

void cli_option_unit(const cli_option *option, char *text)
{
    const gbs_option *run = option->kind == CLI_RUN ? gbs_option_find(option->name) : NULL;
    const char *unit = option->unit;
    if (run != NULL && run->kind == GBS_OPTION_KIND_CHOICE) {
        static const char FILE_SCAN[] = "sequence"; /* a file's name is typed in its place */
        const char *file = strstr(run->choices, FILE_SCAN);
        const int before = file == NULL ? (int)strlen(run->choices) : (int)(file - run->choices);
        (void)snprintf(text, CLI_UNIT_SIZE, "%.*s%s%s", before, run->choices,
                       file == NULL ? "" : "FILE", file == NULL ? "" : file + strlen(FILE_SCAN));
        return;
    }
    if (run != NULL) {
        unit = run->kind == GBS_OPTION_KIND_SIZE            ? "SIZE"
               : run->kind == GBS_OPTION_KIND_DURATION      ? "TIME"
               : run->unit[0] >= 'A' && run->unit[0] <= 'Z' ? run->unit
               : run->kind == GBS_OPTION_KIND_COUNT         ? "N"
                                                            : "X";
    }
    const int word = run != NULL && run->word != NULL && run->unset == NULL;
    const int off = run != NULL && run->off != NULL;
    (void)snprintf(text, CLI_UNIT_SIZE, "%s%s%s%s%s", unit, word ? "|" : "", word ? run->word : "",
                   off ? "|" : "", off ? run->off : "");
}

int cli_option_unset_default(const cli_option *option)
{
    return strstr(option->help, "unset: ") != NULL;
}

int cli_choice(const char *choices, unsigned k, char *text)
{
    for (; k > 0; k--) {
        choices = strchr(choices, '|');
        if (choices == NULL) {
            return 0;
        }
        choices++;
    }
    size_t n = strcspn(choices, "|");
    if (n == 0 || n >= 64) {
        return 0;
    }
    memcpy(text, choices, n);
    text[n] = '\0';
    return 1;
}
