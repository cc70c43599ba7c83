/* SPDX-License-Identifier: Apache-2.0 */
/* Ground Markov logic networks like those of citation matching. */
#ifndef LAB_CITATIONS_H
#define LAB_CITATIONS_H

#include "lab/lab.h"

/* Makes a model that tells which citations are of the same paper, and which strings name the same
 * author, title or venue. The model has about 55 atoms for each group of citations that may match.
 * @param groups at most 1000. */
gbs_status lab_citations_make(const laboratory *lab, uint32_t groups, gbs_model **model,
                              gbs_error *err);

#endif
