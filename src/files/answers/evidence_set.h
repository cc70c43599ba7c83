/* SPDX-License-Identifier: Apache-2.0 */
/* The members of gbsi_evidence_set, and the readers that fill a set. */
#ifndef GBSI_ANSWERS_EVIDENCE_SET_H
#define GBSI_ANSWERS_EVIDENCE_SET_H

#include "answers/answers.h"
#include "text/text.h"

typedef struct gbsi_observation {
    uint32_t variable;
    uint32_t state;
    const char *place; /* place in the text; NULL if the file is a picture */
} gbsi_observation;

struct gbsi_evidence_set {
    const gbs_model *model; /* borrowed */
    char *name;             /* name of the file, for messages */
    /* text of the file or picture; kept, because lines and columns are counted only when a message
     * needs them */
    gbsi_input input;
    gbsi_text text;
    void *start; /* size_t [n_samples]: index of the first observation of each sample */
    size_t start_capacity;
    size_t n_samples;
    void *observation; /* gbsi_observation [n_observations] */
    size_t observation_capacity;
    size_t n_observations;
    bool is_typed; /* the text was typed: all its lines form one sample */
};

/* gbsi_evidence_set_begin() begins a sample. gbsi_evidence_set_add() adds an observation to the
 * sample that was begun last. Readers check the states. */
gbs_status gbsi_evidence_set_begin(gbsi_evidence_set *set, gbs_error *err);
gbs_status gbsi_evidence_set_add(gbsi_evidence_set *set, gbsi_observation observation,
                                 gbs_error *err);

/* Readers of set->text: for UAI evidence of either generation, for data of libDAI, and for
 * observations in XMLBIF. */
gbs_status gbsi_evidence_read_uai(gbsi_evidence_set *set, gbs_error *err);
gbs_status gbsi_evidence_read_tab(gbsi_evidence_set *set, gbs_error *err);
gbs_status gbsi_evidence_read_xml(gbsi_evidence_set *set, gbs_error *err);
/* Reads set->input as one sample, with one pixel for each variable. */
gbs_status gbsi_evidence_read_image(gbsi_evidence_set *set, const gbs_read_options *options,
                                    gbs_error *err);

/* ---- evidence_text.c: lines of NAME=STATE, as a person types them ----------------------- */

/* Whether a text that is not XML is typed evidence: only typed evidence contains '='. A text with
 * ':' is taken for typed evidence too, so that the message shows how evidence is typed. */
bool gbsi_evidence_is_typed(const gbsi_text *text);
/* Adds lines of typed evidence. A line that begins with '#' is a comment. A '#' behind a blank also
 * begins a comment, unless a digit follows the '#'. If the function fails at a line, the lines
 * before this line have been added. */
gbs_status gbsi_evidence_add_lines(gbs_evidence *evidence, const gbsi_text *text, gbs_error *err);

#endif
