/* SPDX-License-Identifier: Apache-2.0 */
/* The options by need. A new option gets its name into one of the lists below: a test says so. */
#include <stdio.h>
#include <string.h>

#include "topics.h"

/* The order of the lists is the order of the help and of the manual pages. */
static const struct {
    const char *word, *title, *options;
} topics[CLI_N_TOPICS] = {
    [CLI_TOPIC_QUESTION] =
        {NULL, "What to answer",
         "evidence likelihood query top reach joint cases prior weights held-out query-predicates "
         "similarity "
         "template-style l2 "
         "l1 least-count identity task "
         "monitor target focus "
         "asymptotic list data grid torus variables states parents degree edges "
         "visible hidden levels labels noise coupling coupling-spread field random-field "
         "smoothing neighbours truth "
         "scan match steps log-base model"},
    [CLI_TOPIC_ACCURACY] = {NULL, "How exactly",
                            "method probability time target-error iterations "
                            "tolerance accuracy sweeps samples chains "
                            "iterate influence quick check level seed threads memory-limit"},
    [CLI_TOPIC_RESULT] = {NULL, "Where the answer goes",
                          "output posterior format plot picture mean uncertainty map overlay json "
                          "draws report intervals "
                          "curve"},
    [CLI_TOPIC_SCAN] =
        {"scan", "Chains and the order of their updates",
         "method chains estimate scan temper burn-in thin monitor start max-updates "
         "budget least-chains certified "
         "origin target partial-scan restarts width splash-size splashes grow adapt "
         "score locking lattice estimator schedule tau0 block-time damping "
         "mean-field-schedule objective patch texture-words color-words position-cells "
         "iterations epochs batch patience probes sweeps accuracy steps rate seed"},
    [CLI_TOPIC_DRAW] = {"draw", "How a value is drawn from its conditional distribution",
                        "draw keys herd-rule herd-init bins bin-edge bin-rule threshold "
                        "dummy-edges cud-scheme cud-bits cud-offset"},
    [CLI_TOPIC_INPUT] =
        {"input", "Files, their formats, and messages",
         "from virtual-evidence evidence-format evidence-index convention diagonal "
         "weight-scale colors unroll lenient normalize-cpts float-format write-convention "
         "log-base uai-mpe state format write-model memory-limit checkpoint checkpoint-every "
         "resume summary require-converged progress "
         "quiet verbose help"},
};

/* Options in two lists: which verbs show them in which. */
static const struct {
    const char *option;
    cli_topic topic;
    unsigned verbs;
} shared[] = {
    {"target", CLI_TOPIC_QUESTION, CLI_INFLUENCES | CLI_VERB_SEGMENT},
    {"target", CLI_TOPIC_SCAN, CLI_RUNS},
    {"scan", CLI_TOPIC_QUESTION, CLI_VERB_CERTIFY},
    {"scan", CLI_TOPIC_SCAN, CLI_ALL & ~CLI_VERB_CERTIFY},
    {"iterations", CLI_TOPIC_ACCURACY, CLI_VERB_FIT | CLI_VERB_LEARN},
    {"iterations", CLI_TOPIC_SCAN, CLI_ALL & ~(CLI_VERB_FIT | CLI_VERB_LEARN)},
    {"accuracy", CLI_TOPIC_ACCURACY, CLI_ALL & ~CLI_VERB_LEARN},
    {"accuracy", CLI_TOPIC_SCAN, CLI_VERB_LEARN},
    {"sweeps", CLI_TOPIC_ACCURACY, CLI_ALL & ~(CLI_VERB_FIT | CLI_VERB_LEARN)},
    {"sweeps", CLI_TOPIC_SCAN, CLI_VERB_FIT | CLI_VERB_LEARN},
    {"seed", CLI_TOPIC_ACCURACY, CLI_ALL & ~(CLI_VERB_FIT | CLI_VERB_LEARN)},
    {"seed", CLI_TOPIC_SCAN, CLI_VERB_FIT | CLI_VERB_LEARN},
    {"steps", CLI_TOPIC_QUESTION, CLI_ALL & ~CLI_VERB_LEARN},
    {"steps", CLI_TOPIC_SCAN, CLI_VERB_LEARN},
    {"monitor", CLI_TOPIC_QUESTION, CLI_VERB_SAMPLE | CLI_VERB_EXACT},
    {"monitor", CLI_TOPIC_SCAN, CLI_VERB_MARGINALS},
    {"method", CLI_TOPIC_ACCURACY, CLI_ALL & ~CLI_PICTURES},
    {"method", CLI_TOPIC_SCAN, CLI_PICTURES},
    {"chains", CLI_TOPIC_ACCURACY, CLI_ALL & ~(CLI_PICTURES | CLI_VERB_LEARN)},
    {"chains", CLI_TOPIC_SCAN, CLI_PICTURES | CLI_VERB_LEARN},
    {"format", CLI_TOPIC_RESULT, CLI_ALL & ~CLI_PICTURES},
    {"format", CLI_TOPIC_INPUT, CLI_PICTURES},
    {"memory-limit", CLI_TOPIC_ACCURACY, CLI_ALL & ~CLI_PICTURES},
    {"memory-limit", CLI_TOPIC_INPUT, CLI_PICTURES},
    {"log-base", CLI_TOPIC_QUESTION, CLI_VERB_COMPARE},
    {"log-base", CLI_TOPIC_INPUT, CLI_ALL & ~CLI_VERB_COMPARE},
};

