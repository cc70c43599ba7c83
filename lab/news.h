/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences with names of people, places and organisations, made by rules: column data as those of
 * newspapers are, for experiments on names. One word may be a name of any kind, and some sentences
 * do not tell which kind. */
#ifndef LAB_NEWS_H
#define LAB_NEWS_H

#include "gibbsite/crf.h"
#include "lab/lab.h"

/* Templates of features for them, as a file of Wapiti has them. */
extern const char lab_news_templates[];

/* The additional templates of a skip chain: links of equal words that begin with a capital (Sutton
 * & McCallum 2004), with the words about both. */
extern const char lab_news_links[];

#define LAB_NEWS_LENGTH 5 /* sentences of a document */

/* @param first number of the first document; the number also selects the random numbers of a
 * document.
 * @param n     documents; in each, some names come back.
 * @param whole a sequence is a document, else a sentence of one.
 * @param data  out, caller frees. */
gbs_status lab_news_make(const laboratory *lab, uint32_t first, uint32_t n, bool whole,
                         gbs_sequences **data, gbs_error *err);

#endif
