/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Conditional random fields for sequences (Lafferty, McCallum & Pereira 2001) [M60]. They predict a
 * label for each token of a sequence, such as "name" for a word in a sentence, from the columns of
 * a text file.
 *
 *     gbs_crf *crf = NULL;
 *     gbs_sequences *data = NULL;
 *     gbs_crf_read("names.crf", &crf, &err);
 *     gbs_sequences_read("news.txt", &data, &err);
 *     uint32_t label[1000]; // of at least gbs_sequences_n_tokens(data)
 *     gbs_crf_label(crf, data, NULL, NULL, label, NULL, NULL, NULL, &err);
 *     printf("%s\n", gbs_crf_label_name(crf, label[0]));
 *
 * Results have the same bits on any number of threads.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; no call changes sequences or models that were read.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults.
 */
#ifndef GIBBSITE_CRF_H
#define GIBBSITE_CRF_H

#include "gibbsite/learn.h"
#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- data -------------------------------------------------------------------------------- */

/** Sequences of tokens. Each token is a line of the file and has one text in each column. */
typedef struct gbs_sequences gbs_sequences;

/**
 * Read column data. The file has one line for each token, with columns separated by blanks or tabs,
 * and an empty line after each sequence. The texts may have any encoding, but must not contain NUL
 * bytes.
 * @return GBS_ERR_FORMAT if a line has another number of columns than the first one or begins with
 *         a blank, or if there is no token.
 */
GBS_API GBS_MUST_USE gbs_status gbs_sequences_read(const char *path, gbs_sequences **sequences,
                                                   gbs_error *err);
/** Read sequences from memory, in the format of such a file. @param name used in messages in place
 *  of the file name. */
GBS_API GBS_MUST_USE gbs_status gbs_sequences_read_memory(const char *name, const void *bytes,
                                                          size_t n_bytes, gbs_sequences **sequences,
                                                          gbs_error *err);
GBS_API void gbs_sequences_free(gbs_sequences *sequences);      /**< NULL is allowed */
GBS_API size_t gbs_sequences_n(const gbs_sequences *sequences); /**< number of sequences */
GBS_API size_t
gbs_sequences_n_tokens(const gbs_sequences *sequences); /**< number of tokens in all sequences */
GBS_API uint32_t gbs_sequences_n_columns(const gbs_sequences *sequences);
/** @return [gbs_sequences_n() + 1]: sequence s has the tokens first[s] to first[s + 1] - 1. */
GBS_API const size_t *gbs_sequences_first(const gbs_sequences *sequences);
/** @param token number of the token, counted from 0 through all sequences. @return the text, valid
 *         until the sequences are freed. */
GBS_API const char *gbs_sequences_text(const gbs_sequences *sequences, size_t token,
                                       uint32_t column);

/* ---- models ------------------------------------------------------------------------------ */

/** The syntax of feature templates and of the model files with such templates; see
 *  gibbsite-formats(5). */
typedef enum gbs_template_style {
    GBS_TEMPLATES_CRFPP = 0,
    GBS_TEMPLATES_WAPITI = 1,
} gbs_template_style;

/** A conditional random field: a chain of labels, in which distant tokens may also be linked (a
 * skip chain: Sutton & McCallum 2004). A gbs_crf has feature templates, the features that the
 * templates produced from training data, and the weights of these features. */
typedef struct gbs_crf gbs_crf;

/**
 * Read a model in the text format of CRF++ (crf_learn -t) or of Wapiti. The first line of the file
 * tells which of the two formats the file has.
 *
 * @param crf out, caller frees.
 * @return GBS_ERR_UNSUPPORTED for binary models of CRF++, for Wapiti models without patterns, for
 *         Wapiti models that are not linear chains ("crf"), and for indirect rows in patterns of
 *         Wapiti.
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_read(const char *path, gbs_crf **crf, gbs_error *err);
/** Read a model from memory. @param name used in messages in place of the file name. */
GBS_API GBS_MUST_USE gbs_status gbs_crf_read_memory(const char *name, const void *bytes,
                                                    size_t n_bytes, gbs_crf **crf, gbs_error *err);