/* clang-format off */
static const cli_brief briefs[] = {
    {"coupling", "J", "what equal neighbours gain", CLI_VERB_SEGMENT},
    {"neighbours", "4|8", "of a patch", CLI_VERB_SEGMENT},
    {"target", "RxC", "only a rectangle of R x C patches", CLI_VERB_SEGMENT},
    {"truth", "IMAGE", "a label map: count the patches that are right", CLI_VERB_SEGMENT},
    {"output", "FILE", "the label map, as a picture", CLI_VERB_SEGMENT},
    {"evidence", "NAME=STATE", "observed: 'smoke=yes', 'age=young|adult'; or a file", 0},
    {"likelihood", "...", "soft evidence: 'fever=yes:0.8|no:0.2'", 0},
    {"query", "NAME=STATE", "whose probability it is", CLI_VERB_SENSITIVITY},
    {"query", "LIST", "variables to answer; unset: all", 0},
    {"reach", "P", "which value of each would make the probability P", 0},
    {"top", "N", "show the N parameters that matter most", CLI_VERB_SENSITIVITY},
    {"joint", "LIST", "a table of their joint states", 0},
    {"cases", "FILE", "a CSV table: each row is a case with an answer", 0},
    {"prior", "NAME:X", "unset: none; bdeu:ESS, dirichlet:ALPHA", 0},
    {"weights", "COLUMN", "how many rows each row stands for", 0},
    {"held-out", "FILE|SHARE", "rows to judge the result by: others, or 20%", 0},
    {"intervals", "FILE", "every weight with its standard error, as CSV", CLI_VERB_LEARN},
    {"intervals", "FILE", "every probability with an interval, as CSV", 0},
    {"iterations", "N", "most iterations of EM", CLI_VERB_FIT},
    {"tolerance", "X", "largest change at which EM has converged", CLI_VERB_FIT},
    {"monitor", "LIST", "variables to write; unset: all", CLI_VERB_SAMPLE | CLI_VERB_EXACT},
    {"task", "mar|pr|map|sample", "marginals, ln Z, best state, samples", 0},
    {"target", "LIST", "variables whose distribution is bounded", 0},
    {"method", "NAME", "pl, asymmetric, pcd (potts); pcd, cd", CLI_VERB_LEARN},
    {"hidden", "N", "hidden units of rbm", CLI_VERB_LEARN},
    {"curve", "FILE", "how it went, epoch by epoch, as CSV", 0},
    {"method", "NAME", "auto: independent draws if fast enough; sample", CLI_VERB_SAMPLE},
    {"method", "NAME", "auto: exact if fast enough; exact; sample", 0},
    {"probability", "", "estimate P(state) where it is not known", 0},
    {"identity", "SHARE", "rows as similar as that count as one", 0},
    {"rate", "FIRST[:LAST]", "sizes of the first and the last step", 0},
    {"time", "TIME", "give up after 20s, 5m or 2h", CLI_VERB_LABEL},
    {"time", "TIME", "stop after 20s, 5m or 2h with what is there", 0},
    {"target-error", "X", "stop when every standard error is this small", 0},
    {"scan", "NAME|FILE", "the order of updates; unset: three usual ones", 0},
    {"steps", "N", "steps of the chains' learning", CLI_VERB_LEARN},
    {"steps", "T,...", "numbers of updates", 0},
    {"influence", "NAME", "auto; exact: by enumeration; bound: upper bounds", 0},
    {"accuracy", "EPS", "total variation distance to reach", 0},
    {"sweeps", "N", "stop after so many sweeps: 5000, 10k, 1e6", 0},
    {"chains", "N", "number of independent chains", 0},
    {"seed", "N", "what all random numbers follow from", 0},
    {"threads", "N", "unset: one per processor; the answer is the same", 0},
    {"memory-limit", "SIZE", "most memory to use: 512M, 4G", 0},
    {"output", "FILE", "file for the labelled data", CLI_VERB_LABEL},
    {"output", "FILE", "file for the model", CLI_VERB_LEARN},
    {"format", "NAME", "format of the model: gbm, uai, fg, ...", CLI_VERB_LEARN},
    {"output", "FILE", "file for the result; its extension is its format", 0},
    {"plot", "FILE.svg", "a tornado chart of the 20 that swing it most", CLI_VERB_SENSITIVITY},
    {"top", "N", "show the N quantities with the largest R-hat", CLI_VERB_DIAGNOSE},
    {"plot", "FILE.svg", "draws and ranks of the largest R-hat", CLI_VERB_DIAGNOSE},
    {"picture", "RxC", "a picture of R rows and C columns of variables", 0},
    {"query-predicates", "LIST", "open ones; unset: those without a fact", 0},
    {"similarity", "LIST", "predicates computed from the words of names", 0},
    {"template-style", "NAME", "crf++ or wapiti; unset: crf++", 0},
    {"l2", "X", "penalty X/2 sum of w^2", 0},
    {"l1", "X", "penalty X sum of |w|, which makes weights 0", 0},
    {"least-count", "N", "leave out features of fewer tokens", 0},
    {"iterations", "N", "largest number of iterations", CLI_VERB_LEARN},
    {"tolerance", "X", "a smaller change ends it", CLI_VERB_LEARN},
    {"truth", "COLUMN", "of the right labels: a number from 0, or last", CLI_VERB_LABEL},
    {"posterior", "best|all", "add probabilities of labels", 0},
    {"report", "FILE.html", "a page with charts, for a browser", 0},
    {"levels", "K", "levels of grey, or number of labels", 0},
    {"labels", "", "values of pixels are labels, 0 to K-1", 0},
    {"neighbours", "4|8", "of a pixel; diagonal ones count J/sqrt 2", 0},
    {"noise", "KIND:X", "flip:P or gauss:S; unset: estimated", CLI_VERB_DENOISE},
    {"coupling", "J", "what differing neighbours cost; unset: estimated", CLI_VERB_DENOISE},
    {"overlay", "FILE", "the picture in the colours of its classes", 0},
    {"smoothing", "KIND", "potts, or quadratic:T: squares of at most T", 0},
    {"estimate", "LIST", "noise,coupling: begin at the values given", 0},
    {"truth", "IMAGE", "print the errors beside this picture", 0},
    {"mean", "FILE", "the mean level of each pixel, as a picture", 0},
    {"uncertainty", "FILE", "how likely each pixel is wrong, as a picture", 0},
    {"map", "FILE", "the most probable picture as a whole", 0},
    {"write-model", "FILE", "the model, for other verbs", 0},
};
/* clang-format on */

