/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a run, between two passes: docs/checkpoint.md. */
#ifndef GBSI_CHECKPOINT_CHECKPOINT_H
#define GBSI_CHECKPOINT_CHECKPOINT_H

#include <stdbool.h>

#include "chains/report.h"
#include "chains/runner.h"
#include "checkpoint/draw_log.h"
#include "choose/problem.h"
#include "gibbsite/checkpoint.h"
#include "text/kept_file.h"

struct gbsi_sampling;
struct gbsi_task;

struct gbsi_drive;

/* The phase of the chains of a run. */
typedef enum gbsi_phase {
    GBSI_PHASE_BURN_IN,
    GBSI_PHASE_SAMPLING,
    GBSI_PHASE_STUCK,    /* the chains disagree, and the run goes on with ladders */
    GBSI_PHASE_CLIMBING, /* ladders run in place of chains */
} gbsi_phase;

/* Inputs of a run that are neither its model nor its options. */
typedef enum gbsi_input {
    GBSI_INPUT_EVIDENCE,
    GBSI_INPUT_START,
    GBSI_INPUT_SCAN,
    GBSI_INPUT_EDGES,
    GBSI_INPUT_TARGET,
    GBSI_INPUT_DRAWS,
    GBSI_INPUT_MONITOR,
    GBSI_INPUT_QUERY,
    GBSI_INPUT_OBSERVABLES,
    GBSI_N_INPUTS
} gbsi_input;

/* A part of the checkpoint that only one kind of task has. */
typedef struct gbsi_more {
    const char *name; /* name of the part; NULL if there is none */
    void *object;
    gbs_status (*save)(const void *object, const gbsi_sink *sink, gbs_error *err);
    gbs_status (*load)(void *object, const gbsi_source *source, gbs_error *err);
} gbsi_more;

/* stays_saved.c: save and load how long variables stayed in one state. */
gbs_status gbsi_stays_save(const struct gbsi_sampling *sampling, const gbsi_sink *sink,
                           gbs_error *err);
gbs_status gbsi_stays_load(struct gbsi_sampling *sampling, const gbsi_source *source,
                           gbs_error *err);

typedef struct gbsi_checkpoints {
    gbs_run_options asked; /* the options as the user gave them */
    char input[GBSI_N_INPUTS]
              [33];      /* digest of each input; "" for an input that the run does not have */
    char *path;          /* path of the checkpoints; NULL if no checkpoints are written */
    gbsi_kept_lock lock; /* lock of `path`, held until the run has been executed */
    double last_s; /* time at which a checkpoint was last written, or at which writing failed */
    bool told;     /* whether the user has been told that a checkpoint could not be
                      written */
    bool begun; /* whether the states of the chains depend on counts only, and not on the clock */
    gbsi_kept
        *from; /* the checkpoint to resume from, whose parts are read next; NULL if there is none */
    char *text;           /* text of the checkpoint from which the run resumes */
    gbsi_draw_log *draws; /* log of the draws; NULL if draws are not logged */
    gbsi_more more;
    double
        best; /* for a search, the log density of its best state; for ln Z, the present estimate */
    double log_exact;    /* for ladders: ln Z of the exact components */
    uint64_t stop_after; /* for tests: the pass after which the run stops; 0 if no test sets it */
    double before_s; /* seconds that the run had taken when the checkpoint in `from` was written */
} gbsi_checkpoints;

void gbsi_checkpoints_free(gbsi_checkpoints *checkpoints);
/* Notes the inputs of a run for its checkpoints, while the options and their arrays still exist. */
gbs_status gbsi_run_note_inputs(gbsi_problem *problem, gbsi_checkpoints *checkpoints,
                                const gbs_evidence *evidence, const gbs_run_options *options,
                                gbs_error *err);
/* Notes the variables of draws or of traces for the checkpoints of a run. */
gbs_status gbsi_run_note_variables(gbsi_checkpoints *checkpoints, gbsi_input input,
                                   const uint32_t *variable, size_t n, gbs_error *err);

/* For a task that is one call: resumes from a checkpoint and writes checkpoints, as
 * gbs_run_resume() and gbs_run_checkpoint() do. */
gbs_status gbsi_run_take_files(gbs_run *run, const gbs_checkpoint_files *files, gbs_error *err);

/* The parts that plain chains save, and the parts that ladders save together with the plain chains
 * that ran before. */
extern const gbsi_part *const gbsi_chains_parts[];
extern const gbsi_part *const gbsi_ladders_parts[];
/* Loads the parts of the checkpoint into a run that is in the state that the text of the checkpoint
 * describes. */
gbs_status gbsi_run_load_parts(const struct gbsi_task *task, struct gbsi_sampling *sampling,
                               const gbsi_checkpoints *checkpoints, const gbsi_source *source,
                               gbs_error *err);

/* take_up.c: resumes a run. Loads the decisions and the chains of the checkpoint, in place of the
 * work before the first pass. */
gbs_status gbsi_run_take_up(gbs_run *run, struct gbsi_drive *drive, gbs_error *err);

/* Logs the draw of one chain if checkpoints are written, and passes the draw to callbacks.draw,
 * which must be set. */
gbs_status gbsi_run_give_draw(gbsi_checkpoints *checkpoints, gbsi_report *report,
                              const struct gbsi_drive *drive, uint64_t draw, uint32_t chain,
                              double log_density, const uint32_t *state, gbs_error *err);

typedef enum gbsi_moment { GBSI_BEFORE_PASSES, GBSI_AFTER_PASS, GBSI_AFTER_PASSES } gbsi_moment;
/* Writes a checkpoint if one is due at this moment. */
gbs_status gbsi_run_keep(gbs_run *run, const struct gbsi_drive *drive, gbsi_moment moment,
                         gbs_error *err);

#endif
