/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Conditional random fields for sequences (Lafferty, McCallum & Pereira 2001) [M60]: labels of the
 * tokens of a sequence, such as names in a sentence, from the columns of a text file.
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
 * one object only while no call changes it; data and models that were read never change.
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

/** Sequences of tokens; each token is a line of texts, one in each column. */
typedef struct gbs_sequences gbs_sequences;

/**
 * Read column data: a token a line, columns separated by blanks or tabs, an empty line after each
 * sequence. The texts may have any encoding, but must not contain NUL bytes.
 * @return GBS_ERR_FORMAT if a line has another number of columns than the first one or begins with
 *         a blank, or if there is no token.
 */
GBS_API GBS_MUST_USE gbs_status gbs_sequences_read(const char *path, gbs_sequences **sequences,
                                                   gbs_error *err);
/** Read column data from memory. @param name used in messages in place of the file name. */
GBS_API GBS_MUST_USE gbs_status gbs_sequences_read_memory(const char *name, const void *bytes,
                                                          size_t n_bytes, gbs_sequences **sequences,
                                                          gbs_error *err);
GBS_API void gbs_sequences_free(gbs_sequences *sequences);             /**< NULL is allowed */
GBS_API size_t gbs_sequences_n(const gbs_sequences *sequences);        /**< number of sequences */
GBS_API size_t gbs_sequences_n_tokens(const gbs_sequences *sequences); /**< in all sequences */
GBS_API uint32_t gbs_sequences_n_columns(const gbs_sequences *sequences);
/** @return [gbs_sequences_n() + 1]: sequence s has the tokens first[s] to first[s + 1] - 1. */
GBS_API const size_t *gbs_sequences_first(const gbs_sequences *sequences);
/** @param token among all tokens. @return the text, valid until the sequences are freed. */
GBS_API const char *gbs_sequences_text(const gbs_sequences *sequences, size_t token,
                                       uint32_t column);

/* ---- models ------------------------------------------------------------------------------ */

/** The syntax of templates, and of the model files that belong to them; see gibbsite-formats(5). */
typedef enum gbs_template_style {
    GBS_TEMPLATES_CRFPP = 0,
    GBS_TEMPLATES_WAPITI = 1,
} gbs_template_style;

/** A chain of labels, perhaps with links between tokens far apart (a skip chain: Sutton & McCallum
 * 2004). It has feature templates, the features that they made of training data, and the weights of
 * these features. */
typedef struct gbs_crf gbs_crf;

/**
 * Read a model in the text format of CRF++ (crf_learn -t) or of Wapiti. The first line of the file
 * tells which of the two it is.
 *
 * @param crf out, caller frees.
 * @return GBS_ERR_UNSUPPORTED for binary models of CRF++, for Wapiti models without patterns or
 *         of other types than linear chains ("crf"), and for the indirect rows of its patterns.
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
/** @return [gbs_crf_n_weights(crf)], valid until the model is freed; NULL for NULL. */
GBS_API const double *gbs_crf_weights(const gbs_crf *crf);
/**
 * A feature and where its weights are.
 *
 * @param text   out or NULL: the text, valid until the model is freed.
 * @param single out or NULL: the first of its weights of single labels, in their order; SIZE_MAX:
 *               none.
 * @param pairs  out or NULL: the first of those of pairs, [previous or first label][label];
 *               SIZE_MAX: none.
 * @return GBS_ERR_ARGUMENT for a feature that is not below gbs_crf_n_features(crf).
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_feature(const gbs_crf *crf, size_t feature,
                                                const char **text, size_t *single, size_t *pairs,
                                                gbs_error *err);
/** @return the columns that data for the model must have at least, without that of labels. */
GBS_API uint32_t gbs_crf_n_columns(const gbs_crf *crf);

/* ---- labelling --------------------------------------------------------------------------- */