const char *cli_topic_word(cli_topic topic)
{
    return topics[topic].word;
}

const char *cli_topic_title(cli_topic topic, unsigned verb)
{
    return topic == CLI_TOPIC_QUESTION && (verb & CLI_GENERATES) != 0 ? "The model"
                                                                      : topics[topic].title;
}

const cli_brief *cli_option_brief(const cli_option *option, unsigned verb)
{
    for (size_t i = 0; i < sizeof briefs / sizeof briefs[0]; i++) {
        if (strcmp(briefs[i].option, option->name) == 0 &&
            (briefs[i].verbs == 0 || (briefs[i].verbs & verb) != 0)) {
            return &briefs[i];
        }
    }
    return NULL;
}

static int shows(cli_topic topic, const char *name, unsigned verb)
{
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        if (shared[i].topic == topic && strcmp(shared[i].option, name) == 0) {
            return (shared[i].verbs & verb) != 0;
        }
    }
    return 1;
}

const cli_option *cli_topic_next(cli_topic topic, unsigned verb, size_t *at)
{
    const char *list = topics[topic].options;
    while (*at < strlen(list)) {
        char name[64];
        const int length = (int)strcspn(list + *at, " ");
        (void)snprintf(name, sizeof name, "%.*s", length, list + *at);
        *at += (size_t)length + (list[*at + (size_t)length] != '\0');
        const cli_option *option = shows(topic, name, verb) ? cli_find_option(name, verb) : NULL;
        if (option != NULL) {
            return option;
        }
    }
    return NULL;
}
