/* SPDX-License-Identifier: Apache-2.0 */
/* Single variables and splashes on ground Markov logic networks (Gonzalez et al. 2011, figure 5
 * e-h): one generated network with the connectivity of citation matching, or the networks of a
 * folder. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "gibbsite/io.h"
#include "lab/citations.h"
#include "lab/experiment_table.h"
#include "lab/race.h"
#include "text/output.h"

#define N_CHAINS 16

#define GROUPS       232u
#define QUICK_GROUPS 40u
#define N_VARIABLES  10000u /* least number of variables, as in the paper */
#define N_FACTORS    28000u

enum { N_RACERS = 4 };

static const lab_racer racer[N_RACERS] = {
    LAB_RACER_CHROMATIC(8192, 256, 40),
    LAB_RACER_SPLASH(2, GBSI_ORANGE, 64, 32, 4),
    LAB_RACER_SPLASH(5, GBSI_GREEN, 64, 32, 4),
    LAB_RACER_SPLASH(8, GBSI_VERMILLION, 64, 32, 2),
};

/* ---- models --------------------------------------------------------------------------------- */

typedef struct source {
    char title[64];
    gbs_model *model;
    gbs_evidence *evidence; /* evidence of the model; NULL for none */
} source;

static void free_sources(source *sources, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gbs_evidence_free(sources[i].evidence);
        gbs_model_free(sources[i].model);
    }
}

static bool is_model(const char *name)
{
    const size_t n = gbsi_unpacked_length(name);
    return n > 4 &&
           (strncmp(name + n - 4, ".uai", 4) == 0 || strncmp(name + n - 4, ".gbm", 4) == 0);
}

/* Reads a file MODEL.uai.gz, and the evidence MODEL.uai.evid if this file is in the same folder. Or
 * reads a file MODEL.gbm, which the verb ground writes for a program of Markov logic. */
static gbs_status read_source(const char *path, source *w, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const size_t n = gbsi_unpacked_length(path);
    struct stat found;
    char *evidence = gbsi_alloc(n + sizeof ".evid");
    GBSI_PASS(GBSI_HAVE(err, path, evidence));
    memcpy(evidence, path, n);
    memcpy(evidence + n, ".evid", sizeof ".evid");
    (void)snprintf(w->title, sizeof w->title, "%.*s", (int)strcspn(name, "."), name);
    GBSI_TRY(gbs_model_read(path, NULL, &w->model, err));
    if (stat(evidence, &found) == 0) {
        GBSI_TRY(gbs_evidence_new(w->model, &w->evidence, err));
        GBSI_TRY(gbs_evidence_read(w->evidence, evidence, 0, NULL, err));
    }
cleanup:
    gbsi_free(evidence);
    return status;
}

static gbs_status read_folder(const char *folder, source *sources, size_t *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char **name = NULL;
    GBSI_TRY(lab_list_folder(folder, is_model, ".uai or .gbm (.gz, .zst)", &name, n, err));
    if (*n > LAB_MAX_RACES) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: found %zu models, expected at most %d",
                           folder, *n, LAB_MAX_RACES));
    }
    for (size_t i = 0; i < *n; i++) {
        GBSI_TRY(read_source(name[i], &sources[i], err));
    }
cleanup:
    lab_free_names(name, *n);
    *n = *n > LAB_MAX_RACES ? 0 : *n;
    return status;
}

/* ---- the experiment ------------------------------------------------------------------------- */

static void judge(laboratory *lab, size_t n, const lab_race *race)
{
    if (lab->options->data == NULL && !lab->options->quick) {
        const uint32_t n_variables = gbs_model_n_variables(race->model);
        const size_t n_factors = gbs_model_n_factors(race->model);
        lab_find(lab, LAB_JUDGE(race_size, .variables = n_variables, .factors = (double)n_factors),
                 "%s has %u variables and %zu factors (wanted at least %u and %u)", race->title,
                 n_variables, n_factors, N_VARIABLES, N_FACTORS);
    }
    for (size_t i = 0; i < n; i++) {
        lab_race_judge(lab, &race[i]);
    }
    if (lab->options->data == NULL) {
        lab_note(lab, "The network is our own, with clauses like those of citation matching, and "
                      "of the size that the paper gives.");
    }
}

static gbs_status run(laboratory *lab, gbs_error *err)
{
    gbs_status status = GBS_OK;
    source sources[LAB_MAX_RACES] = {{.title = "citations"}};
    lab_race race[LAB_MAX_RACES] = {{.title = NULL}};
    double updates = 0.0;
    size_t n = 0;
    if (lab->options->data != NULL) {
        GBSI_TRY(read_folder(lab->options->data, sources, &n, err));
    } else {
        n = 1;
        GBSI_TRY(lab_citations_make(lab, lab->options->quick ? QUICK_GROUPS : GROUPS,
                                    &sources[0].model, err));
    }
    for (size_t i = 0; i < n; i++) {
        race[i] = (lab_race){.title = sources[i].title,
                             .model = sources[i].model,
                             .evidence = sources[i].evidence,
                             .between = "probability squared",
                             .n_chains = N_CHAINS,
                             .n_racers = N_RACERS,
                             .racer = racer};
        updates += lab_race_updates(lab, &race[i]);
    }
    lab_expect(lab, updates);
    for (size_t i = 0; i < n && status == GBS_OK; i++) {
        status = lab_race_run(lab, &race[i], err);
    }
    LAB_KEEP(lab_races_write(lab, n, race, err));
    LAB_TRY(status);
    LAB_TRY(
        lab_races_draw(lab, n, race,
                       lab->options->data != NULL
                           ? "Updates that single variables and splashes take"
                           : "If clauses tie variables together, splashes need far fewer updates",
                       err));
    judge(lab, n, race);
cleanup:
    free_sources(sources, LAB_MAX_RACES);
    return status;
}

const lab_experiment_row lab_pgs_relational = {
    .about = {.name = "pgs-relational",
              .paper = "Gonzalez et al. (2011), Parallel Gibbs sampling",
              .figure = "Figure 5 e-h",
              .claim = "on a ground Markov logic network of 10000 variables and 28000 factors, "
                       "splashes reach more probable states and chains that agree better than "
                       "equally many updates of single variables",
              .cost = "4 s quick, 2 min in full; --data: a folder of .uai or .gbm models"},
    .takes_data = true,
    .run = run,
};
