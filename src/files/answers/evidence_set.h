/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a gbsi_evidence_set, and the readers that fill it. */
#ifndef GBSI_ANSWERS_EVIDENCE_SET_H
#define GBSI_ANSWERS_EVIDENCE_SET_H

#include "answers/answers.h"
#include "text/text.h"

typedef struct gbsi_observation {
    uint32_t variable;
    uint32_t state;
    const char *place; /* place in the text; NULL: the file is a picture */
} gbsi_observation;

struct gbsi_evidence_set {
    const gbs_model *model; /* borrowed */
    char *name;             /* of the file, for messages */
    gbsi_input input;       /* kept: places are counted when a message needs them */
    gbsi_text text;
    void *start; /* size_t [n_samples]: the first observation of each */
    size_t start_capacity;
    size_t n_samples;
    void *observation; /* gbsi_observation [n_observations] */
    size_t observation_capacity;
    size_t n_observations;
    bool is_typed; /* the text was typed: it is one sample, however many lines it has */
};

/* Begin a sample, and add to the last sample that was begun. States are checked by the readers. */
gbs_status gbsi_evidence_set_begin(gbsi_evidence_set *set, gbs_error *err);
gbs_status gbsi_evidence_set_add(gbsi_evidence_set *set, gbsi_observation observation,
                                 gbs_error *err);

/* Read set->text: both generations of UAI evidence; the data of libDAI; observations in XMLBIF. */
gbs_status gbsi_evidence_read_uai(gbsi_evidence_set *set, gbs_error *err);
gbs_status gbsi_evidence_read_tab(gbsi_evidence_set *set, gbs_error *err);
gbs_status gbsi_evidence_read_xml(gbsi_evidence_set *set, gbs_error *err);
/* Reads set->input: one sample, a pixel per variable. */
gbs_status gbsi_evidence_read_image(gbsi_evidence_set *set, const gbs_read_options *options,
                                    gbs_error *err);

/* ---- evidence_text.c: lines of NAME=STATE, as a person types them; '#' begins a comment line ----
 */

/* Whether the text is typed evidence: no other form of evidence has a '='. */
bool gbsi_evidence_is_typed(const gbsi_text *text);
/* Adds lines of typed evidence. If one line fails, lines before it may have been added. */
gbs_status gbsi_evidence_add_lines(gbs_evidence *evidence, const gbsi_text *text, gbs_error *err);

#endif