/** Write a model in the format of its templates: CRF++ or Wapiti. Reading the file gives the same
 *  weights, bit by bit. @param path see gbs_output_open(). */
GBS_API GBS_MUST_USE gbs_status gbs_crf_write(const gbs_crf *crf, const char *path, gbs_error *err);
GBS_API void gbs_crf_free(gbs_crf *crf); /**< NULL is allowed */
GBS_API uint32_t gbs_crf_n_labels(const gbs_crf *crf);
/** @return the text of a label, valid until the model is freed. */
GBS_API const char *gbs_crf_label_name(const gbs_crf *crf, uint32_t label);
GBS_API size_t gbs_crf_n_features(const gbs_crf *crf);
GBS_API size_t gbs_crf_n_weights(const gbs_crf *crf);
/** @return [gbs_crf_n_weights(crf)], the weights, valid until the model is freed; NULL if crf is
 * NULL. */
GBS_API const double *gbs_crf_weights(const gbs_crf *crf);
/**
 * Get a feature: its text and the positions of its weights.
 *
 * @param text   out or NULL: the text, valid until the model is freed.
 * @param single out or NULL: index of the feature's first weight for single labels; the weights are
 *         in the order of labels. SIZE_MAX: the feature has no such weights.
 * @param pairs  out or NULL: index of the feature's first weight for pairs of labels, [previous or
 *         first label][label]; SIZE_MAX: the feature has no such weights.
 * @return GBS_ERR_ARGUMENT for a feature that is not below gbs_crf_n_features(crf).
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_feature(const gbs_crf *crf, size_t feature,
                                                const char **text, size_t *single, size_t *pairs,
                                                gbs_error *err);
/** @return the least number of columns that data for the model must have, without the column of
 * labels. */
GBS_API uint32_t gbs_crf_n_columns(const gbs_crf *crf);

/* ---- labelling --------------------------------------------------------------------------- */

/** A struct that is set to zero means the defaults. */
typedef struct gbs_label_options {
    size_t size;           /**< sizeof(gbs_label_options) */
    double time_s;         /**< fail after this many seconds; 0: no limit */
    uint64_t threads;      /**< number of threads, without effect on results; 0: all cores */
    uint64_t memory_limit; /**< memory limit in bytes, program included; 0: half of the machine's
                              memory */
    /** options of the search for labels; NULL: the defaults. Methods AUTO and EXACT use Viterbi's
     * algorithm for sequences without links, and gbs_map() for others. SAMPLE uses gbs_map(), which
     * anneals or, with a draw other than random, stays at temperature 1. The fields threads, time_s
     * and memory_limit of these options are ignored. */
    const gbs_run_options *run;
} gbs_label_options;

/** How sequences were labelled. */
typedef struct gbs_label_report {
    size_t size;      /**< in: sizeof(gbs_label_report), set by the caller */
    uint64_t n_links; /**< number of linked pairs of tokens: pairs that have weights and are not
                           neighbours */
    uint64_t
        n_proved; /**< number of sequences whose labels are proved to be the most probable ones */
    /** number of sequences whose probabilities come from chains that did not converge */
    uint64_t n_unconverged;
    uint64_t updates; /**< variable updates of all chains */
    double seconds;
    uint64_t n_unseen; /**< number of tokens for which the model only has features of label pairs;
                          for example, tokens whose words do not occur in the training data */
} gbs_label_report;

