/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts as functions of figures, which verdicts.def lists. An experiment measures the figures
 * and describes them in words. Only these functions decide whether the figures agree with the
 * claim, so that a test can show that every verdict is able to say no. */
#ifndef LAB_VERDICTS_H
#define LAB_VERDICTS_H

#include <stdbool.h>

/* The type is a struct rather than a bool, so that a finding cannot be reported without a row of
 * verdicts.def. */
typedef struct lab_ruling {
    bool holds;
} lab_ruling;

#define LAB_FIGURES(...) __VA_ARGS__
#define LAB_VERDICT(name, figures, wanted) \
    typedef struct lab_##name##_figures {  \
        double figures;                    \
    } lab_##name##_figures;                \
    lab_ruling lab_judge_##name(lab_##name##_figures x);
#include "lab/verdicts.def"
#undef LAB_VERDICT

/* Result of a row of verdicts.def for some figures, as in LAB_JUDGE(race_order, .least_lead = 0.3).
 */
#define LAB_JUDGE(name, ...) lab_judge_##name((lab_##name##_figures){__VA_ARGS__})

#endif
