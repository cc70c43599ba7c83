/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences with names of people, places and organisations, made by rules. They have the columns of
 * newspaper data, for experiments on names. A word may be a name of any kind, and some sentences do
 * not show the kind. */
#ifndef LAB_NEWS_H
#define LAB_NEWS_H

#include "gibbsite/crf.h"
#include "lab/lab.h"

/* Templates of features for these sentences, in the format of Wapiti. */
extern const char lab_news_templates[];

/* Additional templates of a skip chain: links between equal words that begin with a capital (Sutton
 * & McCallum 2004), with the words around the two linked words. */
extern const char lab_news_links[];

#define LAB_NEWS_LENGTH 5 /* number of sentences in a document */

/* Makes documents. @param first number of the first document; the number of a document selects its
 * random numbers.
 * @param n number of documents; in each, some names are used several times.
 * @param whole whether a sequence is a whole document; otherwise a sequence is a sentence.
 * @param data out, which the caller frees. */
gbs_status lab_news_make(const laboratory *lab, uint32_t first, uint32_t n, bool whole,
                         gbs_sequences **data, gbs_error *err);

#endif