/** Zero-initialised means the defaults. */
typedef struct gbs_label_options {
    size_t size;           /**< sizeof(gbs_label_options) */
    double time_s;         /**< fail after this many seconds; 0: no limit */
    uint64_t threads;      /**< number of threads, without effect on results; 0: all cores */
    uint64_t memory_limit; /**< bytes, program included; 0: half of the machine's memory */
    /** How labels are sought; NULL: the defaults. Method AUTO and EXACT: by Viterbi's algorithm
     * where there are no links, else as gbs_map(). SAMPLE: by gbs_map(), annealed or by another
     * draw at temperature 1. The fields threads, time_s and memory_limit of these options are
     * ignored. */
    const gbs_run_options *run;
} gbs_label_options;

/** How sequences were labelled. */
typedef struct gbs_label_report {
    size_t size;            /**< in: sizeof(gbs_label_report), set by the caller */
    uint64_t n_links;       /**< pairs of tokens with weights, in addition to neighbours */
    uint64_t n_proved;      /**< sequences whose labels are proved to be the most probable ones */
    uint64_t n_unconverged; /**< sequences whose probabilities come of chains not converged */
    uint64_t updates;       /**< variable updates of chains */
    double seconds;
    uint64_t n_unseen; /**< tokens of which the model knows no feature but of pairs of labels: words
                            that training never saw, say */
} gbs_label_report;

/**
 * Find the most probable labels of each sequence: by Viterbi's algorithm (of labellings equally
 * probable the one whose last label that differs comes first in the model), and probabilities by
 * the forward-backward algorithm. Sequences with links between tokens are factor graphs with
 * circles: gbs_map() finds their labels, and a run their probabilities. The labels found for a
 * sequence depend on the other sequences only through their number.
 *
 * @param data      with the columns that the model's templates name; further ones do not matter.
 * @param callbacks NULL; progress is called with pass = tokens done.
 * @param label     out: [gbs_sequences_n_tokens(data)] ids of labels.
 * @param posterior out or NULL: [gbs_sequences_n_tokens(data)][gbs_crf_n_labels(crf)], the
 *                  probability of each label of each token given the sequence.
 * @param log_p     out or NULL: [gbs_sequences_n(data)], the natural logarithm of the probability
 *                  of the labelling found; NAN if probabilities come of chains.
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
 * The factor graph of a sequence: a variable for each token, in their order, with the labels as its
 * states. Any question can be asked of it.
 *
 * @param sequence below gbs_sequences_n(data).
 * @param model    out, caller frees.
 * @return as gbs_crf_label(); GBS_ERR_ARGUMENT also where a label cannot be the name of a state.
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_model(const gbs_crf *crf, const gbs_sequences *data,
                                              size_t sequence, gbs_model **model, gbs_error *err);

/* ---- learning ---------------------------------------------------------------------------- */

/** Zero-initialised means the defaults. Steps are refused with PSEUDO, unless they are 0 or the
 *  default. */
typedef struct gbs_crf_learn_options {
    size_t size;           /**< sizeof(gbs_crf_learn_options) */
    double l2;             /**< penalty l2/2 sum of w^2; 0 with l1 = 0 means 1 */
    double l1;             /**< penalty l1 sum of |w| */
    double tolerance;      /**< converged once the objective falls by a smaller share of itself in
                                ten iterations; 0: 1e-5 */
    uint64_t iterations;   /**< at most; 0: 1000 */
    uint64_t least_count;  /**< leave out features of fewer tokens; 0: 1 */
    double time_s;         /**< end after this many seconds; 0: no limit */
    uint64_t threads;      /**< number of threads, without effect on results; 0: all cores */
    uint64_t memory_limit; /**< bytes, program included; 0: half of the machine's memory */
    gbs_crf_objective objective;
    uint64_t steps;  /**< steps with a sampled gradient, each with a sweep over all labels; 0: 500
                      */
    uint64_t seed;   /**< seed of the sampled labels and of probes */
    uint64_t probes; /**< gbs_crf_errors(): at most GBS_MAX_CRF_PROBES; 0: GBS_USUAL_CRF_PROBES */
    /** NULL, or called on the calling thread after each iteration, with a sampled gradient then
     *  after each step, whose objective is NAN. @param point valid during the call; its objective
     *  and gradient are those of gbs_crf_learn_report, held_out is NAN. */
    void (*point)(void *context, const gbs_learn_point *point);
    void *point_context; /**< first argument of point */
} gbs_crf_learn_options;