/**
 * Find the most probable labels of each sequence by Viterbi's algorithm, and the probabilities of
 * labels by the forward-backward algorithm. If two labellings are equally probable, the last token
 * with different labels decides: the returned labelling gives this token the label that comes first
 * in the model. Sequences with links between tokens are factor graphs with cycles; gbs_map() finds
 * their labels, and a run (run.h) finds their probabilities. The labels found for a sequence may
 * depend on the number of the other sequences, but not on their contents.
 *
 * @param data      sequences with the columns that the model's templates name; all other columns
 *         are ignored.
 * @param callbacks NULL; progress is called with pass = tokens done.
 * @param label     out: [gbs_sequences_n_tokens(data)] ids of labels.
 * @param posterior out or NULL: [gbs_sequences_n_tokens(data)][gbs_crf_n_labels(crf)], the
 *                  probability of each label of each token given the sequence.
 * @param log_p     out or NULL: [gbs_sequences_n(data)], for each sequence, the natural logarithm
 *                  of the probability of the labelling found; NAN if probabilities come from
 *                  chains.
 * @param report    out or NULL.
 * @return GBS_ERR_ARGUMENT if the data have too few columns; GBS_ERR_UNSUPPORTED if probabilities
 *         are wanted and log-weights at one token differ by more than 690; GBS_ERR_LIMIT,
 *         GBS_ERR_STOPPED, GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_label(const gbs_crf *crf, const gbs_sequences *data,
                                              const gbs_label_options *options,
                                              const gbs_run_callbacks *callbacks, uint32_t *label,
                                              double *posterior, double *log_p,
                                              gbs_label_report *report, gbs_error *err);

/**
 * Make the factor graph of a sequence: one variable for each token, in the order of tokens, with
 * the labels as its states. Any question of the library can be asked about this model.
 *
 * @param sequence below gbs_sequences_n(data).
 * @param model    out, caller frees.
 * @return the values of gbs_crf_label(); GBS_ERR_ARGUMENT also if a label cannot be the name of a
 * state.
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_model(const gbs_crf *crf, const gbs_sequences *data,
                                              size_t sequence, gbs_model **model, gbs_error *err);

/* ---- learning ---------------------------------------------------------------------------- */

/** A struct that is set to zero means the defaults. With objective PSEUDO, `steps` must be 0 or the
 *  default. */
typedef struct gbs_crf_learn_options {
    size_t size;         /**< sizeof(gbs_crf_learn_options) */
    double l2;           /**< penalty: l2/2 times the sum of the squared weights; 0 means 1 if l1 is
                              also 0 */
    double l1;           /**< penalty: l1 times the sum of the absolute weights */
    double tolerance;    /**< learning has converged when ten iterations lower the objective by less
                              than tolerance times the objective; 0: 1e-5 */
    uint64_t iterations; /**< largest number of iterations; 0: 1000 */
    uint64_t least_count;  /**< smallest number of tokens at which a feature must occur, otherwise
                              the feature is left out; 0: 1 */
    double time_s;         /**< end after this many seconds; 0: no limit */
    uint64_t threads;      /**< number of threads, without effect on results; 0: all cores */
    uint64_t memory_limit; /**< memory limit in bytes, program included; 0: half of the machine's
                              memory */
    gbs_crf_objective objective;
    uint64_t steps; /**< number of steps with a sampled gradient; each step makes one sweep over all
                       labels; 0: 500 */
    uint64_t seed;  /**< seed of the random numbers for sampled labels and for probes */
    uint64_t probes; /**< number of probes of gbs_crf_errors(), at most GBS_MAX_CRF_PROBES; 0:
                        GBS_USUAL_CRF_PROBES */
    /** NULL, or called on the calling thread after each iteration. With a sampled gradient the
     *  function is called after each step, with objective NAN. @param point valid during the call.
     *  point->objective and point->gradient mean the same as objective and gradient_norm of
     * gbs_crf_learn_report; point->held_out is NAN. */
    void (*point)(void *context, const gbs_learn_point *point);
    void *point_context; /**< first argument of point */
} gbs_crf_learn_options;

