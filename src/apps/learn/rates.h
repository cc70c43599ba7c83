/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the steps of learning by chains. They decrease as Robbins & Monro (1951, Annals of
 * Mathematical Statistics 22:400-407) require. After a share `done` of the steps the size is first
 * / (1 + c done), where c is chosen so that the last size is `last`. */
#ifndef GBSI_LEARN_RATES_H
#define GBSI_LEARN_RATES_H

#include "base/status.h"

#define GBSI_FIRST_RATE 0.05
/* ratio of the first rate to the last rate, if the caller does not set the last rate */
#define GBSI_FALL 5.0

/* Sets the rates that are not given, and checks the rates that are given. @param name name of the
 * options. */
static inline gbs_status gbsi_settle_rates(const char *name, double *first, double *last,
                                           gbs_error *err)
{
    const double from = *first > 0.0 ? *first : GBSI_FIRST_RATE;
    if (!(*first >= 0.0 && *first <= 1e3) || !(*last >= 0.0 && *last <= from)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: found rate %g and rate_last %g, expected 0 to 1000 and 0 to rate",
                         name, *first, *last);
    }
    *first = from;
    *last = *last > 0.0 ? *last : from / GBSI_FALL;
    return GBS_OK;
}

/* @return the size of a step. @param done share of the steps that are complete, 0 to 1. */
static inline double gbsi_rate(double first, double last, double done)
{
    return first / (1.0 + (first / last - 1.0) * done);
}

#endif
