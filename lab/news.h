/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences with names of people, places and organisations, made by rules: column data as those of
 * newspapers are, for experiments on names. The same word may be a name of any kind, and some
 * sentences do not tell which. */
#ifndef LAB_NEWS_H
#define LAB_NEWS_H

#include "gibbsite/crf.h"
#include "lab/lab.h"

/* Templates of features for them, as a file of Wapiti has them. */
extern const char lab_news_templates[];

/* @param first number of the first sentence: each has random numbers of its own.
 * @param data out, caller frees. */
gbs_status lab_news_make(const laboratory *lab, uint32_t first, uint32_t n, gbs_sequences **data,
                         gbs_error *err);

#endif
