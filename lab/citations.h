/* SPDX-License-Identifier: Apache-2.0 */
/* A ground Markov logic network as citation matching has it. */
#ifndef LAB_CITATIONS_H
#define LAB_CITATIONS_H

#include "lab/lab.h"

/* Makes a model that says which citations are of the same paper, and which strings name the same
 * author, title or venue. It covers a number of groups of citations that may match, with about 55
 * atoms a group.
 * @param groups at most 1000.
 */
gbs_status lab_citations_make(const laboratory *lab, uint32_t groups, gbs_model **model,
                              gbs_error *err);

#endif