/** The results of learning. Logarithms are natural. */
typedef struct gbs_crf_learn_report {
    size_t size;           /**< sizeof(gbs_crf_learn_report) */
    uint64_t n_labels;     /**< number of different labels in the data */
    uint64_t n_features;   /**< number of features in the model */
    uint64_t n_weights;    /**< number of weights in the model */
    uint64_t n_active;     /**< number of weights that are not 0 */
    uint64_t iterations;   /**< number of iterations */
    uint64_t evaluations;  /**< number of evaluations of the objective and its gradient */
    uint64_t converged;    /**< 1 if learning converged, else 0 */
    double log_likelihood; /**< ln P(labels | data); with PSEUDO, the logarithm of the
                              pseudo-likelihood */
    double objective;      /**< -log_likelihood plus the penalties */
    double gradient_norm;  /**< norm of the gradient of the objective without the l1 penalty */
    double seconds;
    uint64_t n_links; /**< number of linked pairs of tokens: pairs that have weights and are not
                           neighbours */
    uint64_t steps;   /**< number of steps along a sampled gradient */
    double change; /**< length of the change of the weight vector in the last quarter of the steps,
                      divided by the length of the weight vector. If these steps together were
                      shorter than one step of Newton's method, the ratio is scaled up to the length
                      of such a step */
} gbs_crf_learn_report;

/**
 * Learn a model from labelled data. The weights maximise the log-likelihood of the labels minus the
 * penalties. They are found with exact gradients by L-BFGS (Liu & Nocedal 1989) or, if l1 is not 0,
 * by OWL-QN (Andrew & Gao 2007). With links in the templates, the pseudo-likelihood takes the place
 * of the likelihood (Besag 1975). The gradient has the same bits on any machine and any number of
 * threads. The weights have the same bits on any number of threads. They have the same bits on two
 * machines if libLBFGS gives the same bits on both.
 *
 * @param templates a file of feature templates; see gibbsite-formats(5).
 * @param style     syntax of the templates, and format in which the model is written.
 * @param data      sequences with the labels in the last column; the templates may only name the
 *         columns before it.
 * @param callbacks NULL; progress is called with pass = iterations done.
 * @param crf       out, caller frees. With l1, the model lacks the features whose weights are all
 *                  0.
 * @param report    out or NULL.
 * @return GBS_STOPPED if time_s or the callback ended learning, with the weights of the last
 *         iteration; GBS_ERR_STOPPED if learning ended before the first iteration; GBS_ERR_FORMAT
 *         if the templates have a mistake or name the column of labels; GBS_ERR_UNSUPPORTED in a
 *         library built without libLBFGS; GBS_ERR_LIMIT, GBS_ERR_ARGUMENT, GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_learn(const char *templates, gbs_template_style style,
                                              const gbs_sequences *data,
                                              const gbs_crf_learn_options *options,
                                              const gbs_run_callbacks *callbacks, gbs_crf **crf,
                                              gbs_crf_learn_report *report, gbs_error *err);

#define GBS_USUAL_CRF_PROBES 32u      /**< default number of probes of gbs_crf_errors() */
#define GBS_MAX_CRF_PROBES   1000000u /**< largest number of probes */