/** The results of learning. Logarithms are natural. */
typedef struct gbs_crf_learn_report {
    size_t size;           /**< sizeof(gbs_crf_learn_report) */
    uint64_t n_labels;     /**< different labels in the data */
    uint64_t n_features;   /**< in the model */
    uint64_t n_weights;    /**< in the model */
    uint64_t n_active;     /**< weights that are not 0 */
    uint64_t iterations;   /**< done */
    uint64_t evaluations;  /**< of the objective and its gradient */
    uint64_t converged;    /**< 1 or 0 */
    double log_likelihood; /**< ln P(labels | data), or the pseudo-likelihood */
    double objective;      /**< -log_likelihood and the penalties */
    double gradient_norm;  /**< norm of the gradient of the objective without the l1 penalty */
    double seconds;
    uint64_t n_links; /**< pairs of tokens with weights, in addition to neighbours */
    uint64_t steps;   /**< along a sampled gradient */
    double change;    /**< change of the weights in the last quarter of the steps, as a share of the
                           weights' length; if the steps together were shorter than one step of
                           Newton's method, scaled to such a step */
} gbs_crf_learn_report;

/**
 * Learn a model from labelled data: the weights that maximise the likelihood of the labels less
 * penalties, by L-BFGS (Liu & Nocedal 1989), with l1 by OWL-QN (Andrew & Gao 2007), on exact
 * gradients. With links in the templates, the pseudo-likelihood takes the place of the likelihood
 * (Besag 1975). The gradient has the same bits on any machine and any number of threads. The
 * weights have the same bits on any number of threads; they have the same bits on two machines if
 * libLBFGS computes alike on both.
 *
 * @param templates a file of feature templates; see gibbsite-formats(5).
 * @param style     of the templates, and of the model when it is written.
 * @param data      with the labels in the last column; the templates name columns before it.
 * @param callbacks NULL; progress is called with pass = iterations done.
 * @param crf       out, caller frees. With l1, the model lacks the features whose weights are all
 *                  0.
 * @param report    out or NULL.
 * @return GBS_STOPPED if it was ended by time_s or the callback, with the weights of the last
 *         iteration, GBS_ERR_STOPPED before the first; GBS_ERR_FORMAT for the templates or if they
 *         name the labels; GBS_ERR_UNSUPPORTED in a library built without libLBFGS; GBS_ERR_LIMIT,
 *         GBS_ERR_ARGUMENT, GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_learn(const char *templates, gbs_template_style style,
                                              const gbs_sequences *data,
                                              const gbs_crf_learn_options *options,
                                              const gbs_run_callbacks *callbacks, gbs_crf **crf,
                                              gbs_crf_learn_report *report, gbs_error *err);

#define GBS_USUAL_CRF_PROBES 32u      /**< of gbs_crf_errors() */
#define GBS_MAX_CRF_PROBES   1000000u /**< most probes */

