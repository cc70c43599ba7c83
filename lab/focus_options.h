/* SPDX-License-Identifier: Apache-2.0 */
/* From the options of a user to a focus variable. */
#ifndef GBSI_LAB_FOCUS_OPTIONS_H
#define GBSI_LAB_FOCUS_OPTIONS_H

#include "lab/focus.h"

typedef struct gbsi_focus_setting {
    gbs_run_options options; /* of the run: scan, burn-in and sweeps settled */
    gbsi_conditioned *model;
    gbsi_focus *focus;
    gbsi_edges extra; /* dummy edges between free variables */
} gbsi_focus_setting;

/* @param focus the user's variable. @param most_states of the free variables. @param setting out,
 * zero before; free in either case. */
gbs_status gbsi_focus_set(const gbs_model *model, const gbs_evidence *evidence,
                          const gbs_run_options *options, uint32_t focus, uint64_t most_states,
                          gbsi_focus_setting *setting, gbs_error *err);
void gbsi_focus_setting_free(gbsi_focus_setting *setting);

#endif