/**
 * Compute standard errors of the weights of a model without links, at the maximum of the likelihood
 * with penalty l2 [M66, M73]. A standard error tells how far a weight would scatter if the model
 * drew the labels of these tokens again. The errors are the square roots of the diagonal of (H +
 * l2)^-1 H (H + l2)^-1, where H is the information matrix of the labels given the tokens. This
 * diagonal is estimated by probes; each probe uses labels drawn from the model. An estimated error
 * has a relative standard error of 1 / sqrt(2 probes). For an interval use quantiles of Student's
 * distribution with `probes` degrees of freedom.
 *
 * The errors do not include the bias towards 0 that l2 causes. The weights of rare features are
 * determined by l2 alone: they are near 0 with small errors, although the data say little about
 * them. A sum of weights on which no probability depends, such as the sum of a feature's weights
 * over all labels, is 0 in the learnt model and has no error. Errors of other weights are
 * conditional on such sums being 0. A probe costs one gradient and about ten to a hundred
 * matrix-vector products, each of which costs about as much as a gradient.
 *
 * @param crf       a model that was learnt with this l2, or was read from a file of such a model.
 * @param data      the sequences that the model was learnt from; a column of labels is ignored.
 * @param options   options of gbs_crf_learn(). Only l1, l2, time_s, threads, memory_limit, seed and
 *                  probes are used. NULL means the defaults.
 * @param callbacks NULL; progress is called with pass = probes done.
 * @param error     out: [gbs_crf_n_weights(crf)], in the order of gbs_crf_weights().
 * @return GBS_ERR_UNSUPPORTED in four cases: l1 is not 0 (l1 keeps some weights at exactly 0),
 *         tokens are linked, log-weights at one token differ by more than 690, or the linear
 *         equations of a probe are not solved after 2000 products; GBS_ERR_ARGUMENT, GBS_ERR_LIMIT,
 *         GBS_ERR_MEMORY; GBS_ERR_STOPPED by time_s or the callback.
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_errors(const gbs_crf *crf, const gbs_sequences *data,
                                               const gbs_crf_learn_options *options,
                                               const gbs_run_callbacks *callbacks, double *error,
                                               gbs_error *err);

/* ---- evaluation -------------------------------------------------------------------------- */

/** Measures of how well a labelling finds the entities of one class. */
typedef struct gbs_entity_score {
    /** name of the class: the text after "B-" or "I-"; "" for all classes together */
    const char *name;
    uint64_t n_true;    /**< number of entities in the truth */
    uint64_t n_found;   /**< number of entities in the labelling */
    uint64_t n_correct; /**< number of correct entities: the truth has an entity with the same first
                           token, last token and class */
    double precision;   /**< n_correct / n_found, 0 if n_found is 0 */
    double recall;      /**< n_correct / n_true, 0 if n_true is 0 */
    double f1;          /**< 2 precision recall / (precision + recall), 0 if n_correct is 0 */
} gbs_entity_score;

/** Scores of a labelling, compared with the true labels. */
typedef struct gbs_label_scores gbs_label_scores;

/**
 * Count the correct entities of a labelling, as the shared tasks of CoNLL do. An entity is a run of
 * labels of one class other than "O". An entity begins at "B-X", and at "I-X" behind another class
 * or "O" (IOB1 and IOB2). "E-X" (or "L-X") ends an entity, "S-X" (or "U-X") is an entity of one
 * token, and "M-X" is read as "I-X". A label without such a prefix is the name of a class, unless
 * all labels are among B I O, B I E S O or B M E S O. If all labels are among these, entities have
 * no class, as in conlleval, and the only score is the score of all classes together. A true label
 * that the model does not have counts as a wrong label, and its entities count as not found.
 *
 * @param column number of the data's column with the true labels.
 * @param label  [gbs_sequences_n_tokens(data)] ids of labels of the model.
 * @param scores out, caller frees.
 */
GBS_API GBS_MUST_USE gbs_status gbs_label_scores_new(const gbs_crf *crf, const gbs_sequences *data,
                                                     uint32_t column, const uint32_t *label,
                                                     gbs_label_scores **scores, gbs_error *err);
GBS_API void gbs_label_scores_free(gbs_label_scores *scores); /**< NULL is allowed */
/** @return the share of tokens whose label is the true one. */
GBS_API double gbs_label_scores_accuracy(const gbs_label_scores *scores);
/** @return the scores: first of all classes together, then of each class that occurs, sorted by
 *         name. @param n out or NULL: number of scores. */
GBS_API const gbs_entity_score *gbs_label_scores_entities(const gbs_label_scores *scores,
                                                          size_t *n);
/** @return the number of tokens whose true label the model does not have. */
GBS_API uint64_t gbs_label_scores_unseen(const gbs_label_scores *scores);

#ifdef __cplusplus
}
#endif
#endif