/**
 * Standard errors of the weights of a chain at the maximum of its likelihood less l2: how far they
 * would scatter if the model drew the labels again for the same tokens [M66, M73]. The roots of the
 * diagonal of (H + l2)^-1 H (H + l2)^-1 with the information H of the labels given the tokens,
 * estimated by probes, each with labels drawn from the model: within a share of 1 / sqrt(2 probes),
 * one standard error. For an interval use quantiles of Student's distribution with `probes` degrees
 * of freedom.
 *
 * They do not include the bias towards 0 that l2 causes. Weights of rare features are held by l2
 * alone: they are near 0 with small errors, but not known well. A sum of weights on which no
 * probability depends, such as the sum of a feature's weights over all labels, is 0 in the learnt
 * model and has no error. The errors of weights are given under this condition. A probe takes one
 * gradient and some ten to a hundred products, each about a gradient.
 *
 * @param crf       learnt with this l2, or read from a file that has it.
 * @param data      the data that the model was learnt from; a column of labels is ignored.
 * @param options   as for gbs_crf_learn(), of which l1, l2, time_s, threads, memory_limit, seed and
 *                  probes matter; NULL means the defaults.
 * @param callbacks NULL; progress is called with pass = probes done.
 * @param error     out: [gbs_crf_n_weights(crf)], in the order of gbs_crf_weights().
 * @return GBS_ERR_UNSUPPORTED with l1, whose weights are held at 0, with links between tokens,
 * where log-weights at one token differ by more than 690, and where equations are not solved after
 *         2000 products; GBS_ERR_ARGUMENT, GBS_ERR_LIMIT, GBS_ERR_MEMORY; GBS_ERR_STOPPED by time_s
 *         or the callback.
 */
GBS_API GBS_MUST_USE gbs_status gbs_crf_errors(const gbs_crf *crf, const gbs_sequences *data,
                                               const gbs_crf_learn_options *options,
                                               const gbs_run_callbacks *callbacks, double *error,
                                               gbs_error *err);

/* ---- evaluation -------------------------------------------------------------------------- */

/** How well the entities of one class were found. */
typedef struct gbs_entity_score {
    const char *name;   /**< of the class: what follows "B-" and "I-"; "" of all classes */
    uint64_t n_true;    /**< entities in the truth */
    uint64_t n_found;   /**< entities in the labelling */
    uint64_t n_correct; /**< entities with the same first and last token and class in both
                             labellings */
    double precision;   /**< n_correct / n_found, 0 if none was found */
    double recall;      /**< n_correct / n_true, 0 if n_true is 0 */
    double f1;          /**< 2 precision recall / (precision + recall), 0 if none is correct */
} gbs_entity_score;

/** A labelling against the truth. */
typedef struct gbs_label_scores gbs_label_scores;

/**
 * Count the entities of a labelling that are right, as the shared tasks of CoNLL do. An entity is a
 * run of labels of one class other than "O". An entity begins at "B-X", and at "I-X" behind another
 * class or "O" (IOB1 and IOB2). "E-X" (or L) ends it, "S-X" (or U) is an entity of one token, and
 * "M-X" is read as "I-X". A label without such a prefix is a class, unless all labels are among B I
 * O, B I E S O or B M E S O. In that case entities have no class, as conlleval counts them, and all
 * classes together give the only score. A true label that the model does not have is wrong, and its
 * entities are not found.
 *
 * @param column number of the column of the data that has the true labels.
 * @param label  [gbs_sequences_n_tokens(data)] ids of labels of the model.
 * @param scores out, caller frees.
 */
GBS_API GBS_MUST_USE gbs_status gbs_label_scores_new(const gbs_crf *crf, const gbs_sequences *data,
                                                     uint32_t column, const uint32_t *label,
                                                     gbs_label_scores **scores, gbs_error *err);
GBS_API void gbs_label_scores_free(gbs_label_scores *scores); /**< NULL is allowed */
/** @return the share of tokens whose label is the true one. */
GBS_API double gbs_label_scores_accuracy(const gbs_label_scores *scores);
/** @return the scores of all classes together, then of each that occurs, by name. @param n out:
 *          their number, or NULL. */
GBS_API const gbs_entity_score *gbs_label_scores_entities(const gbs_label_scores *scores,
                                                          size_t *n);
/** @return the number of tokens whose true label the model does not have. */
GBS_API uint64_t gbs_label_scores_unseen(const gbs_label_scores *scores);

#ifdef __cplusplus
}
#endif
#endif
