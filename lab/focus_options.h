/* SPDX-License-Identifier: Apache-2.0 */
/* From the options of a user to a focus variable. */
#ifndef LAB_FOCUS_OPTIONS_H
#define LAB_FOCUS_OPTIONS_H

#include "lab/focus.h"

typedef struct lab_focus_setting {
    gbs_run_options options; /* of the run: scan, burn-in and sweeps settled */
    gbsi_conditioned *model;
    lab_focus *focus;
    gbsi_edges extra; /* dummy edges between free variables */
} lab_focus_setting;

/* @param focus the user's variable. @param most_states of the free variables. @param setting out,
 * zero before; free in either case. */
gbs_status lab_focus_set(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, uint32_t focus, uint64_t most_states,
                         lab_focus_setting *setting, gbs_error *err);
void lab_focus_setting_free(lab_focus_setting *setting);

#endif
